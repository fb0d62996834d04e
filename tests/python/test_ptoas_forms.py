# SPDX-License-Identifier: MIT
"""Every form of every operation of .pto is assembled, compiled and run, and compared with numpy."""
import ctypes
import os
import re
import subprocess

import numpy as np
import pytest

import ptoas_forms
import ptoas_forms_cube  # noqa: F401  registers its forms

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("SIMPLER_BUILD_DIR", os.path.join(TOP, "build"))
TYPES = {"f32": np.float32, "f16": np.float16, "i32": np.int32, "i8": np.int8}
NAMES = list(ptoas_forms.POINTERS)
CALL = """
struct pointers {{ float *a; half *h; int32_t *i; int8_t *b; float *o; half *oh; int32_t *oi; int8_t *ob; }};
{}
"""


def inputs():
    random = np.random.default_rng(17)
    i = np.zeros(4096, np.int32)
    i[:1024] = random.integers(-9999, 9999, 1024)
    i[:1024][i[:1024] == 0] = 1
    i[ptoas_forms.INDEX:ptoas_forms.INDEX + 512] = random.permutation(512)
    i[ptoas_forms.OFFSETS:ptoas_forms.OFFSETS + 16] = 32 * random.integers(0, 64, 16)
    i[ptoas_forms.ROWS:ptoas_forms.ROWS + 16] = random.permutation(32)[:16]
    b = random.integers(-128, 128, 4096).astype(np.int8)
    b[ptoas_forms_cube.MX_BYTES:] = 126
    i[3072:3136] = np.full(32, ptoas_forms_cube.SCALE, np.uint64).view(np.int32)
    return {
        "a": random.uniform(0.25, 2, 4096).astype(np.float32) * np.where(np.arange(4096) % 5, 1, -1).astype(np.float32),
        "h": random.integers(-16, 16, 4096).astype(np.float16) / np.float16(8),
        "i": i,
        "b": b,
    }


def build(arch, folder):
    text, cpp, so = (str(folder / name) for name in ("forms.pto", "forms.cpp", "forms.so"))
    with open(text, "w") as f:
        f.write(ptoas_forms.module(arch))
    subprocess.run([os.path.join(BUILD, "ptoas"), text, "-o", cpp, "--enable-insert-sync", "--check-hazards"], check=True)
    calls = "\n".join(f'extern "C" void run_{f.name}(const pointers &p) {{ ::{f.name}({", ".join("p." + n for n in NAMES)}); }}'
                      for f in ptoas_forms.FORMS[arch])
    with open(cpp, "a") as f:
        f.write(CALL.format(calls))
    subprocess.run([os.environ.get("SIMPLER_CXX", "g++"), "-shared", "-fPIC", "-O0", "-std=gnu++20", "-w", "-D__CPU_SIM",
                    f"-D__NPU_ARCH__={'3510' if arch == 'a5' else '2201'}", "-DPTO_CHECKED",
                    "-I" + os.path.join(TOP, "libsimpler", "device", "include"), cpp, "-o", so], check=True)
    return ctypes.CDLL(so)


@pytest.fixture(scope="module", params=["a3", "a5"])
def forms(request, tmp_path_factory):
    return request.param, build(request.param, tmp_path_factory.mktemp(request.param))


def run(library, form, given):
    buffers = {n: given[n].copy() if n in given else np.zeros(4096, TYPES[t]) for n, t in ptoas_forms.POINTERS.items()}
    pointers = (ctypes.c_void_p * len(NAMES))(*[buffers[n].ctypes.data for n in NAMES])
    for name in form.calls:
        getattr(library, "run_" + name)(pointers)
    return buffers


def difference(got, want):
    want = np.ravel(np.asarray(want))
    got = got[:len(want)]
    if got.dtype == np.float32 and want.dtype == np.float32:
        same = got.view(np.uint32) == want.view(np.uint32)
    else:
        same = np.zeros(len(want), bool)
    with np.errstate(all="ignore"):
        same |= np.isclose(got.astype(float), want.astype(float), 1e-5 if got.itemsize == 4 else 1e-3, 1e-5, equal_nan=True)
    at = np.flatnonzero(~same)
    return None if not len(at) else f"{len(at)} elements differ, first {at[0]}: {got[at[0]]}, expected {want[at[0]]}"


def test_every_operation_of_the_table_has_a_form():
    with open(os.path.join(TOP, "tools", "ptoas", "ops.def")) as f:
        table = re.findall(r'^(?:OP|HOST|VEC|CUBE)\(\w+,\s*"(?:pto\.)?([a-z0-9_.]+)"', f.read(), re.M)
    known = {name for name in table if not name.startswith(("arith", "scf", "cf.", "func", "math", "memref"))}
    text = ptoas_forms.module("a3") + ptoas_forms.module("a5")
    used = set(re.findall(r"pto\.([a-z0-9_.]+)", text))
    assert len(known) > 150
    # made by passes; tassign only exists at level3
    assert known - used == {"declare_tile", "initialize_l2g2l_pipe", "initialize_l2l_pipe", "tpush", "tpop", "tfree", "tassign"}


def test_every_form_computes_what_numpy_does(forms):
    arch, library = forms
    wrong = []
    for form in (f for f in ptoas_forms.FORMS[arch] if f.calls):
        given = inputs()
        got = run(library, form, given)
        with np.errstate(all="ignore"):
            wrong += [f"{form.name}: {name}: {what}" for name, want in form.check(given).items()
                      if (what := difference(got[name], want))]
    assert not wrong, "\n".join(wrong)
