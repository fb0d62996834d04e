# SPDX-License-Identifier: MIT
"""Which back end makes kernels: one for the whole process (spec pypto.md section 13)."""


class BackendType:
    """PTO: .pto text and the assembler. CCE: C++ with synchronisation by the compiler."""

    PTO = "PTO"
    CCE = "CCE"


_current = None


def check_backend_type(backend_type):
    """ValueError for what is no back end."""
    if backend_type not in (BackendType.PTO, BackendType.CCE):
        raise ValueError(f"no back end is named {backend_type!r}; there are PTO and CCE")


def set_backend_type(backend_type):
    """Choose the back end; ValueError when another one was chosen before."""
    global _current
    check_backend_type(backend_type)
    if _current not in (None, backend_type):
        raise ValueError(f"Backend type already set to {_current}, cannot change to {backend_type}")
    _current = backend_type


def get_backend_type():
    """The chosen back end; ValueError when none was chosen yet."""
    if _current is None:
        raise ValueError("Backend type is not set; call backend.set_backend_type() or ir.compile() first")
    return _current


def is_backend_configured():
    return _current is not None


def reset_for_testing():
    """Forget the choice."""
    global _current
    _current = None
