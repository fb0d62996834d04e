# SPDX-License-Identifier: MIT
"""Conversions from torch, which is imported only when it is used."""

# torch name -> DataType name; what this torch does not have is left out
_NAMES = {
    "float32": "FLOAT32", "float16": "FLOAT16", "bfloat16": "BFLOAT16", "int8": "INT8", "int16": "INT16",
    "int32": "INT32", "int64": "INT64", "uint8": "UINT8", "uint16": "UINT16", "uint32": "UINT32", "uint64": "UINT64",
    "bool": "BOOL", "float8_e4m3fn": "FP8E4M3FN", "float8_e8m0fnu": "FP8E8M0", "float4_e2m1fn_x2": "FP4E2M1",
}


def torch_dtype_to_datatype(dtype):
    """DataType of a torch dtype; KeyError for one that has none."""
    import torch
    from simpler.task_interface import DataType

    table = {getattr(torch, name): DataType[value] for name, value in _NAMES.items() if hasattr(torch, name)}
    if dtype not in table:
        raise KeyError(f"{dtype} has no DataType")
    return table[dtype]


def make_chip_tensor_arg(tensor):
    """ChipTensor of a torch tensor, whose memory it names and does not keep; ValueError unless CPU and contiguous."""
    from simpler.task_interface import ChipTensor

    if tensor.device.type != "cpu" or not tensor.is_contiguous():
        raise ValueError(f"a ChipTensor needs a contiguous CPU tensor; this one is on {tensor.device.type}, "
                         f"{'contiguous' if tensor.is_contiguous() else 'with gaps'}")
    return ChipTensor.make(tensor.data_ptr(), tuple(tensor.shape), torch_dtype_to_datatype(tensor.dtype))
