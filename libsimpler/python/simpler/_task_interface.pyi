# SPDX-License-Identifier: MIT
"""Python types over libsimpler.

Errors of the library become the exception class named below; every such exception has an attribute `details`, a dict
with code, name, text, hint and, for failed runs, chip, core, func_id, task, address, pc and phase.
"""
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from typing import Any, NamedTuple, SupportsFloat, SupportsIndex

MAX_TENSOR_DIMS: int

class ArgDirection(IntEnum):
    """Direction of an operand in a signature."""

    SCALAR = 0
    IN = 1
    OUT = 2
    INOUT = 3

class TensorArgType(IntEnum):
    """What a run does with a tensor. OUTPUT_EXISTING is an output that the caller allocated."""

    INPUT = 0
    OUTPUT = 1
    INOUT = 2
    OUTPUT_EXISTING = 3
    NO_DEP = 4

class TensorTransfer(IntEnum):
    """How a HOST tensor reaches the chip: it stays (NONE), or is copied there (H2D). D2H is reserved and refused."""

    NONE = 0
    H2D = 1
    D2H = 2

class DataType(IntEnum):
    """Element types."""

    FLOAT32 = 0
    FLOAT16 = 1
    INT32 = 2
    INT16 = 3
    INT8 = 4
    UINT8 = 5
    BFLOAT16 = 6
    INT64 = 7
    UINT64 = 8
    UINT16 = 9
    UINT32 = 10
    BOOL = 11
    FP8E4M3FN = 12
    FP8E8M0 = 13
    FP4E2M1 = 14

class AddressSpace(IntEnum):
    HOST = 0
    DEVICE = 1

class AccessMode(IntEnum):
    """What runs may do with a buffer."""

    READ = 0
    WRITE = 1
    READWRITE = 2

class BackendKind(IntEnum):
    """How the storage of a buffer is made."""

    FORK_SHM = 0
    POSIX_SHM = 1
    VMM_WINDOW = 2
    REMOTE_SIDECAR = 3
    DEVICE_MALLOC = 4
    FORK_COW = 5

class CallableKind(IntEnum):
    CHIP_CALLABLE = 1
    PYTHON_SERIALIZED = 2
    PYTHON_IMPORT = 3

class CallableNamespace(IntEnum):
    LOCAL_CHIP = 1
    LOCAL_PYTHON = 2
    REMOTE_TASK_DISPATCHER = 3

class ExecutionContextRefused(RuntimeError):
    """The calling thread's current context is not the Worker's. Nothing changed; restore it and call again."""

class InitCancelled(RuntimeError):
    """Another thread closed the Worker while it was starting."""

class CanonicalIdentity(NamedTuple):
    """What a buffer is known by everywhere."""

    owner_instance_id: bytes
    buffer_id: int
    generation: int

class HostMemory:
    """Host memory of a Buffer; has the buffer protocol. While a view of it lives, the memory stays mapped."""

    buf: memoryview
    name: str
    size: int

class DeviceLocation:
    """Names the chip of one Worker in this process and incarnation; opaque, for Buffer.wrap()."""

class Buffer:
    """Storage that tensors name: device memory, shared host memory, or storage of the caller."""

    identity: CanonicalIdentity
    address_space: AddressSpace
    access: AccessMode
    backend_kind: BackendKind
    nbytes: int
    base: int
    shm: HostMemory | None
    closed: bool
    unlinked: bool

    def tensor(self, shapes: Sequence[int], dtype: DataType, strides: Sequence[int] | None = None,
               byte_offset: int = 0) -> Tensor:
        """The same as Tensor(self, ...)."""

    def close(self) -> None:
        """End the use of shared memory, or the registration of wrapped storage; idempotent.

        BufferError while a view of shm.buf lives (the name is gone then; call again to unmap), RuntimeError while a
        run uses the buffer, ValueError for device memory (Worker.free() releases that).
        """

    def to_descriptor(self) -> bytes:
        """The 88 bytes that name this buffer in messages; ValueError when it was released."""

    @staticmethod
    def from_descriptor(data: Any) -> Buffer:
        """A handle for a descriptor that was received; owns nothing. ValueError names the wrong field."""

    @staticmethod
    def wrap(address: int, nbytes: int, location: DeviceLocation, access: AccessMode = ...) -> Buffer:
        """Register device storage that the caller owns and keeps valid until close() succeeded.

        ValueError for an empty or overlapping range, or the location of a closed Worker or another process.
        """

class Tensor:
    """A view of a Buffer, by value: allocates and transfers nothing, and does not keep the buffer.

    Up to 5 dimensions, all sizes and strides >= 1; strides are in elements and row-major by default; byte_offset is a
    multiple of the element size. ValueError says what is wrong.
    """

    shapes: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: DataType
    ndims: int
    byte_offset: int
    numel: int
    extent_bytes: int
    address_space: AddressSpace

    def __new__(cls, buffer: Buffer, *, shapes: Sequence[int], dtype: DataType, strides: Sequence[int] | None = None,
                byte_offset: int = 0) -> Tensor: ...
    def is_contiguous(self) -> bool:
        """Strides are row-major in every dimension larger than 1."""

    def to_bytes(self) -> bytes:
        """The 144 bytes that travel."""

    def __bytes__(self) -> bytes: ...
    @staticmethod
    def from_bytes(data: Any) -> Tensor:
        """Inverse of to_bytes(); everything is checked."""

class ChipTensor:
    """A view with its address, for interfaces below Worker; Worker.run() takes Tensor."""

    data: int
    nbytes: int
    shapes: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: DataType

    @staticmethod
    def make(data: int, shapes: Sequence[int], dtype: DataType) -> ChipTensor:
        """A contiguous view of host memory at an address, which the caller keeps valid. ValueError as for Tensor."""

    def to_bytes(self) -> bytes:
        """The 72 bytes of its layout."""

class TaskHandle:
    """Names a task of an orchestration at level >= 3; not constructible."""

class TaskArgs:
    """Arguments of a run: tensors in the order of the signature, then scalars. A submit copies them."""

    def add_tensor(self, tensor: Tensor, tag: TensorArgType = ..., *, transfer: TensorTransfer | None = None) -> None:
        """Append a view. RuntimeError after a scalar; ValueError when the buffer does not grant what the tag needs."""

    def add_scalar(self, value: SupportsIndex | SupportsFloat | Any) -> None:
        """Append a 64-bit word: integers modulo 2**64, floats as 32-bit float bits, ctypes.c_double as 64 bits."""

    def add_dep(self, *handles: TaskHandle) -> None:
        """Level >= 3: wait for tasks and keep their resources."""

    def add_dep_wait(self, *handles: TaskHandle) -> None:
        """Level >= 3: wait for tasks."""

    def tensor(self, i: int, /) -> Tensor: ...
    def tag(self, i: int, /) -> TensorArgType: ...
    def set_tag(self, i: int, tag: TensorArgType, /) -> None:
        """Change a tag; the grant is checked at submit."""

    def transfer(self, i: int, /) -> TensorTransfer:
        """The effective transfer request."""

    def scalar(self, i: int, /) -> int: ...
    def tensor_count(self) -> int: ...
    def scalar_count(self) -> int: ...
    def clear(self) -> None: ...
    def to_blob(self) -> bytes:
        """The bytes that travel; tags do not."""

    def __len__(self) -> int: ...

class RuntimeEnv:
    """Ring overrides, one entry per scope depth; 0 is unset. Assigning one number sets all four."""

    ring_task_window: list[int]
    ring_heap: list[int]
    ring_dep_pool: list[int]
    deps: str

class CallConfig:
    """Configuration of one run; all defaults are fine for an ordinary one."""

    aicpu_thread_num: int
    enable_chip_swimlane: int
    enable_dump_args: int
    enable_pmu: int
    enable_dep_gen: int
    enable_scope_stats: int
    output_prefix: str
    runtime_env: RuntimeEnv

    def __new__(cls, **fields: Any) -> CallConfig: ...
    def validate(self) -> None:
        """Check all fields, as every run and submit does; ValueError."""

    def to_bytes(self) -> bytes:
        """The 1144 bytes that travel."""

class CoreCallable:
    """A kernel."""

    sig_count: int
    binary_size: int

    @staticmethod
    def build(signature: Iterable[ArgDirection], binary: Any) -> CoreCallable: ...
    @staticmethod
    def from_bytes(raw: Any) -> CoreCallable: ...
    def to_bytes(self) -> bytes: ...
    def sig(self, i: int, /) -> ArgDirection: ...

class ChipCallable:
    """An orchestration with its kernels. Equal parts give equal bytes."""

    sig_count: int
    scalar_count: int
    binary_size: int
    child_count: int
    func_name: str
    config_name: str

    @staticmethod
    def build(signature: Iterable[ArgDirection], func_name: str, binary: Any,
              children: Iterable[tuple[int, CoreCallable]] = (), config_name: str = "") -> ChipCallable:
        """func_name is the exported orchestration symbol; the ids are those that the orchestration submits."""

    @staticmethod
    def from_bytes(raw: Any) -> ChipCallable:
        """Inverse of to_bytes(); ValueError for corrupt or truncated bytes."""

    def to_bytes(self) -> bytes: ...
    def buffer_ptr(self) -> int: ...
    def buffer_size(self) -> int: ...
    def sig(self, i: int, /) -> ArgDirection: ...
    def child(self, i: int, /) -> CoreCallable: ...
    def child_func_id(self, i: int, /) -> int: ...
    def child_offset(self, i: int, /) -> int: ...

class CallableHandle:
    """Names one registration at one Worker; one made by hand is refused everywhere (KeyError)."""

    hashid: str
    digest: bytes
    kind: CallableKind
    target_namespace: CallableNamespace

class RunHandle:
    """A run that was submitted. Dropping it is legal; Worker.close() waits for the run."""

    done: bool
    stats: dict[str, int]

    def wait(self, timeout: float | None = None) -> None:
        """Wait for the run and raise its error, the same for every caller and every time.

        TimeoutError leaves the run going, and so does KeyboardInterrupt: the call can be repeated. ValueError for a
        timeout (seconds) that is negative or not finite.
        """

    def result(self, timeout: float | None = None) -> None:
        """The same as wait()."""

class Worker:
    """Registers callables and runs them. Level 2 drives one chip.

    Keywords: platform ("a2a3sim", "a5sim", "a2a3", "a5"), runtime ("tensormap_and_ringbuffer"), device_id,
    enable_sdma. They are checked by init(). All methods may be called from any thread.
    """

    device_location: DeviceLocation
    level: int
    state: str

    def __new__(cls, level: int, **config: Any) -> Worker: ...
    def init(self, prewarm_config: CallConfig | None = None, *,
             borrowed_context_generation: int | None = None) -> None:
        """Open the chip and install the registered callables.

        KeyError for a missing, ValueError for an unknown platform or runtime or level; RuntimeError in a wrong state.
        """

    def close(self) -> None:
        """Wait up to 10 s for runs (TimeoutError), then release everything. Idempotent; put it in a finally."""

    def __enter__(self) -> Worker: ...
    def __exit__(self, *args: Any) -> None: ...
    def register(self, target: ChipCallable | Callable[..., Any], *,
                 workers: Sequence[int] | None = None) -> CallableHandle:
        """Make a callable known, before or after init(). RuntimeError when 64 different ones are registered."""

    def unregister(self, handle_or_slot: CallableHandle, /) -> None:
        """End a registration; KeyError for a stale or foreign handle."""

    def malloc(self, size: int, /) -> Buffer:
        """Allocate zeroed device memory."""

    def free(self, handle: Buffer, /) -> None:
        """Release device memory; ValueError for what is not a live allocation, RuntimeError while a run uses it."""

    def create_buffer(self, nbytes: int, /) -> Buffer:
        """Shared host memory, zeroed; view it through handle.shm.buf."""

    def copy_to(self, dst: Buffer, src: Buffer | Any, *, dst_offset: int = 0, src_offset: int = 0,
                nbytes: int | None = None) -> None:
        """Copy host memory (a Buffer, a torch tensor, anything with the buffer protocol) to a device Buffer.

        nbytes defaults to the rest of the host side. ValueError for what does not fit.
        """

    def copy_from(self, dst: Buffer | Any, src: Buffer, *, dst_offset: int = 0, src_offset: int = 0,
                  nbytes: int | None = None) -> None:
        """Copy a device Buffer to host memory; TypeError when that is read-only."""

    def committed_device_memory(self, worker_id: int = 0, /) -> int: ...
    def run(self, callable: CallableHandle, args: TaskArgs | None = None, config: CallConfig | None = None, *,
            caller_stream: int | None = None) -> None:
        """Run a registered callable and wait for it; raises the run's error (RuntimeError)."""

    def submit(self, callable: CallableHandle, args: TaskArgs | None = None, config: CallConfig | None = None, *,
               caller_stream: int | None = None) -> RunHandle:
        """Start a run. Two can be in flight; a third waits for the oldest. They execute in order."""

    def live_domains(self) -> dict[str, Any]: ...
    def alloc_child_tensor(self, *args: Any, **kwargs: Any) -> Buffer: ...
    def add_worker(self, *args: Any, **kwargs: Any) -> int: ...
    def add_remote_worker(self, *args: Any, **kwargs: Any) -> int: ...
    def remote_malloc(self, *args: Any, **kwargs: Any) -> Any: ...
    def remote_free(self, *args: Any, **kwargs: Any) -> Any: ...
    def remote_copy_to(self, *args: Any, **kwargs: Any) -> Any: ...
    def remote_copy_from(self, *args: Any, **kwargs: Any) -> Any: ...
    def remote_export(self, *args: Any, **kwargs: Any) -> Any: ...
    def remote_import(self, *args: Any, **kwargs: Any) -> Any: ...
    def remote_release_import(self, *args: Any, **kwargs: Any) -> Any: ...

def get_element_size(dtype: DataType | int, /) -> int:
    """Bytes of one element; 0 for an unknown type."""

def get_dtype_name(dtype: DataType | int, /) -> str:
    """Name of an element type, or "UNKNOWN"."""

def arg_direction_name(direction: ArgDirection | int, /) -> str:
    """Name of a direction, or "UNKNOWN"."""

def scalar_to_uint64(value: Any, /) -> int:
    """The word that TaskArgs.add_scalar() appends."""

def read_args_from_blob(blob: Any, /) -> TaskArgs:
    """TaskArgs from TaskArgs.to_blob(); RuntimeError for wrong sizes, ValueError for wrong tensors."""

def log_threshold() -> int:
    """Level below which the library writes no records."""

def log_set_threshold(level: int, /) -> None:
    """Change it; ValueError outside 0 to 60."""

def log_write(level: int, function: str, file: str, line: int, message: str, /) -> None:
    """Write one record to the library's log."""
