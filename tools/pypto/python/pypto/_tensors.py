# SPDX-License-Identifier: MIT
"""Arrays of several makers as arguments and results of runs."""
import struct
import sys


class Element:
    """An element type: bytes, and what others call it."""

    __slots__ = ("name", "size", "simpler_name", "numpy_name", "torch_name")

    def __init__(self, name, size, simpler_name, numpy_name, torch_name):
        self.name, self.size, self.simpler_name = name, size, simpler_name
        self.numpy_name, self.torch_name = numpy_name, torch_name

    def simpler(self):
        from simpler.task_interface import DataType
        return DataType[self.simpler_name]


DTYPES = {row[0]: Element(*row) for row in (
    ("BOOL", 1, "BOOL", "bool", "bool"), ("INT8", 1, "INT8", "int8", "int8"), ("INT16", 2, "INT16", "int16", "int16"),
    ("INT32", 4, "INT32", "int32", "int32"), ("INT64", 8, "INT64", "int64", "int64"),
    ("INDEX", 8, "INT64", "int64", "int64"), ("UINT8", 1, "UINT8", "uint8", "uint8"),
    ("UINT16", 2, "UINT16", "uint16", "uint16"), ("UINT32", 4, "UINT32", "uint32", "uint32"),
    ("UINT64", 8, "UINT64", "uint64", "uint64"), ("FP16", 2, "FLOAT16", "float16", "float16"),
    ("FP32", 4, "FLOAT32", "float32", "float32"), ("BF16", 2, "BFLOAT16", "uint16", "bfloat16"),
    ("FP8E4M3FN", 1, "FP8E4M3FN", "uint8", "float8_e4m3fn"), ("FP8E5M2", 1, "UINT8", "uint8", "float8_e5m2"),
    ("FP8E8M0", 1, "FP8E8M0", "uint8", "float8_e8m0fnu"))}


# What the buffer protocol calls them; plain bytes may be of any type
_BUFFER_NAMES = {"?": "bool", "b": "int8", "h": "int16", "i": "int32", "q": "int64", "l": "int64", "H": "uint16", "I": "uint32",
                 "Q": "uint64", "L": "uint64", "e": "float16", "f": "float32", "d": "float64", "B": None, "c": None}


def _kind(value):
    shape = getattr(value, "shape", None)
    return f"{type(value).__name__} of shape {list(shape)}" if shape else f"{value!r}" if isinstance(value, str) else \
        type(value).__name__


def check_number(name, dtype, value):
    """TypeError unless @value is one number that can be of @dtype."""
    try:
        if not isinstance(value, (str, bytes)) and (dtype in ("FP32", "FP16", "BF16") and float(value) is not None or
                                                    int(value) == value):
            return
    except (TypeError, ValueError, OverflowError):
        pass
    raise TypeError(f"argument '{name}' is {dtype}, got "
                    f"{repr(value) if isinstance(value, (int, float)) else _kind(value)}")


def check_array(name, type_, value):
    """TypeError when @value is what no array is."""
    if value is None or isinstance(value, (str, int, float, complex, list, tuple, dict)):
        raise TypeError(f"argument '{name}' is {type_}, got {_kind(value)}, which is no array")


def as_array(value):
    """An object that says where its memory is only by __dlpack__ or __array_interface__, or makes an array, as numpy's."""
    if hasattr(value, "data_ptr"):
        return value
    try:
        memoryview(value)
    except TypeError:
        if hasattr(value, "__dlpack__"):
            import numpy
            return numpy.from_dlpack(value)
        if hasattr(value, "__array_interface__") or hasattr(value, "__array__"):
            import numpy
            return numpy.asarray(value)
    except (ValueError, BufferError):
        pass  # elements of a kind that buffers have no name for
    return value


def shares_memory(a, b):
    """Whether two arguments are arrays with memory in common, as far as their bounds tell; also when nothing does."""
    if a is b:
        return True
    try:
        import numpy
        return numpy.may_share_memory(numpy.asarray(a), numpy.asarray(b))
    except Exception:
        return True


def expected(params):
    """The list of parameters for messages."""
    return ", ".join(f"{p.name}: {p.type}" for p in params)


def _single_bits(value, to_odd=False):
    """FP32 nearest to a number; or, for another rounding to follow, the odd one of the two around it."""
    try:
        bits, = struct.unpack("I", struct.pack("f", value))
    except OverflowError:  # further than half a step beyond the largest
        bits = 0x7f800000 if value > 0 else 0xff800000
    near, = struct.unpack("f", struct.pack("I", bits))
    if to_odd and near != value and near == near:
        bits = (bits - (abs(near) > abs(value))) | 1
    return bits


def _half_bits(value):
    try:
        return struct.unpack("H", struct.pack("e", value))[0]
    except OverflowError:
        return 0x7c00 if value > 0 else 0xfc00


def _brain_bits(value):
    bits = _single_bits(value, to_odd=True)
    return bits >> 16 | 0x40 if value != value else (bits + 0x7fff + (bits >> 16 & 1)) >> 16


def _number_bits(name, dtype, value):
    """The bits of a scalar argument: floats are rounded to the nearest, ties to even (decision D10)."""
    if dtype in ("FP32", "FP16", "BF16"):
        value = float(value)
        return _single_bits(value) if dtype == "FP32" else _half_bits(value) if dtype == "FP16" else _brain_bits(value)
    number = int(value)
    if number != value:
        raise TypeError(f"argument '{name}' is {dtype}, got {value!r}")
    size = 1 if dtype == "BOOL" else 8 * DTYPES[dtype].size
    low = 0 if dtype[0] in "UB" else -1 << (size - 1)
    if not low <= number < low + (1 << size):
        raise ValueError(f"argument '{name}': {number} does not fit into {dtype}")
    return number


def number_bits(name, dtype, value):
    """The same; TypeError for what is no such number."""
    try:
        return _number_bits(name, dtype, value)
    except (TypeError, ValueError, OverflowError):
        check_number(name, dtype, value)
        raise


def number(name, dtype, value):
    """A scalar argument as kernels see it."""
    bits = number_bits(name, dtype, value)
    if dtype == "FP16":
        return struct.unpack("e", struct.pack("H", bits))[0]
    if dtype in ("FP32", "BF16"):
        return struct.unpack("f", struct.pack("I", bits << 16 if dtype == "BF16" else bits))[0]
    return bits


class Word:
    """A scalar argument as the 64-bit word of the runtime."""

    def __init__(self, name, dtype, position, fixed):
        self.name, self.dtype, self.position, self.fixed = name, dtype, position, fixed

    def value(self, args):
        if self.position is None:
            return self.fixed
        return number_bits(self.name, self.dtype, args[self.position])


class Host:
    """A tensor argument or result: its device memory, and how host arrays get there and back."""

    def __init__(self, name, dtype, shape, access, position):
        self.name, self.element, self.shape, self.access, self.position = name, DTYPES[dtype], shape, access, position
        self.nbytes = self.element.size
        for extent in shape:
            self.nbytes *= extent
        self.buffer = self.view = self.own = self._class = self._known = None

    def send(self, worker, array):
        """Copies to the device. What was looked at once is trusted by its dtype object."""
        if array.__class__.__name__ == "Tensor" and hasattr(array, "extent_bytes"):
            self._use(array)
            return
        if self.own is not None:
            self.view, self.own = self.own, None
        if self._looked_at(array) and array.shape == self.shape and (self.access == "in" or array.flags.writeable):
            try:
                worker.copy_to(self.buffer, array)
                return
            except ValueError:
                pass  # it has gaps
        worker.copy_to(self.buffer, self._memory(array, self.access != "in"))

    def receive(self, worker, array):
        if self.own is not None:
            return
        worker.copy_from(array if self._looked_at(array) else self._memory(array, True), self.buffer)

    def _looked_at(self, array):
        """Whether send() has seen an array of this class and dtype: there is one object of either, of numpy's."""
        return self._class is not None and array.__class__ is self._class and array.dtype is self._known

    def _use(self, tensor):
        """A tensor that is on the chip already."""
        if tuple(tensor.shapes) != (self.shape or (1,)) or tensor.dtype != self.element.simpler():
            raise ValueError(f"argument '{self.name}' needs {list(self.shape)} of {self.element.name}, got "
                             f"{list(tensor.shapes)} of {tensor.dtype.name}")
        if self.own is None:
            self.own = self.view
        self.view = tensor

    def new(self, worker, like):
        """A new array with what is in device memory; a torch tensor when @like is one."""
        torch = sys.modules.get("torch")
        if like is not None and torch is not None and isinstance(like, torch.Tensor):
            out = torch.empty(self.shape, dtype=getattr(torch, self.element.torch_name))
            worker.copy_from(self._memory(out, True), self.buffer)
            return out
        try:
            import numpy
        except ImportError:
            out = bytearray(self.nbytes)
            worker.copy_from(out, self.buffer)
            return memoryview(out)
        out = numpy.empty(self.shape, self.element.numpy_name)
        worker.copy_from(out, self.buffer)
        return out

    # ---- What an array is ----

    def _memory(self, array, written):
        """Something with the buffer protocol over the array's memory."""
        if hasattr(array, "data_ptr"):
            return self._pointer(array)
        try:
            view = memoryview(array)
        except TypeError:
            return self._converted(array, written)
        if not view.c_contiguous and not written:
            return self._memory(self._contiguous(array), False)
        if not view.c_contiguous or (written and view.readonly):
            raise ValueError(f"argument '{self.name}' is written: it must be {'contiguous' if not view.c_contiguous else 'writable'}")
        dtype = getattr(array, "dtype", None)
        self._check(view.shape, view.itemsize, dtype or _BUFFER_NAMES.get(view.format.lstrip("@=<"), view.format))
        if hasattr(array, "dtype") and type(array).__module__ == "numpy":
            self._class, self._known = array.__class__, array.dtype
        return array

    def _check(self, shape, size, dtype):
        name = str(dtype).rpartition(".")[2] if dtype is not None else None
        good = name is None or name in (self.element.numpy_name, self.element.torch_name)
        if tuple(shape) != self.shape or size != self.element.size or not good:
            raise ValueError(f"argument '{self.name}' needs {list(self.shape)} of {self.element.name}, got {list(shape)} of "
                             f"{name or f'{size} bytes each'}")

    def _pointer(self, array):
        """torch tensors, and what looks like one: at least shape, dtype and data_ptr()."""
        import ctypes
        device = str(getattr(array, "device", "cpu"))
        if device != "cpu" or (hasattr(array, "is_contiguous") and not array.is_contiguous()):
            raise ValueError(f"argument '{self.name}' must be contiguous and on the CPU; it is on {device}")
        size = array.element_size() if hasattr(array, "element_size") else self.element.size
        self._check(tuple(array.shape), size, array.dtype)
        return (ctypes.c_char * self.nbytes).from_address(array.data_ptr())

    @staticmethod
    def _contiguous(array):
        import numpy
        return numpy.ascontiguousarray(array)

    def _converted(self, array, written):
        """Objects with __dlpack__ or __array__; they cannot be written through."""
        if written:
            raise TypeError(f"argument '{self.name}' is written: {type(array).__name__} gives no way to its memory")
        made = as_array(array)
        if made is array:
            raise TypeError(f"argument '{self.name}' must be an array, got {type(array).__name__}")
        return self._memory(made, False)
