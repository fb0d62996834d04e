# SPDX-License-Identifier: MIT
"""Buffers: storage that tensors name."""
from ._task_interface import AccessMode, AddressSpace, BackendKind, Buffer, CanonicalIdentity

__all__ = ["AccessMode", "AddressSpace", "BackendKind", "Buffer", "CanonicalIdentity"]
