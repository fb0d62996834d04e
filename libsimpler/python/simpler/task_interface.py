# SPDX-License-Identifier: MIT
"""Callables, arguments and configuration of runs."""
import copyreg

from ._task_interface import (
    MAX_TENSOR_DIMS,
    ArgDirection,
    CallableHandle,
    CallableKind,
    CallableNamespace,
    CallConfig,
    ChipCallable,
    ChipTensor,
    CoreCallable,
    DataType,
    ExecutionContextRefused,
    InitCancelled,
    RunHandle,
    RuntimeEnv,
    TaskArgs,
    TaskHandle,
    Tensor,
    TensorArgType,
    TensorTransfer,
    arg_direction_name,
    get_dtype_name,
    get_element_size,
    read_args_from_blob,
    scalar_to_uint64,
)

# callables are copied and pickled by content
copyreg.pickle(CoreCallable, lambda c: (CoreCallable.from_bytes, (c.to_bytes(),)))
copyreg.pickle(ChipCallable, lambda c: (ChipCallable.from_bytes, (c.to_bytes(),)))

__all__ = [
    "MAX_TENSOR_DIMS",
    "ArgDirection",
    "CallConfig",
    "CallableHandle",
    "CallableKind",
    "CallableNamespace",
    "ChipCallable",
    "ChipTensor",
    "CoreCallable",
    "DataType",
    "ExecutionContextRefused",
    "InitCancelled",
    "RunHandle",
    "RuntimeEnv",
    "TaskArgs",
    "TaskHandle",
    "Tensor",
    "TensorArgType",
    "TensorTransfer",
    "arg_direction_name",
    "get_dtype_name",
    "get_element_size",
    "read_args_from_blob",
    "scalar_to_uint64",
]
