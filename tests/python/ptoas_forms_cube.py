# SPDX-License-Identifier: MIT
"""Forms of the cube core, of pipes, and of a5, as in ptoas_forms."""
import numpy as np

from ptoas_forms import BOXED, TB, TI, block, form, tile

MAT = tile("f16", loc="mat", **BOXED)
MAT_RIGHT = tile("f16", 32, 16, "mat", **BOXED)
RIGHT = tile("f16", 32, 16, "right", slayout="col_major")
ACC = tile("f32", 16, 16, "acc", **BOXED, fractal=1024)
SCALE = 0x3F000000 | 1 << 46    # 0.5, signed result
RELU = "reluPreMode = #pto<relu_pre_mode normal_relu>"


def left(arch, **keys):
    return tile("f16", loc="left", blayout="col_major" if arch == "a5" else "row_major", slayout="row_major", **keys)


def product_of(x, rows=16, at=0, pitch=32, cols=16):
    a = x["h"][at:at + rows * pitch].reshape(rows, pitch)[:, :32].astype(np.float32)
    return a @ x["h"][512:512 + 32 * cols].reshape(32, cols).astype(np.float32)


def operands(f, arch, rows, cols):
    keys = {} if rows == 16 else {"valid": f"{rows}x32"}
    a, b = f.alloc(left(arch, **keys)), f.alloc(RIGHT.replace("32x16", f"32x{cols}"))
    f.op("tmov", [f.load(tile("f16", loc="mat", **keys, **BOXED), "h", rows=rows)], [a])
    f.op("tmov", [f.load(MAT_RIGHT.replace("32x16", f"32x{cols}"), "h", 512, 32, cols)], [b])
    return a, b


def product(f, arch="a3", op="tmatmul", rows=16, attrs="", cols=16):
    """Acc tile of the first `rows` rows of h, 32 long, times a matrix of `cols` columns."""
    a, b = operands(f, arch, rows, cols)
    keys = {} if rows == 16 else {"valid": f"{rows}x16"}
    c = f.alloc(tile("f32", 16, cols, "acc", **keys, **BOXED, fractal=1024))
    if op.endswith(".acc"):
        f.op(op[:-4], [a, b], [c])
        f.op(op, [c, a, b], [c], attrs)
    elif op.endswith(".bias"):
        bias = f.alloc(tile("f32", 1, 16, "bias"))
        f.op("tmov", [f.load(tile("f32", 1, 16, "mat"), rows=1, cols=16)], [bias])
        f.op(op, [a, b, bias], [c], attrs)
    else:
        f.op(op, [a, b], [c], attrs)
    return c


def quantised(v, relu=False):
    q = np.clip(np.rint(v * np.float32(0.5)), -128, 127)
    return np.maximum(q, 0) if relu else q


def parameters(f, n=16):
    """Scaling tile of n words, each SCALE, made of the i32 input from 3072 on."""
    words = f.as_type(f.load(tile("i32", 1, 2 * n, "mat"), "i", 3072, 1, 2 * n), tile("ui64", 1, n, "mat"))
    fp = f.alloc(tile("ui64", 1, n, "scaling"))
    f.op("tmov", [words], [fp])
    return fp


for _op, _rows in (("tmatmul", 16), ("tgemv", 1)):
    _f = form("f_" + _op, lambda x, n=_rows: {"o": product_of(x, n)})
    _f.store(product(_f, op=_op, rows=_rows, attrs="{accPhase = #pto<acc_phase final>}"), rows=_rows, cols=16)
    _f = form(f"f_{_op}_acc", lambda x, n=_rows: {"o": 2 * product_of(x, n)})
    _f.store(product(_f, op=_op + ".acc", rows=_rows), rows=_rows, cols=16)
    _f = form(f"f_{_op}_bias", lambda x, n=_rows: {"o": product_of(x, n) + x["a"][:16]})
    _f.store(product(_f, op=_op + ".bias", rows=_rows), rows=_rows, cols=16)

_f = form("f_textract", lambda x: {"o": product_of(x, 16, 16 * 64 + 32, 64)})
_m, _l, _r, _c = _f.load(tile("f16", 32, 64, "mat", **BOXED), "h", 0, 32, 64), _f.alloc(left("a3")), _f.alloc(RIGHT), \
    _f.alloc(ACC)
_f.op("textract", [_m, (_f.c(16), "index"), (_f.c(32), "index")], [_l])
_f.op("tmov", [_f.load(MAT_RIGHT, "h", 512, 32, 16)], [_r])
_f.op("tmatmul", [_l, _r], [_c])
_f.store(_c, cols=16)

# ---- Out of the accumulator -------------------------------------------------------------------------------------

_f = form("f_tstore_half_relu", lambda x: {"oh": np.maximum(product_of(x), 0)})
_f.store(product(_f), "oh", cols=16, attrs=f"{{{RELU}}}")
_f = form("f_tstore_atomic", lambda x: {"o": 2 * product_of(x)})
_c = product(_f)
_f.store(_c, cols=16, attrs="{stPhase = #pto<st_phase final>, atomicType = #pto<atomic_type atomic_add>}")
_f.store(_c, cols=16, attrs="{atomicType = #pto<atomic_type atomic_add>}")
_f = form("f_tstore_phase", lambda x: {"o": product_of(x)})
_f.store(product(_f), cols=16, attrs="{stPhase = #pto<st_phase partial>}")
_f = form("f_tstore_quantised", lambda x: {"ob": quantised(product_of(x))})
_f.store(product(_f), "ob", cols=16, more=[(_f.c(SCALE, "i64"), "i64")])
_f = form("f_tstore_quantised_relu", lambda x: {"ob": quantised(product_of(x), True)})
_f.store(product(_f), "ob", cols=16, more=[(_f.c(SCALE, "i64"), "i64")],
         attrs="{stPhase = #pto<st_phase final>, atomicType = #pto<atomic_type atomic_none>, " + RELU + "}")
for _op, _attrs in (("tstore_fp", ""), ("tstore.fp", f"{{{RELU}}}")):
    _f = form("f_tstore_fp" + ("_relu" if _attrs else ""), lambda x, r=bool(_attrs): {"ob": quantised(product_of(x), r)})
    _f.op(_op, [product(_f), parameters(_f)], [_f.view("ob", 16, 16)], _attrs)

OUT_HALF = tile("f16", 16, 16, "mat", **BOXED)
OUT_BYTES = tile("i8", 16, 32, "mat", **BOXED)
_f = form("f_tmov_to_mat_relu", lambda x: {"oh": np.maximum(product_of(x), 0)})
_d = _f.alloc(OUT_HALF)
_f.op("tmov", [product(_f)], [_d], f"{{{RELU}}}")
_f.store(_d, "oh", cols=16)
for _name, _op, _relu, _fp in (("tmov_fp", "tmov.fp", False, True), ("tmov_fp_relu", "tmov.fp", True, True),
                               ("tmov_parameters", "tmov", False, True), ("tmov_quantised", "tmov", False, False)):
    _f = form("f_" + _name, lambda x, r=_relu: {"ob": quantised(product_of(x, cols=32), r)})
    _c = product(_f, cols=32)
    _d = _f.alloc(OUT_BYTES)
    _q = parameters(_f, 32) if _fp else (_f.c(SCALE, "i64"), "i64")
    _f.op(_op, [_c, _q], [_d], f"{{{RELU}}}" if _relu else "")
    _f.store(_d, "ob")


def _inserted(x):
    want = x["h"][:1024].reshape(32, 32).copy()
    want[16:, 16:] = product_of(x)
    return {"oh": want}


_f = form("f_tinsert", _inserted)
_d = _f.load(tile("f16", 32, 32, "mat", **BOXED), "h", 0, 32, 32)
_f.op("tinsert", [product(_f), (_f.c(16), "index"), (_f.c(16), "index")], [_d])
_f.store(_d, "oh", 32, 32)

# ---- a5 ---------------------------------------------------------------------------------------------------------

for _mode in ("single_mode_vec0", "dual_mode_split_m"):
    _f = form("f_tmov_to_vec_" + _mode, lambda x: {"o": product_of(x)}, "a5")
    _d = _f.alloc(tile(rows=16, cols=16))
    _f.op("tmov", [product(_f, "a5")], [_d], f"{{accToVecMode = #pto<acc_to_vec_mode {_mode}>}}")
    _f.store(_d, cols=16)
_f = form("f_tmov_columns", lambda x: {"o": x["a"][:256]}, "a5")
_columns = tile(rows=16, cols=16, blayout="col_major")
_x, _d = _f.alloc(_columns), _f.alloc(_columns)
_flat = tile(rows=1, cols=256)
_f.op("tload", [_f.view("a", 1, 256)], [_f.as_type(_x, _flat, "treshape")])
_f.op("tmov", [_x], [_d])
_f.store(_f.as_type(_d, _flat, "treshape"), rows=1, cols=256)


def philox(key, counter, rounds):
    c, k = [int(n) for n in counter], [int(n) for n in key]
    for _ in range(rounds):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & 0xFFFFFFFF, (p0 >> 32) ^ c[3] ^ k[1], p0 & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


for _rounds in (7, 10):
    _f = form(f"f_trandom_{_rounds}", lambda x, n=_rounds: {"oi": np.array(
        [philox((1, 2), (3 + k, 4, 5, 6), n) for k in range(128)], np.uint32).view(np.int32)}, "a5")
    _d = _f.alloc(TI)
    _numbers = ", ".join(_f.c(n, "i32") for n in range(1, 7))
    if _rounds == 10:
        _f.add(f"pto.trandom ins({_numbers} : i32, i32, i32, i32, i32, i32) outs({_d[0]} : {TI})")
    else:
        _f.add(f'"pto.trandom"({_numbers}, {_d[0]}) {{rounds = 7 : i32}} : (i32, i32, i32, i32, i32, i32, {TI}) -> ()')
    _f.store(_d, "oi")


def _histogram(x):
    low = block(x["i"], 0).view(np.uint32) & 255
    return {"oi": [np.searchsorted(np.sort(row), np.arange(256), "right") for row in low]}


_f = form("f_thistogram", _histogram, "a5")
_bins = tile("ui32", cols=256)
_x = _f.as_type(_f.load(TI, "i"), tile("ui32"))
_d = _f.alloc(_bins)
_f.op("thistogram", [_x, _f.alloc(tile("ui8"))], [_d])
_f.store(_f.as_type(_d, tile("i32", cols=256)), "oi", cols=256)
_f = form("f_tpack", lambda x: {"ob": block(x["i"], 0).astype(np.int8)}, "a5")
_d = _f.alloc(TB)
_f.op("tpack", [_f.load(TI, "i")], [_d])
_f.store(_d, "ob")

# ---- MX products ------------------------------------------------------------------------------------------------

RIGHT8 = tile("f8E4M3FN", 64, 32, "right", slayout="col_major")
SCALE_A = tile("!pto.f8E8M0", 16, 2, "scaling", slayout="row_major", fractal=32)
SCALE_B = tile("!pto.f8E8M0", 2, 32, "scaling", blayout="col_major", slayout="col_major", fractal=32)
MX_BYTES = 2048     # of input b, from there on: 126 everywhere, which is 448 in e4m3 and 1/2 in e8m0
MX_PRODUCT = 448.0 ** 2 * 64 / 4


def scales(f, kind, operand):
    """The scale tile of an operand; with an operand it lies where the hardware looks for it."""
    rows, cols = (16, 2) if kind == SCALE_A else (2, 32)
    scale = f.alloc(kind)
    if operand:
        f.op("tget_scale_addr", [operand], [scale])
    f.op("tmov", [f.load(kind.replace("scaling", "mat"), "b", MX_BYTES, rows, cols)], [scale])
    return scale


def mx(op, rows, check, bound=False):
    f = form("f_" + op.replace(".", "_"), check, "a5")
    keys = {} if rows == 16 else {"valid": f"{rows}x64"}
    a, b = f.alloc(tile("f8E4M3FN", 16, 64, "left", **keys, **BOXED)), f.alloc(RIGHT8)
    sa, sb = scales(f, SCALE_A, a if bound else None), scales(f, SCALE_B, b if bound else None)
    c = f.alloc(tile("f32", 16, 32, "acc", **({} if rows == 16 else {"valid": f"{rows}x32"}), **BOXED, fractal=1024))
    ml = f.load(tile("i8", 16, 64, "mat", **keys, **BOXED), "b", MX_BYTES, rows, 64)
    mr = f.load(tile("i8", 64, 32, "mat", **BOXED), "b", MX_BYTES, 64, 32)
    f.op("tmov", [f.as_type(ml, ml[1].replace("xi8", "xf8E4M3FN"))], [a])
    f.op("tmov", [f.as_type(mr, mr[1].replace("xi8", "xf8E4M3FN"))], [b])
    ins = [a, sa, b, sb]
    if op.endswith(".acc"):
        f.op(op[:-4], ins, [c])
        ins = [c, *ins]
    if op.endswith(".bias"):
        bias = f.alloc(tile("f32", 1, 32, "bias"))
        f.op("tmov", [f.load(tile("f32", 1, 32, "mat"), rows=1)], [bias])
        ins.append(bias)
    f.op(op, ins, [c])
    f.store(c, rows=rows)


for _op, _rows in (("tmatmul.mx", 16), ("tgemv.mx", 1)):
    mx(_op, _rows, lambda x, n=_rows: {"o": np.full(32 * n, MX_PRODUCT)})
    mx(_op + ".acc", _rows, lambda x, n=_rows: {"o": np.full(32 * n, 2 * MX_PRODUCT)}, True)
    mx(_op + ".bias", _rows, lambda x, n=_rows: {"o": np.tile(MX_PRODUCT + x["a"][:32].astype(float), n)})

# ---- Pipes: the two ends run one after the other ----------------------------------------------------------------

OUT_TILE = tile("f32", 16, 16)


def pipe_end(f, side, direction, arch):
    gm = "gm_slot_buffer = %i : !pto.ptr<i32>, " if arch == "a3" else ""
    key = "c2v" if direction == 1 else "v2c"
    f.add(f"pto.{side}_initialize_pipe {{dir_mask = {direction}, slot_size = 1024}} ({gm}{key}_consumer_buf = %slots : i32)")


def pipe(arch, direction):
    name = f"f_pipe_{'c2v' if direction == 1 else 'v2c'}"
    consumer, space = ("vector", "vec") if direction == 1 else ("cube", "mat")
    producer = "cube" if direction == 1 else "vector"
    want = (lambda x: {"o": product_of(x)}) if direction == 1 else (lambda x: {"o": x["a"][:256]})
    push = form(name + "_push", want, arch, producer)
    pop = form(name + "_pop", want, arch, consumer)
    push.calls, pop.calls = [push.name, pop.name], []
    push.add(f'%slots = pto.import_reserved_buffer {{name = "{name}", peer_func = @{pop.name}}} -> i32')
    pop.add(f'%slots = pto.reserve_buffer {{name = "{name}", size = 8192, location = #pto.address_space<{space}>, '
            'auto = true} -> i32')
    pipe_end(push, "aic" if direction == 1 else "aiv", direction, arch)
    pipe_end(pop, "aiv" if direction == 1 else "aic", direction, arch)
    t = product(push, arch) if direction == 1 else push.load(OUT_TILE, cols=16)
    to, source = ("aiv", "aic") if direction == 1 else ("aic", "aiv")
    push.add(f"pto.tpush_to_{to}({t[0]} : {t[1]}) {{split = 0}}")
    popped = ("%popped", OUT_TILE if direction == 1 else tile("f32", 16, 16, "mat", **BOXED))
    pop.add(f"%popped = pto.tpop_from_{source} {{split = 0}} -> {popped[1]}")
    pop.store(popped, cols=16)
    pop.add(f"pto.tfree_from_{source} {{split = 0}}")


for _arch in ("a3", "a5"):
    pipe(_arch, 1)
pipe("a3", 2)

# ---- The rest ---------------------------------------------------------------------------------------------------


for _op, _relu in (("textract_fp", False), ("tinsert_fp", True)):
    _f = form("f_" + _op, lambda x, r=_relu: {"ob": quantised(product_of(x, cols=32), r)})
    _d = _f.alloc(OUT_BYTES)
    _f.op(_op, [product(_f, cols=32), parameters(_f, 32), (_f.c(0), "index"), (_f.c(0), "index")], [_d],
          f"{{{RELU}}}" if _relu else "")
    _f.store(_d, "ob")

_f = form("f_sections", lambda x: {"oi": [11, 12, 32]})
for _k, _core in enumerate(("cube", "vector")):
    _f.add(f"pto.section.{_core} {{")
    _f.add(f"pto.store_scalar {_f.c(11 + _k, 'i32')}, %oi[{_f.c(_k)}] : !pto.ptr<i32>, i32")
    _f.add("}")
_v = _f.view("a", 16, 32)
_f.add(f"%n = pto.get_tensor_view_dim {_v[0].replace('q', 'v').replace(_v[0][2:], str(int(_v[0][2:]) - 1))}, {_f.c(1)} : "
       "!pto.tensor_view<16x32xf32> -> index")
_f.add("%n32 = arith.index_cast %n : index to i32")
_f.add(f"pto.store_scalar %n32, %oi[{_f.c(2)}] : !pto.ptr<i32>, i32")

_f = form("f_print_and_trap", lambda x: {"oi": [1]})
_x = _f.load(tile(rows=1, cols=8), rows=1, cols=8)
_f.add(f"pto.tprint ins({_x[0]} : {_x[1]})")
_f.add(f'pto.print ins("one half: %f\0A", {_f.c(0.5, "f32")} : f32)')
_f.add("%no = arith.constant false")
_f.add("scf.if %no {")
_f.add("pto.trap")
_f.add("}")
_f.add(f"pto.store_scalar {_f.c(1, 'i32')}, %oi[{_f.c(0)}] : !pto.ptr<i32>, i32")
