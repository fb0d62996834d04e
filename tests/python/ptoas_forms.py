# SPDX-License-Identifier: MIT
"""A function for every form of every operation of .pto, with what it computes in numpy.

Each function takes inputs a (f32), h (f16), i (i32), b (i8) and outputs o, oh, oi, ob of the same types. A form is
registered with a check, which gets the inputs and returns what the outputs must begin with, by name.
"""
import numpy as np

FORMS = {"a3": [], "a5": []}


def tile(dtype="f32", rows=16, cols=32, loc="vec", **keys):
    extra = "".join(f", {k}={v}" for k, v in keys.items())
    return f"!pto.tile_buf<{loc}, {rows}x{cols}x{dtype}{extra}>"


T, TI, TB, TH = tile(), tile("i32"), tile("i8"), tile("f16")
HALF = tile(cols=16)
ROW = tile(rows=1)
COLUMN = tile(cols=1, blayout="col_major")
BOXED = {"blayout": "col_major", "slayout": "row_major"}
POINTERS = {"a": "f32", "h": "f16", "i": "i32", "b": "i8", "o": "f32", "oh": "f16", "oi": "i32", "ob": "i8"}


class Form:
    def __init__(self, name, check, kind=None):
        self.name, self.check, self.kind = name, check, kind
        self.lines, self.constants, self.names = [], {}, 0
        self.calls = [name]     # functions to run for it, in order; none: another form runs this one

    def name_of(self, prefix):
        self.names += 1
        return f"%{prefix}{self.names}"

    def c(self, value, dtype="index"):
        return self.constants.setdefault((value, dtype), f"%c{len(self.constants)}")

    def add(self, line):
        self.lines.append(line)

    def alloc(self, kind):
        name = self.name_of("t")
        self.add(f"{name} = pto.alloc_tile : {kind}")
        return name, kind

    def view(self, pointer, rows, cols, offset=0, column=False):
        """Window of rows x cols elements from `offset` on; column: a vector that stands upright."""
        et, base = POINTERS[pointer], f"%{pointer}"
        if offset:
            base = self.name_of("p")
            self.add(f"{base} = pto.addptr %{pointer}, {self.c(offset)} : !pto.ptr<{et}> -> !pto.ptr<{et}>")
        view, part = self.name_of("v"), self.name_of("q")
        shape = f"{rows}x{cols}x{et}"
        self.add(f"{view} = pto.make_tensor_view {base}, shape = [{self.c(rows)}, {self.c(cols)}], strides = "
                 f"[{self.c(1 if column else cols)}, {self.c(rows if column else 1)}] "
                 f"{{layout = #pto.layout<{'dn' if column else 'nd'}>}} : !pto.tensor_view<{shape}>")
        self.add(f"{part} = pto.partition_view {view}, offsets = [{self.c(0)}, {self.c(0)}], sizes = "
                 f"[{self.c(rows)}, {self.c(cols)}] : !pto.tensor_view<{shape}> -> !pto.partition_tensor_view<{shape}>")
        return part, f"!pto.partition_tensor_view<{shape}>"

    def op(self, name, ins, outs, attrs="", inside=""):
        def group(values, dict_text=""):
            return f"{', '.join(v for v, _ in values)}{dict_text} : {', '.join(t for _, t in values)}"
        self.add(f"pto.{name} ins({group(ins, inside)}) outs({group(outs)}){' ' + attrs if attrs else ''}")

    def load(self, kind, pointer="a", offset=0, rows=16, cols=32, column=False):
        t = self.alloc(kind)
        self.op("tload", [self.view(pointer, rows, cols, offset, column)], [t])
        return t

    def store(self, t, pointer="o", rows=16, cols=32, offset=0, column=False, attrs="", more=()):
        self.op("tstore", [t, *more], [self.view(pointer, rows, cols, offset, column)], attrs)

    def as_type(self, t, kind, op="bitcast"):
        name = self.name_of("w")
        self.add(f"{name} = pto.{op} {t[0]} : {t[1]} -> {kind}")
        return name, kind

    def f32(self, value):
        return self.c(value, "f32"), "f32"

    def i32(self, value):
        return self.c(value, "i32"), "i32"

    def text(self):
        args = ", ".join(f"%{p}: !pto.ptr<{et}>" for p, et in POINTERS.items())
        kind = f" attributes {{pto.kernel_kind = #pto.kernel_kind<{self.kind}>}}" if self.kind else ""
        constants = [f"{n} = arith.constant {v} : {t}" for (v, t), n in self.constants.items()]
        body = "\n".join("    " + line for line in [*constants, *self.lines, "return"])
        return f"  func.func @{self.name}({args}){kind} {{\n{body}\n  }}\n"


def form(name, check, arch="a3", kind=None):
    f = Form(name, check, kind)
    for a in ("a3", "a5") if arch == "both" else (arch,):
        FORMS[a].append(f)
    return f


def module(arch):
    body = "".join(f.text() for f in FORMS[arch])
    return f'module attributes {{pto.target_arch = "{arch}"}} {{\n{body}}}\n'


def block(x, number, rows=16, cols=32):
    """The number-th block of 512 elements of an input."""
    return x[512 * number:512 * number + rows * cols].reshape(rows, cols)


# ---- Element-wise -----------------------------------------------------------------------------------------------

OUT = {"f32": ("a", "o"), "i32": ("i", "oi"), "i8": ("b", "ob")}


def elementwise(op, fn, dtype="f32", operands="tt", reads_output=False):
    """operands: t a tile, s a scalar, w scratch."""
    pointer, out = OUT[dtype]
    scalar = {"f32": 1.5, "i32": 3, "i8": 3}[dtype]
    tiles = operands.count("t")

    def check(x):
        blocks = [block(x[pointer], k) for k in range(tiles + reads_output)]
        with np.errstate(all="ignore"):
            return {out: fn(*blocks, *([scalar] if "s" in operands else []))}

    f = form("f_" + op + ("_first" if operands.startswith("s") else ""), check)
    kind = tile(dtype)
    ins, number = [], 0
    for letter in operands:
        if letter == "t":
            ins.append(f.load(kind, pointer, 512 * number))
            number += 1
        elif letter == "s":
            ins.append((f.c(scalar, dtype), dtype))
        else:
            ins.append(f.alloc(kind))
    d = f.load(kind, pointer, 512 * number) if reads_output else f.alloc(kind)
    f.op(op, ins, [d])
    f.store(d, out)


def floor_rem(a, b):
    r = np.fmod(a, b)
    return np.where((r != 0) & ((a < 0) != (b < 0)), r + b, r)


for _op, _fn in {"tadd": np.add, "tsub": np.subtract, "tmul": np.multiply, "tdiv": np.divide, "tmax": np.maximum,
                 "tmin": np.minimum, "tfmod": np.fmod}.items():
    elementwise(_op, _fn)
for _op, _fn in {"tadds": np.add, "tsubs": np.subtract, "tmuls": np.multiply, "tdivs": np.divide, "tmaxs": np.maximum,
                 "tmins": np.minimum, "tfmods": np.fmod, "tlrelu": lambda a, s: np.where(a > 0, a, a * s)}.items():
    elementwise(_op, _fn, operands="ts")
for _op, _fn in {"tabs": np.abs, "tneg": np.negative, "texp": np.exp, "tlog": np.log, "tsqrt": np.sqrt,
                 "trecip": np.reciprocal, "trelu": lambda a: np.maximum(a, 0)}.items():
    elementwise(_op, _fn, operands="t")
for _op, _fn in {"tand": np.bitwise_and, "tor": np.bitwise_or}.items():
    elementwise(_op, _fn, "i8")
    elementwise(_op + "s", _fn, "i8", "ts")
elementwise("txor", np.bitwise_xor, "i8", "ttw")
elementwise("txors", np.bitwise_xor, "i8", "tsw")
elementwise("tshls", np.left_shift, "i32", "ts")
elementwise("tshrs", np.right_shift, "i32", "ts")
elementwise("trem", floor_rem, "i32", "ttw")
elementwise("trems", floor_rem, operands="tsw")
elementwise("tprelu", lambda a, b: np.where(a > 0, a, a * b), operands="ttw")
elementwise("trsqrt", lambda a: 1 / np.sqrt(a), operands="tw")
elementwise("tdivs", lambda a, s: s / a, operands="st")
elementwise("taddc", lambda a, b, c: a + b + c, operands="ttt")
elementwise("tsubc", lambda a, b, c: a - b + c, operands="ttt")
elementwise("taddsc", lambda a, b, s: a + s + b, operands="tst")
elementwise("tsubsc", lambda a, b, s: a - s + b, operands="tst")
elementwise("taxpy", lambda a, d, s: a * s + d, operands="ts", reads_output=True)


def _shift(op, fn):
    f = form("f_" + op, lambda x: {"oi": fn(block(x["i"], 0), block(x["i"], 1) & 7)})
    a, n, d = f.load(TI, "i"), f.load(TI, "i", 512), f.alloc(TI)
    n8 = f.as_type(n, tile("i8", cols=128))
    f.op("tands", [n8, (f.c(7, "i8"), "i8")], [n8])
    low = f.alloc(TI)
    f.op("tshls", [n, f.i32(24)], [low])
    f.op("tshrs", [low, f.i32(24)], [low])
    f.op(op, [a, low], [d])
    f.store(d, "oi")


_shift("tshl", np.left_shift)
_shift("tshr", np.right_shift)


def _not():
    f = form("f_tnot", lambda x: {"oi": ~block(x["i"], 0)})
    t16 = tile("i16", cols=64)
    x, y = f.as_type(f.load(TI, "i"), t16), f.alloc(t16)
    f.op("tnot", [x], [y])
    f.store(f.as_type(y, TI), "oi")


_not()

for _op, _fn in {"tpartadd": np.add, "tpartmax": np.maximum, "tpartmin": np.minimum, "tpartmul": np.multiply}.items():
    def _check(x, fn=_fn):
        want = block(x["a"], 0).copy()
        want[:, :16] = fn(want[:, :16], x["a"][512:768].reshape(16, 16))
        return {"o": want}
    _f = form("f_" + _op, _check)
    _d = _f.alloc(T)
    _f.op(_op, [_f.load(T), _f.load(tile(valid="16x16"), "a", 512, cols=16)], [_d])
    _f.store(_d)

_f = form("f_texpands", lambda x: {"o": np.full(512, 2.5)})
_d = _f.alloc(T)
_f.op("texpands", [_f.f32(2.5)], [_d])
_f.store(_d)

# ---- Reductions, broadcasts -------------------------------------------------------------------------------------

for _op, _fn in {"sum": np.sum, "max": np.max, "min": np.min, "prod": np.prod}.items():
    _f = form("f_trow" + _op, lambda x, fn=_fn: {"o": fn(block(x["a"], 0).astype(float), axis=1)})
    _d = _f.alloc(COLUMN)
    _f.op("trow" + _op, [_f.load(T), _f.alloc(T)], [_d])
    _f.store(_d, cols=1, column=True)
    _f = form("f_tcol" + _op, lambda x, fn=_fn: {"o": fn(block(x["a"], 0).astype(float), axis=0)})
    _d = _f.alloc(ROW)
    _f.op("tcol" + _op, [_f.load(T)], [_d])
    _f.store(_d, rows=1)
for _op, _fn in {"max": np.argmax, "min": np.argmin}.items():
    _f = form("f_trowarg" + _op, lambda x, fn=_fn: {"oi": fn(block(x["a"], 0), axis=1)})
    _d = _f.alloc(tile("i32", cols=1, blayout="col_major"))
    _f.op("trowarg" + _op, [_f.load(T), _f.alloc(T)], [_d])
    _f.store(_d, "oi", cols=1, column=True)
    _f = form("f_tcolarg" + _op, lambda x, fn=_fn: {"oi": fn(block(x["a"], 0), axis=0)})
    _d = _f.alloc(tile("i32", rows=1))
    _f.op("tcolarg" + _op, [_f.load(T), _f.alloc(T)], [_d])
    _f.store(_d, "oi", rows=1)
_f = form("f_tcolsum_binary", lambda x: {"o": block(x["a"], 0).sum(axis=0)})
_d = _f.alloc(ROW)
_f.op("tcolsum", [_f.load(T), _f.alloc(T)], [_d], inside=" {isBinary = true}")
_f.store(_d, rows=1)

_f = form("f_trowexpand", lambda x: {"o": np.repeat(x["a"][:16], 32)})
_d = _f.alloc(T)
_f.op("trowexpand", [_f.load(tile(cols=8, valid="16x1"), cols=1)], [_d])
_f.store(_d)
_f = form("f_tcolexpand", lambda x: {"o": np.tile(x["a"][:32], 16)})
_d = _f.alloc(T)
_f.op("tcolexpand", [_f.load(ROW, rows=1)], [_d])
_f.store(_d)
for _op, _fn in {"div": np.divide, "mul": np.multiply, "sub": np.subtract, "add": np.add, "max": np.maximum,
                 "min": np.minimum, "expdif": lambda a, b: np.exp(a - b)}.items():
    _f = form("f_trowexpand" + _op, lambda x, fn=_fn: {"o": fn(block(x["a"], 0), x["a"][512:528, None])})
    _d = _f.alloc(T)
    _f.op("trowexpand" + _op, [_f.load(T), _f.load(COLUMN, "a", 512, cols=1, column=True), _f.alloc(T)], [_d])
    _f.store(_d)
    _f = form("f_tcolexpand" + _op, lambda x, fn=_fn: {"o": fn(block(x["a"], 0), x["a"][512:544])})
    _d = _f.alloc(T)
    _f.op("tcolexpand" + _op, [_f.load(T), _f.load(ROW, "a", 512, rows=1)], [_d])
    _f.store(_d)

# ---- Compare, select, convert -----------------------------------------------------------------------------------

MASK = tile("i8", valid="16x4")


def bits(m):
    return np.packbits(m, axis=1, bitorder="little").view(np.int8)


def mask_of(x):
    return np.unpackbits(x["b"][:64].view(np.uint8).reshape(16, 4), axis=1, bitorder="little").astype(bool)


_f = form("f_tcmp", lambda x: {"ob": bits(block(x["a"], 0) < block(x["a"], 1))})
_d = _f.alloc(MASK)
_f.op("tcmp", [_f.load(T), _f.load(T, "a", 512)], [_d], inside=" {cmpMode = #pto<cmp lt>}")
_f.store(_d, "ob", cols=4)
_f = form("f_tcmps", lambda x: {"ob": bits(block(x["a"], 0) >= 0.5)})
_d = _f.alloc(MASK)
_f.op("tcmps", [_f.load(T), _f.f32(0.5)], [_d], inside=" {cmpMode = #pto<cmp ge>}")
_f.store(_d, "ob", cols=4)
_f = form("f_tsel", lambda x: {"o": np.where(mask_of(x), block(x["a"], 0), block(x["a"], 1))})
_d = _f.alloc(T)
_f.op("tsel", [_f.load(MASK, "b", cols=4), _f.load(T), _f.load(T, "a", 512), _f.alloc(T)], [_d])
_f.store(_d)
for _op in ("tsels", "tselc"):
    _f = form("f_" + _op, lambda x: {"o": np.where(mask_of(x), block(x["a"], 0), -7)})
    _d = _f.alloc(T)
    _f.op(_op, [_f.load(MASK, "b", cols=4), _f.load(T), _f.alloc(T), _f.f32(-7.0)], [_d])
    _f.store(_d)

_f = form("f_tcvt", lambda x: {"oi": np.floor(block(x["a"], 0))})
_d = _f.alloc(TI)
_f.op("tcvt", [_f.load(T)], [_d], inside=" {rmode = #pto<round_mode FLOOR>}")
_f.store(_d, "oi")
_f = form("f_tcvt_saturated", lambda x: {"ob": np.clip(np.rint((block(x["a"], 0) * np.float32(100)).astype(np.float16)),
                                                       -128, 127)})
_x, _y, _d = _f.load(T), _f.alloc(TH), _f.alloc(TB)
_f.op("tmuls", [_x, _f.f32(100.0)], [_x])
_f.op("tcvt", [_x], [_y], inside=" {rmode = #pto<round_mode RINT>}")
_f.op("tcvt", [_y, _f.alloc(TB)], [_d], inside=" {rmode = #pto<round_mode RINT>, sat_mode = #pto<saturation_mode ON>}")
_f.store(_d, "ob")

# ---- Layout, windows, scalars -----------------------------------------------------------------------------------

_f = form("f_ttrans", lambda x: {"o": block(x["a"], 0).T})
_d = _f.alloc(tile(rows=32, cols=16))
_f.op("ttrans", [_f.load(T), _f.alloc(tile(rows=32, cols=16))], [_d])
_f.store(_d, rows=32, cols=16)


def padded(x, rows, value):
    want = np.full((rows, 32), value)
    want[:10, :20] = x["a"][:200].reshape(10, 20)
    return {"o": want}


SMALL = tile(valid="10x20")
_f = form("f_tfillpad", lambda x: padded(x, 16, np.inf))
_d = _f.alloc(tile(pad=2))
_f.op("tfillpad", [_f.load(SMALL, rows=10, cols=20)], [_d])
_f.store(_d)
_f = form("f_tfillpad_expand", lambda x: padded(x, 32, 0.0))
_d = _f.alloc(tile(rows=32, pad=1))
_f.op("tfillpad_expand", [_f.load(SMALL, rows=10, cols=20)], [_d])
_f.store(_d, rows=32)
_f = form("f_tfillpad_inplace", lambda x: padded(x, 16, -np.inf))
_x = _f.load(SMALL, rows=10, cols=20)
_d = _f.as_type(_x, tile(pad=3), "treshape")
_f.op("tfillpad_inplace", [_x], [_d])
_f.store(_d)
_f = form("f_tconcat", lambda x: {"o": np.hstack([x["a"][:256].reshape(16, 16), x["a"][512:768].reshape(16, 16)])})
_d = _f.alloc(T)
_f.op("tconcat", [_f.load(HALF, cols=16), _f.load(HALF, "a", 512, cols=16)], [_d])
_f.store(_d)
_f = form("f_tmov", lambda x: {"o": x["a"][:512]})
_d = _f.alloc(T)
_f.op("tmov", [_f.load(T)], [_d])
_f.store(_d)


def negated(x, rows=slice(None), cols=slice(None)):
    want = block(x["a"], 0).copy()
    want[rows, cols] *= -1
    return {"o": want}


WINDOW = tile(rows=8, cols=16)
for _op, _end in (("subview", f" : {T} -> {WINDOW}"), ("subset", f" : {T}")):
    _f = form("f_" + _op, lambda x: negated(x, slice(4, 12), slice(8, 24)))
    _x, _w = _f.load(T), (_f.name_of("w"), WINDOW)
    _f.add(f"{_w[0]} = pto.{_op} {_x[0]}[{_f.c(4)}, {_f.c(8)}] sizes [8, 16]{_end}")
    _f.op("tneg", [_w], [_w])
    _f.store(_x)
_f = form("f_treshape", negated)
_x = _f.load(T)
_w = _f.as_type(_x, tile(rows=1, cols=512), "treshape")
_f.op("tneg", [_w], [_w])
_f.store(_x)
_f = form("f_set_validshape", lambda x: negated(x, slice(8), slice(16)))
_w = ("%dyn", tile(valid="?x?"))
_f.add(f"%dyn = pto.alloc_tile valid_row = {_f.c(16)} valid_col = {_f.c(32)} : {_w[1]}")
_f.op("tload", [_f.view("a", 16, 32)], [_w])
_f.add(f"pto.set_validshape %dyn, {_f.c(8)}, {_f.c(16)} : {_w[1]}")
_f.op("tneg", [_w], [_w])
_f.add(f"pto.set_validshape %dyn, {_f.c(16)}, {_f.c(32)} : {_w[1]}")
_f.store(_w)
_f = form("f_multi_tile", lambda x: {"o": block(x["a"], 0) - block(x["a"], 1)})
MULTI = "!pto.multi_tile_buf<tile_buf<vec, 16x32xf32>, count=2>"
_f.add(f"%m = pto.alloc_multi_tile : {MULTI}")
for _k in range(2):
    _f.add(f"%s{_k} = pto.multi_tile_get %m[{_f.c(_k)}] : {MULTI} -> {T}")
    _f.op("tload", [_f.view("a", 16, 32, 512 * _k)], [(f"%s{_k}", T)])
_f.op("tsub", [("%s0", T), ("%s1", T)], [("%s0", T)])
_f.store(("%s0", T))


def _changed(x):
    want = x["a"][:512].copy()
    want[5] = want[33] + 1
    return {"o": want}


_f = form("f_getval_setval", _changed)
_x = _f.load(T)
_f.add(f"%s = pto.tgetval ins({_x[0]}, {_f.c(33)} : {T}, index) outs : f32")
_f.add(f"%u = arith.addf %s, {_f.c(1.0, 'f32')} : f32")
_f.add(f"pto.tsetval ins({_f.c(5)}, %u : index, f32) outs({_x[0]} : {T})")
_f.store(_x)
_f = form("f_scalar_memory", lambda x: {"o": [0, 0, 0, x["a"][7]]})
_f.add(f"%s = pto.load_scalar %a[{_f.c(7)}] : !pto.ptr<f32> -> f32")
_f.add(f"pto.store_scalar %s, %o[{_f.c(3)}] : !pto.ptr<f32>, f32")
_f = form("f_local_array", lambda x: {"oi": [41]})
_f.add("%r = pto.declare_local_array -> !pto.local_array<8xi32>")
_f.add(f"pto.local_array_set %r[{_f.c(2)}], {_f.c(41, 'i32')} : !pto.local_array<8xi32>, i32")
_f.add(f"%x = pto.local_array_get %r[{_f.c(2)}] : !pto.local_array<8xi32> -> i32")
_f.add(f"pto.store_scalar %x, %oi[{_f.c(0)}] : !pto.ptr<i32>, i32")
_f = form("f_eventid_array", lambda x: {"oi": [6]})
_f.add("%e = pto.declare_eventid_array -> !pto.eventid_array<4>")
_f.add(f"pto.eventid_array_set %e[{_f.c(1)}], {_f.c(6)} : !pto.eventid_array<4>")
_f.add(f"%x = pto.eventid_array_get %e[{_f.c(1)}] : !pto.eventid_array<4>")
_f.add("pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %x]")
_f.add("pto.wait_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %x]")
_f.add("%y = arith.index_cast %x : index to i32")
_f.add(f"pto.store_scalar %y, %oi[{_f.c(0)}] : !pto.ptr<i32>, i32")
_f = form("f_block_position", lambda x: {"oi": [0, 1, 0, 1]})
for _k, _n in enumerate(("block_idx", "block_num", "subblock_idx", "subblock_num")):
    _f.add(f"%x{_k} = pto.get_{_n}")
    _f.add(f"%y{_k} = arith.trunci %x{_k} : i64 to i32")
    _f.add(f"pto.store_scalar %y{_k}, %oi[{_f.c(_k)}] : !pto.ptr<i32>, i32")

# ---- Gather, scatter, sort, generate ----------------------------------------------------------------------------

INDEX = 1024        # of input i: a permutation of 0..511
OFFSETS = 1536      # of input i: multiples of 32, below 2048
ROWS = 2048         # of input i: 16 different rows below 32


def scattered(x, index):
    want = np.zeros(512)
    want[index] = x["a"][:512]
    return {"o": want}


_f = form("f_tgather", lambda x: {"o": x["a"][x["i"][INDEX:INDEX + 512]]})
_d = _f.alloc(T)
_f.op("tgather", [_f.load(T), _f.load(TI, "i", INDEX), _f.alloc(TI)], [_d])
_f.store(_d)
_f = form("f_tgather_mask", lambda x: {"o": block(x["a"], 0)[:, 1::2]})
_d, _x = _f.alloc(HALF), _f.load(T)
_f.add(f"pto.tgather ins({_x[0]}, {{maskPattern = #pto.mask_pattern<P1010>}} : {T}) outs({_d[0]} : {HALF})")
_f.store(_d, cols=16)


def _above(x):
    want = np.full((16, 32), -1)
    above = block(x["a"], 0) > 0.5
    for r, row in enumerate(above):
        want[r, :row.sum()] = np.flatnonzero(row) + 100
    return {"oi": np.concatenate([want.ravel(), above.sum(axis=1)])}


_f = form("f_tgather_compare", _above)
_x, _w, _d, _n = _f.load(T), _f.alloc(tile("i32", cols=256)), _f.alloc(TI), _f.alloc(tile("i32", cols=8, valid="16x1"))
_f.op("texpands", [_f.i32(-1)], [_d])
_f.op("tgather", [_x, _f.f32(0.5), _w], [_d, _n], "{cmpMode = #pto<cmp gt>, offset = 100 : i32}")
_f.store(_d, "oi")
_f.store(_n, "oi", cols=1, offset=512)
_f = form("f_tgatherb", lambda x: {"o": x["a"][:512].reshape(64, 8)[x["i"][OFFSETS:OFFSETS + 16] // 32]})
_d = _f.alloc(tile(rows=1, cols=128))
_f.op("tgatherb", [_f.load(tile(rows=1, cols=512), rows=1, cols=512),
                   _f.load(tile("i32", 1, 16), "i", OFFSETS, rows=1, cols=16)], [_d])
_f.store(_d, rows=1, cols=128)
_f = form("f_tscatter", lambda x: scattered(x, x["i"][INDEX:INDEX + 512]))
_d = _f.alloc(T)
_f.op("texpands", [_f.f32(0.0)], [_d])
_f.op("tscatter", [_f.load(T), _f.load(TI, "i", INDEX)], [_d])
_f.store(_d)
_f = form("f_tscatter_mask", lambda x: {"o": np.stack([x["a"][:256], np.zeros(256)], axis=1)})
_d, _x = _f.alloc(T), _f.load(HALF, cols=16)
_f.add(f"pto.tscatter ins({_x[0]}, {{maskPattern = #pto.mask_pattern<P0101>}} : {HALF}) outs({_d[0]} : {T})")
_f.store(_d)


def records(values, first=0):
    order = np.argsort(-values, kind="stable")
    out = np.empty((len(values), 2), np.float32)
    out[:, 0] = values[order]
    out[:, 1] = (order + first).astype(np.uint32).view(np.float32)
    return out


def sort_blocks(f, n, offset=0):
    """Records of n values from `offset` on, sorted in blocks of 32."""
    x, index, d = f.load(tile(rows=1, cols=n), "a", offset, rows=1, cols=n), f.alloc(tile("i32", 1, n)), \
        f.alloc(tile(rows=1, cols=2 * n))
    f.op("tci", [f.i32(offset)], [index])
    f.op("tsort32", [x, f.as_type(index, tile("ui32", 1, n))], [d])
    return d


_f = form("f_tsort32", lambda x: {"o": np.concatenate([records(x["a"][k:k + 32], k) for k in range(0, 128, 32)])})
_f.store(sort_blocks(_f, 128), rows=1, cols=256)
_f = form("f_tmrgsort_blocks", lambda x: {"o": records(x["a"][:128])})
_d = _f.alloc(tile(rows=1, cols=256))
_f.op("tmrgsort", [sort_blocks(_f, 128), _f.i32(64)], [_d])
_f.store(_d, rows=1, cols=256)
for _k in (2, 3, 4):
    _f = form(f"f_tmrgsort_{_k}_lists", lambda x, k=_k: {"o": records(x["a"][:32 * k])})
    _lists = [sort_blocks(_f, 32, 32 * n) for n in range(_k)]
    _w, _d = _f.alloc(tile(rows=1, cols=64 * _k)), _f.alloc(tile(rows=1, cols=64 * _k))
    _f.add("%ex = arith.constant dense<0> : vector<4xi16>")
    _f.op("tmrgsort", [*_lists, _w], [_d, ("%ex", "vector<4xi16>")], inside=" {exhausted = false}")
    _f.store(_d, rows=1, cols=64 * _k)
_f = form("f_tci", lambda x: {"oi": np.concatenate([np.arange(5, 37), 5 - np.arange(32)])})
for _k, _attr in enumerate(("", " {descending = true}")):
    _d = _f.alloc(tile("i32", rows=1))
    _f.op("tci", [_f.i32(5)], [_d], inside=_attr)
    _f.store(_d, "oi", rows=1, offset=32 * _k)
_f = form("f_ttri", lambda x: {"o": np.triu(np.ones((16, 32)), 2)})
_d = _f.alloc(T)
_f.add(f'"pto.ttri"({_f.c(2, "i32")}, {_d[0]}) {{upperOrLower = 1 : i32}} : (i32, {T}) -> ()')
_f.store(_d)

# ---- Gather from and scatter to memory --------------------------------------------------------------------------

ROW_INDEX = tile("i32", cols=8, valid="16x1")
_f = form("f_mgather_rows", lambda x: {"o": x["a"][:1024].reshape(32, 32)[x["i"][ROWS:ROWS + 16]]}, "both")
_d = _f.alloc(T)
_f.op("mgather", [_f.view("a", 32, 32), _f.load(ROW_INDEX, "i", ROWS, cols=1)], [_d],
      "{coalesce = #pto<coalesce row>, gatherOob = #pto<gather_oob clamp>}")
_f.store(_d)
_f = form("f_mgather_elements", lambda x: {"o": x["a"][x["i"][INDEX:INDEX + 512]]}, "both")
_d = _f.alloc(T)
_f.op("tmgather", [_f.view("a", 32, 32), _f.load(TI, "i", INDEX)], [_d],
      "{coalesce = #pto<coalesce elem>, gatherOob = #pto<gather_oob zero>}")
_f.store(_d)
_f = form("f_mscatter_add", lambda x: scattered(x, x["i"][INDEX:INDEX + 512]), "both")
_f.op("tmscatter", [_f.load(T), _f.load(TI, "i", INDEX)], [_f.view("o", 16, 32)],
      "{coalesce = #pto<coalesce elem>, scatterAtomicOp = #pto<scatter_atomic_op add>, scatterOob = #pto<scatter_oob skip>}")


def _rows(x):
    want = np.zeros((32, 32))
    want[x["i"][ROWS:ROWS + 16]] = block(x["a"], 0)
    return {"o": want}


_f = form("f_mscatter_rows", _rows, "both")
_f.op("mscatter", [_f.load(T), _f.load(ROW_INDEX, "i", ROWS, cols=1)], [_f.view("o", 32, 32)],
      "{coalesce = #pto<coalesce row>, scatterOob = #pto<scatter_oob skip>}")

# ---- Quantisation -----------------------------------------------------------------------------------------------


def _column(f, offset):
    return f.load(COLUMN, "a", offset, cols=1, column=True)


_f = form("f_tquant_symmetric", lambda x: {"ob": np.clip(np.rint(block(x["a"], 0) * x["a"][512:528, None]), -128, 127)})
_d = _f.alloc(TB)
_f.op("tquant", [_f.load(T), _column(_f, 512)], [_d], "{quant_type = #pto<quant_type INT8_SYM>}")
_f.store(_d, "ob")
_f = form("f_tquant_asymmetric", lambda x: {"ob": np.clip(np.rint(block(x["a"], 0) * x["a"][512:528, None]) +
                                                          x["a"][1024:1040, None], 0, 255).astype(np.uint8)
                                            .view(np.int8)})
_d = _f.alloc(tile("ui8"))
_f.op("tquant", [_f.load(T), _column(_f, 512), _column(_f, 1024)], [_d], "{quant_type = #pto<quant_type INT8_ASYM>}")
_f.store(_f.as_type(_d, TB), "ob")
_f = form("f_tdequant", lambda x: {"o": (block(x["b"], 0) - x["a"][1024:1040, None]) * x["a"][512:528, None]})
_d = _f.alloc(T)
_f.op("tdequant", [_f.load(TB, "b"), _column(_f, 512), _column(_f, 1024)], [_d])
_f.store(_d)

# ---- Signals, transfers, what only orders -----------------------------------------------------------------------

_f = form("f_signals", lambda x: {"oi": [7]})
for _op, _n, _attr in (("tnotify", 3, "notifyOp = #pto<notify_op set>"), ("tnotify", 4, "notifyOp = #pto<notify_op atomic_add>"),
                       ("twait", 7, "cmp = #pto<wait_cmp eq>"), ("twait", 3, "cmp = #pto<wait_cmp ge>")):
    _f.add(f"pto.comm.{_op}(%oi, {_f.c(_n, 'i32')} : !pto.ptr<i32>, i32) {{{_attr}}}")
_f = form("f_tget_tput", lambda x: {"o": 2 * x["a"][:1024]})
_s, _s2, _q, _d = _f.alloc(T), _f.alloc(T), _f.view("a", 32, 32), _f.view("o", 32, 32)
_f.add(f"pto.comm.tget({_d[0]}, {_q[0]}, buf({_s[0]}) : {_d[1]}, {_q[1]}, {T})")
_f.add(f"pto.comm.tput({_d[0]}, {_q[0]}, buf({_s[0]}, {_s2[0]}) : {_d[1]}, {_q[1]}, {T}, {T}) "
       "{atomicType = #pto<atomic_type atomic_add>}")
_f = form("f_async", lambda x: {"o": x["a"][:512], "oi": [1, 1]})
_q, _d = _f.view("a", 16, 32), _f.view("o", 16, 32)
_f.lines += [
    "%s = pto.build_async_session(%i : !pto.ptr<i32>) -> !pto.async_session",
    f"%e = pto.tget_async({_d[0]}, {_q[0]}, %s : {_d[1]}, {_q[1]}, !pto.async_session) -> !pto.async_event",
    f"%e2 = pto.tput_async({_d[0]}, {_q[0]}, %s : {_d[1]}, {_q[1]}, !pto.async_session) -> !pto.async_event",
    "%w = pto.wait_async_event(%e, %s : !pto.async_event, !pto.async_session) -> i1",
    "%c = pto.make_prefetch_async_context(%i : !pto.ptr<i32>) -> !pto.prefetch_async_context",
    f"%pe = pto.tprefetch_async({_q[0]}, %c : {_q[1]}, !pto.prefetch_async_context) -> !pto.async_event",
    "%ps = pto.get_prefetch_async_session(%c : !pto.prefetch_async_context) -> !pto.async_session",
    "%pw = pto.comm.wait_async_event(%pe, %ps : !pto.async_event, !pto.async_session) -> i1",
    "%pt = pto.test_async_event(%pe, %ps : !pto.async_event, !pto.async_session) -> i1",
    "pto.tsync ins(%e, %e2 : !pto.async_event, !pto.async_event)",
    "%w1 = arith.extui %w : i1 to i32",
    "%pt1 = arith.extui %pt : i1 to i32",
    f"pto.store_scalar %w1, %oi[{_f.c(0)}] : !pto.ptr<i32>, i32",
    f"pto.store_scalar %pt1, %oi[{_f.c(1)}] : !pto.ptr<i32>, i32",
]
_f = form("f_order", lambda x: {"oi": [1]})
_x, _q = _f.alloc(T), _f.view("a", 16, 32)
_f.lines += [
    "pto.record_event [#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TVEC>, #pto.event<EVENT_ID0>]",
    "pto.wait_event [#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TVEC>, #pto.event<EVENT_ID0>]",
    "pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID1>]",
    "pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID1>]",
    "pto.barrier <PIPE_ALL>",
    "pto.barrier_sync[#pto.sync_op_type<TVEC>]",
    "pto.set_ffts %a : !pto.ptr<f32>",
    "pto.sync.set <PIPE_MTE3>, 1 {ffts_mode = 1 : i32}",
    "pto.sync.wait <PIPE_V>, 1",
    "pto.get_buf [#pto.pipe_event_type<TVEC>, 0] {mode = 0 : i32}",
    "pto.rls_buf [#pto.pipe_event_type<TVEC>, 0] {mode = 0 : i32}",
    "pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<mix>",
    "pto.cmo.cacheinvalid all #pto.address_space<gm>",
    "pto.cmo.cacheinvalid %a single_cache_line : !pto.ptr<f32>",
    "pto.fence.barrier_all #pto.fence_scope<gm>",
]
_f.op("tprefetch", [_q], [_x])
_f.add(f"pto.store_scalar {_f.c(1, 'i32')}, %oi[{_f.c(0)}] : !pto.ptr<i32>, i32")
