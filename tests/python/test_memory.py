# SPDX-License-Identifier: MIT
"""Buffers, copies and storage of the caller (worker-api 5, 7, 8)."""
import array
import ctypes
import os
import subprocess
import sys

import numpy as np
import pytest
from simpler import Worker
from simpler.buffer import AccessMode, AddressSpace, BackendKind, Buffer
from simpler.task_interface import DataType, TaskArgs, Tensor, TensorArgType

from conftest import IN, Chip, arguments, open_gate, vector  # noqa: F401

INPUT = TensorArgType.INPUT
PATTERN = bytes(range(64))


def read(chip, buffer):
    data = bytearray(buffer.nbytes)
    chip.copy_from(data, buffer)
    return bytes(data)


@pytest.fixture
def dev(chip):
    buffer = chip.malloc(64)
    chip.copy_to(buffer, PATTERN)
    return buffer


def test_19_device_buffers_have_identities_of_one_owner(chip):
    a, b = chip.malloc(64), chip.malloc(64)
    assert (a.nbytes, a.address_space, a.backend_kind, a.access) == (
        64, AddressSpace.DEVICE, BackendKind.DEVICE_MALLOC, AccessMode.READWRITE)
    assert a.identity != b.identity and len({a.identity, b.identity}) == 2
    assert a.identity.owner_instance_id == b.identity.owner_instance_id and len(a.identity.owner_instance_id) == 8
    assert a.identity.generation == 1 and a.shm is None and not a.closed


def test_device_memory_is_zeroed_and_accounted(chip):
    before = chip.committed_device_memory()
    buffer = chip.malloc(1 << 20)
    assert chip.committed_device_memory() >= before + (1 << 20)
    assert not any(read(chip, buffer))
    chip.free(buffer)
    assert chip.committed_device_memory() == before
    with pytest.raises(IndexError):
        chip.committed_device_memory(1)


def test_20_a_freed_buffer_is_refused_even_at_the_same_address(chip, dev):
    chip.free(dev)
    with pytest.raises(ValueError):
        chip.free(dev)
    again = chip.malloc(64)
    with pytest.raises(ValueError):
        chip.copy_to(dev, PATTERN)
    chip.copy_to(again, PATTERN)


def test_21_bytes_come_back(chip, dev):
    src, dst = chip.create_buffer(64), chip.create_buffer(64)
    src.shm.buf[:] = PATTERN[::-1]
    chip.copy_to(dev, src)
    chip.copy_from(dst, dev)
    assert bytes(dst.shm.buf) == PATTERN[::-1]


def test_22_a_partial_copy_changes_its_range_only(chip, dev):
    chip.copy_to(dev, bytes(64), dst_offset=32, nbytes=16)
    assert read(chip, dev) == PATTERN[:32] + bytes(16) + PATTERN[48:]
    part = bytearray(16)
    chip.copy_from(part, dev, src_offset=8, dst_offset=12)
    assert part == bytes(12) + PATTERN[8:12]


def test_23_the_length_defaults_to_the_rest_of_the_host_side(chip, dev):
    chip.copy_to(dev, b"\xff" * 8, src_offset=6)
    assert read(chip, dev) == b"\xff" * 2 + PATTERN[2:]
    with pytest.raises(ValueError):
        chip.copy_to(dev, bytes(8), src_offset=9)


@pytest.mark.parametrize("offsets", [{"dst_offset": 56, "nbytes": 16}, {"dst_offset": 65, "nbytes": 0},
                                     {"dst_offset": -1, "nbytes": 1}, {"nbytes": -1}, {"src_offset": -1},
                                     {"nbytes": 65}, {"dst_offset": 2**64}, {"src_offset": -2**70}])
def test_24_copies_that_leave_a_side_are_refused(chip, dev, offsets):
    with pytest.raises(ValueError):
        chip.copy_to(dev, b"\xff" * 64, **offsets)
    assert read(chip, dev) == PATTERN


def test_24_an_empty_copy_at_the_end_is_fine(chip, dev):
    chip.copy_to(dev, b"x", dst_offset=64, nbytes=0)
    assert read(chip, dev) == PATTERN


def test_25_a_forged_interior_handle_is_refused(chip, dev):
    import struct

    raw = bytearray(dev.to_descriptor())
    assert len(raw) == 88 and struct.unpack_from("<Q", raw, 56) == (dev.base,)
    struct.pack_into("<Q", raw, 40, 32)
    struct.pack_into("<Q", raw, 56, dev.base + 32)
    with pytest.raises(ValueError):
        chip.copy_to(Buffer.from_descriptor(raw), bytes(32))
    assert read(chip, dev) == PATTERN
    chip.copy_to(Buffer.from_descriptor(dev.to_descriptor()), bytes(64))
    assert not any(read(chip, dev))
    for bad in (b"", bytes(88), raw[:-1]):
        with pytest.raises(ValueError, match="invalid BufferDescriptor:"):
            Buffer.from_descriptor(bad)


def test_26_read_only_memory_is_no_destination(chip, dev):
    frozen = np.zeros(64, np.uint8)
    frozen.flags.writeable = False
    for target in (bytes(64), memoryview(bytes(64)), frozen):
        with pytest.raises(TypeError):
            chip.copy_from(target, dev)
    host = chip.create_buffer(64)
    with pytest.raises(ValueError):
        chip.copy_to(host, dev)
    with pytest.raises(ValueError):
        chip.copy_from(dev, host)


@pytest.mark.parametrize("make", [bytearray, lambda b: np.frombuffer(b, np.float32).copy(),
                                  lambda b: array.array("H", b), lambda b: memoryview(bytearray(b)),
                                  lambda b: (ctypes.c_char * 64).from_buffer_copy(b),
                                  lambda b: np.frombuffer(b, np.uint8).copy().reshape(4, 16)])
def test_any_object_with_the_buffer_protocol_is_host_memory(chip, make):
    device, source, target = chip.malloc(64), make(PATTERN), make(bytes(64))
    chip.copy_to(device, source)
    chip.copy_from(target, device)
    assert bytes(target) == PATTERN


def test_memory_with_gaps_is_refused(chip, dev):
    with pytest.raises((ValueError, BufferError)):
        chip.copy_to(dev, np.zeros((8, 16), np.uint8)[:, ::2])
    for wrong in (64, None, "text"):
        with pytest.raises(TypeError):
            chip.copy_to(dev, wrong)
    with pytest.raises(TypeError, match="dst of copy_to"):
        chip.copy_to(bytearray(64), dev)


class FakeTorchTensor:
    """What torch has instead of the buffer protocol."""

    class device:
        type = "cpu"

    def __init__(self, data, contiguous=True, device="cpu"):
        self.data, self.contiguous, self.device = data, contiguous, type("device", (), {"type": device})

    def data_ptr(self):
        return ctypes.addressof((ctypes.c_char * len(self.data)).from_buffer(self.data))

    def numel(self):
        return len(self.data) // 2

    def element_size(self):
        return 2

    def is_contiguous(self):
        return self.contiguous


def test_torch_tensors_in_host_memory_are_copied(chip):
    device, source, target = chip.malloc(64), bytearray(PATTERN), bytearray(64)
    chip.copy_to(device, FakeTorchTensor(source))
    chip.copy_from(FakeTorchTensor(target), device)
    assert target == PATTERN
    for bad in (FakeTorchTensor(target, contiguous=False), FakeTorchTensor(target, device="cuda")):
        with pytest.raises(ValueError):
            chip.copy_to(device, bad)


def test_27_shared_memory_stays_mapped_while_it_is_viewed(chip):
    for size in (0, -1):
        with pytest.raises(ValueError):
            chip.create_buffer(size)
    buffer = chip.create_buffer(64)
    path = "/dev/shm/" + buffer.shm.name
    assert os.path.exists(path) and buffer.shm.size == 64
    view = buffer.shm.buf
    with pytest.raises(BufferError):
        buffer.close()
    assert buffer.closed and not os.path.exists(path)
    with pytest.raises(ValueError):
        Tensor(buffer, shapes=(16,), dtype=DataType.FLOAT32)
    with pytest.raises(ValueError):
        buffer.to_descriptor()
    view[0] = 1
    view.release()
    buffer.close()
    buffer.close()
    with pytest.raises(ValueError):
        buffer.shm.buf


def test_views_outlive_their_buffer_object(chip):
    array_ = np.frombuffer(chip.create_buffer(4 * 64).shm.buf, np.float32)
    array_[:] = 5
    assert array_.sum() == 320


def test_a_view_that_lives_makes_close_of_the_worker_report_it(programs):
    chip = Chip(programs)
    view = chip.create_buffer(64).shm.buf
    with pytest.raises(BufferError):
        chip.worker.close()
    view[0] = 1
    view.release()
    chip.worker.close()


@pytest.mark.parametrize("size", [0, -1, 2**62])
def test_device_memory_of_impossible_size_is_refused(chip, size):
    with pytest.raises((ValueError, RuntimeError)):
        chip.malloc(size)
    with pytest.raises(TypeError):
        chip.malloc(1.5)


@pytest.mark.parametrize("size", [-1, -2**70, 2**63 - 1, 2**64])
def test_a_refused_size_is_named_as_it_was_given(chip, size):
    for what, call in (("size", chip.malloc), ("nbytes", chip.create_buffer)):
        with pytest.raises(ValueError, match=f"cannot have {what} {size}$") as refusal:
            call(size)
        assert refusal.value.details["name"] == "BUFFER_SIZE"


def test_buffers_of_a_killed_process_are_removed_by_the_next_one():
    code = """
import os, sys
from simpler import Worker
worker = Worker(level=2, platform="a2a3sim", runtime="tensormap_and_ringbuffer")
worker.init()
print(worker.create_buffer(64).shm.name, flush=True)
if sys.argv[1] == "killed":
    os.kill(os.getpid(), 9)
sys.stdin.read()
worker.close()
"""

    def start(how):
        process = subprocess.Popen([sys.executable, "-c", code, how], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return process, "/dev/shm/" + process.stdout.readline().strip()

    alive, kept = start("alive")
    killed, left = start("killed")
    assert killed.wait() == -9 and os.path.exists(kept)
    third, own = start("alive")
    assert not os.path.exists(left) and os.path.exists(kept) and os.path.exists(own)
    for process in (alive, third):
        process.communicate()
        assert process.returncode == 0
    assert not os.path.exists(kept) and not os.path.exists(own)


def test_free_takes_device_buffers_of_this_worker(chip, programs):
    with pytest.raises(ValueError):
        chip.free(chip.create_buffer(64))
    with pytest.raises(TypeError):
        chip.free(64)
    other = Chip(programs)
    foreign = other.malloc(64)
    with pytest.raises(ValueError):
        chip.free(foreign)
    with pytest.raises(ValueError):
        chip.run(chip.handle("count"), arguments(foreign, scalars=(1,)))
    other.worker.close()
    with pytest.raises(ValueError):
        chip.copy_to(foreign, bytes(64))


def test_device_buffers_are_not_closed(chip, dev):
    with pytest.raises(ValueError):
        dev.close()
    assert read(chip, dev) == PATTERN


# ---- wrapped storage ----


@pytest.fixture
def storage():
    memory = np.zeros(64, np.float32)
    return memory


def test_a_wrapped_source_is_used_in_place(chip, storage):
    source = Buffer.wrap(address=storage.ctypes.data, nbytes=storage.nbytes, location=chip.device_location)
    assert source.address_space is AddressSpace.DEVICE and source.base == storage.ctypes.data
    chip.submit(chip.handle("count"), arguments(source, scalars=(2,))).result()
    assert (storage == 2).all()
    source.close()
    with pytest.raises(ValueError):
        chip.run(chip.handle("count"), arguments(Buffer.from_descriptor(source_bytes(chip, storage)), scalars=(1,)))


def source_bytes(chip, storage):
    """Descriptor of a source that was closed since."""
    source = Buffer.wrap(storage.ctypes.data, storage.nbytes, chip.device_location)
    raw = source.to_descriptor()
    source.close()
    return raw


def test_53_wrap_refuses_ranges_that_are_none(chip, storage):
    address, location = storage.ctypes.data, chip.device_location
    for bad in ({"address": True}, {"address": 1.5}, {"nbytes": True}, {"nbytes": None}):
        with pytest.raises(TypeError):
            Buffer.wrap(**{"address": address, "nbytes": 16, "location": location, **bad})
    for bad in ({"address": 0}, {"nbytes": 0}, {"address": 2**64 - 8, "nbytes": 16}, {"address": 2**64},
                {"address": -1}):
        with pytest.raises(ValueError):
            Buffer.wrap(**{"address": address, "nbytes": 16, "location": location, **bad})
    with pytest.raises(TypeError, match="device_location"):
        Buffer.wrap(address, 16, 0)
    with pytest.raises(ValueError):
        Buffer.wrap(address, 16, location, 3)
    first = Buffer.wrap(address, 16, location)
    with pytest.raises(ValueError, match="overlaps"):
        Buffer.wrap(address + 15, 16, location)
    first.close()
    Buffer.wrap(address + 15, 16, location).close()


def test_54_a_source_in_flight_cannot_be_closed_and_a_new_one_is_another(chip, storage):
    source = Buffer.wrap(storage.ctypes.data, storage.nbytes, chip.device_location)
    gate = chip.malloc(4)
    args = arguments(source, (gate, INPUT))
    run = chip.submit(chip.handle("gated"), args)
    with pytest.raises(RuntimeError, match="in-flight"):
        source.close()
    open_gate(gate)
    run.result()
    source.close()
    again = Buffer.wrap(storage.ctypes.data, storage.nbytes, chip.device_location)
    assert again.identity != source.identity
    with pytest.raises(ValueError):
        chip.submit(chip.handle("gated"), args)
    again.close()


def test_55_a_location_belongs_to_one_living_worker(programs, chip, storage):
    other = Chip(programs)
    location = other.device_location
    source = Buffer.wrap(storage.ctypes.data, storage.nbytes, location)
    with pytest.raises(ValueError):
        chip.submit(chip.handle("count"), arguments(source, scalars=(1,)))
    other.worker.close()
    with pytest.raises(ValueError, match="live device context"):
        Buffer.wrap(storage.ctypes.data + 1024, 16, location)
    with pytest.raises(ValueError, match="live device context"):
        source.to_descriptor()


def test_56_worker_operations_do_not_manage_wrapped_storage(chip, storage):
    source = Buffer.wrap(storage.ctypes.data, storage.nbytes, chip.device_location)
    for operation in (lambda: chip.free(source), lambda: chip.copy_to(source, bytes(4)),
                      lambda: chip.copy_from(bytearray(4), source)):
        with pytest.raises(ValueError):
            operation()
    source.close()


def test_grants_bound_what_a_wrapped_source_can_be_used_for(chip, storage):
    source = Buffer.wrap(storage.ctypes.data, storage.nbytes, chip.device_location, access=AccessMode.READ)
    args = TaskArgs()
    with pytest.raises(ValueError, match="not granted"):
        args.add_tensor(vector(source), TensorArgType.INOUT)
    args.add_tensor(vector(source), INPUT)
    source.close()


def test_the_location_needs_an_initialized_worker():
    worker = Worker(level=2, platform="a2a3sim", runtime="tensormap_and_ringbuffer")
    with pytest.raises(RuntimeError):
        worker.device_location
    worker.close()
