# SPDX-License-Identifier: MIT
"""Tensor, TaskArgs, CallConfig and callables: values that need no running chip (worker-api 4, 6, 9, 10)."""
import copy
import ctypes
import pickle
import struct

import numpy as np
import pytest
from simpler.buffer import Buffer
from simpler.task_interface import (ArgDirection, CallableHandle, CallConfig, ChipCallable, CoreCallable, DataType,
                                    RuntimeEnv, TaskArgs, Tensor, TensorArgType, TensorTransfer, read_args_from_blob,
                                    scalar_to_uint64)

from conftest import IN, OUT, SCALAR

F32 = DataType.FLOAT32


@pytest.fixture
def host(chip):
    return chip.create_buffer(64)


@pytest.fixture
def device(chip):
    return chip.malloc(64)


# ---- Tensor ----


def test_28_a_tensor_must_fit_its_buffer(host):
    tensor = Tensor(host, shapes=(16,), dtype=F32)
    assert (tensor.shapes, tensor.strides, tensor.dtype) == ((16,), (1,), F32)
    assert (tensor.ndims, tensor.byte_offset, tensor.numel, tensor.extent_bytes) == (1, 0, 16, 64)
    for bad in ({"shapes": (17,)}, {"shapes": (8,), "byte_offset": 2}, {"shapes": (16,), "byte_offset": 4},
                {"shapes": (1, 1, 1, 1, 1, 1)}, {"shapes": (1,), "strides": (0,)}, {"shapes": (0,)},
                {"shapes": ()}, {"shapes": (-1,)}, {"shapes": (2**64,)}, {"shapes": (2, 2), "strides": (1,)},
                {"shapes": (1,), "byte_offset": -4}):
        with pytest.raises(ValueError, match="invalid Tensor:"):
            Tensor(host, dtype=F32, **bad)


def test_29_extent_follows_the_strides(host):
    assert Tensor(host, shapes=(4,), strides=(5,), dtype=F32).extent_bytes == 64
    with pytest.raises(ValueError):
        Tensor(host, shapes=(4,), strides=(6,), dtype=F32)


def test_strides_default_to_row_major(host):
    tensor = Tensor(host, shapes=(2, 2, 4), dtype=F32)
    assert tensor.strides == (8, 4, 1) and tensor.is_contiguous()
    assert not Tensor(host, shapes=(2, 4), strides=(8, 1), dtype=F32).is_contiguous()


def test_shapes_may_be_any_sequence_of_integers(host):
    for shapes in ([4, 4], (np.int64(4), np.uint8(4)), np.array([4, 4]), range(4, 5)):
        assert Tensor(host, shapes=shapes, dtype=F32).shapes == tuple(int(n) for n in shapes)
    with pytest.raises(TypeError):
        Tensor(host, shapes=(1.5,), dtype=F32)
    with pytest.raises(TypeError):
        Tensor(host, shapes=4, dtype=F32)


def test_buffer_tensor_forwards(host):
    assert bytes(host.tensor((4,), F32, byte_offset=16)) == bytes(Tensor(host, shapes=(4,), dtype=F32, byte_offset=16))


def test_a_tensor_needs_a_buffer_and_its_keywords(host):
    with pytest.raises(TypeError, match="Buffer"):
        Tensor(b"x" * 64, shapes=(4,), dtype=F32)
    with pytest.raises(TypeError, match="shapes"):
        Tensor(host, dtype=F32)
    with pytest.raises(TypeError, match="dtype"):
        Tensor(host, shapes=(4,))
    with pytest.raises(TypeError, match="DataType"):
        Tensor(host, shapes=(4,), dtype=TensorArgType.INPUT)
    with pytest.raises(ValueError):
        Tensor(host, shapes=(4,), dtype=15)


def test_30_a_tensor_travels_as_144_bytes(host):
    raw = bytearray(Tensor(host, shapes=(2, 3), dtype=DataType.INT16, byte_offset=4).to_bytes())
    assert len(raw) == 144 and raw[:2] == b"\x42\x53"
    assert struct.unpack_from("<I", raw, 24) == (1,) and struct.unpack_from("<I", raw, 96) == (2,)
    assert raw[140] == DataType.INT16
    again = Tensor.from_bytes(raw)
    assert bytes(again) == bytes(raw) and again.shapes == (2, 3)
    raw[24:28] = bytes(4)
    with pytest.raises(ValueError, match="invalid BufferDescriptor:"):
        Tensor.from_bytes(raw)
    with pytest.raises(ValueError, match="143 bytes"):
        Tensor.from_bytes(bytes(143))


# ---- TaskArgs ----


def test_31_tensors_precede_scalars_and_indices_are_checked(host):
    args = TaskArgs()
    with pytest.raises(IndexError):
        args.tensor(0)
    args.add_scalar(1)
    with pytest.raises(RuntimeError):
        args.add_tensor(Tensor(host, shapes=(1,), dtype=F32))
    for read in (args.tensor, args.tag, args.transfer, lambda i: args.set_tag(i, TensorArgType.INPUT)):
        with pytest.raises(IndexError, match="tensor 0, there are 0"):
            read(0)
    for i in (1, -1, 2**70):
        with pytest.raises(IndexError, match="there are 1"):
            args.scalar(i)


def test_entries_can_be_read_and_cleared(host):
    args = TaskArgs()
    args.add_tensor(Tensor(host, shapes=(4,), dtype=F32), TensorArgType.INOUT)
    args.add_tensor(Tensor(host, shapes=(2,), dtype=F32))
    args.add_scalar(5)
    assert (args.tensor_count(), args.scalar_count(), len(args)) == (2, 1, 3)
    assert args.tag(0) is TensorArgType.INOUT and args.tag(1) is TensorArgType.INPUT
    assert args.tensor(1).shapes == (2,) and args.scalar(0) == 5
    args.set_tag(1, TensorArgType.NO_DEP)
    assert args.tag(1) is TensorArgType.NO_DEP
    args.clear()
    assert len(args) == 0


@pytest.mark.parametrize("value, word", [
    (1.0, 0x3F800000), (-1, 2**64 - 1), (ctypes.c_int32(-1), 2**64 - 1), (ctypes.c_double(1.0), 0x3FF0000000000000),
    (ctypes.c_float(1.0), 0x3F800000), (2**64 + 3, 3), (2**63, 2**63), (True, 1), (np.float32(1.0), 0x3F800000),
    (np.float64(1.0), 0x3F800000), (np.int8(-2), 2**64 - 2), (np.uint64(2**64 - 1), 2**64 - 1),
    (ctypes.c_uint8(200), 200), (np.float16(1.0), 0x3F800000),
])
def test_32_scalars_become_words(value, word):
    assert scalar_to_uint64(value) == word
    args = TaskArgs()
    args.add_scalar(value)
    assert args.scalar(0) == word


@pytest.mark.parametrize("value", ["1", None, [], b"x", object()])
def test_what_is_no_number_is_no_scalar(value):
    with pytest.raises(TypeError):
        scalar_to_uint64(value)


def test_33_blobs_are_checked(host):
    args = TaskArgs()
    args.add_tensor(Tensor(host, shapes=(4,), dtype=F32))
    args.add_tensor(Tensor(host, shapes=(8,), dtype=F32))
    args.add_scalar(9)
    blob = args.to_blob()
    assert len(blob) == 304
    again = read_args_from_blob(blob)
    assert again.tensor(1).shapes == (8,) and again.scalar(0) == 9 and again.to_blob() == blob
    with pytest.raises(RuntimeError):
        read_args_from_blob(blob[:303])
    with pytest.raises(RuntimeError):
        read_args_from_blob(struct.pack("<i", -1) + blob[4:])


def test_34_the_transfer_request_follows_the_backing(host, device):
    args = TaskArgs()
    args.add_tensor(Tensor(host, shapes=(4,), dtype=F32))
    args.add_tensor(Tensor(device, shapes=(4,), dtype=F32))
    args.add_tensor(Tensor(host, shapes=(4,), dtype=F32), transfer=TensorTransfer.NONE)
    assert [args.transfer(i) for i in range(3)] == [TensorTransfer.H2D, TensorTransfer.NONE, TensorTransfer.NONE]
    with pytest.raises(ValueError):
        args.add_tensor(Tensor(device, shapes=(4,), dtype=F32), transfer=TensorTransfer.H2D)
    for bad in (TensorTransfer.D2H, 7, -1):
        with pytest.raises(ValueError):
            args.add_tensor(Tensor(host, shapes=(4,), dtype=F32), transfer=bad)


def test_35_tags_need_their_grant_when_added_and_at_submit(chip):
    source = chip.malloc(64)
    readable = Buffer.wrap(source.base, 64, chip.device_location, 0)
    tensor = Tensor(readable, shapes=(16,), dtype=F32)
    args = TaskArgs()
    with pytest.raises(ValueError, match="not granted"):
        args.add_tensor(tensor, TensorArgType.OUTPUT_EXISTING)
    args.add_tensor(tensor, TensorArgType.INPUT)
    args.set_tag(0, TensorArgType.INOUT)
    args.add_scalar(1)
    with pytest.raises(ValueError, match="does not grant"):
        chip.submit(chip.handle("count"), args)


def test_add_tensor_takes_tensors_and_tags(host):
    args = TaskArgs()
    with pytest.raises(TypeError, match="takes a Tensor"):
        args.add_tensor(host)
    tensor = Tensor(host, shapes=(4,), dtype=F32)
    with pytest.raises(TypeError, match="TensorArgType"):
        args.add_tensor(tensor, ArgDirection.IN)
    with pytest.raises(ValueError):
        args.add_tensor(tensor, 17)
    with pytest.raises(TypeError, match="positional"):
        args.add_tensor(tensor, TensorArgType.INPUT, TensorTransfer.H2D)


# ---- CallConfig ----


def test_38_diagnostics_need_an_output_prefix():
    config = CallConfig()
    assert len(config.to_bytes()) == 1144 and not any(config.to_bytes())
    assert config.validate() is None
    config.enable_pmu = 2
    with pytest.raises(ValueError, match="output_prefix"):
        config.validate()
    config.output_prefix = "/tmp/x"
    config.validate()
    assert config.output_prefix == "/tmp/x"
    config.output_prefix = "p" * 1023
    config.validate()
    with pytest.raises(ValueError, match="1023"):
        config.output_prefix = "p" * 1024


def test_39_ring_overrides_broadcast_and_are_bounded():
    env = CallConfig().runtime_env
    env.ring_task_window = 8
    assert env.ring_task_window == [8, 8, 8, 8]
    env.ring_heap = [1024, 0, 2048, 0]
    assert env.ring_heap == [1024, 0, 2048, 0]
    with pytest.raises(ValueError, match="list of 4"):
        env.ring_task_window = [8, 8]
    with pytest.raises(ValueError):
        env.ring_heap = -1
    with pytest.raises(TypeError):
        env.ring_heap = "much"


@pytest.mark.parametrize("field, good, bad", [("ring_task_window", (0, 4, 2**30), (6, 2, 2**31)),
                                              ("ring_heap", (0, 1024), (1023,)),
                                              ("ring_dep_pool", (0, 4, 2**31 - 1), (3, 2**31))])
def test_39_ring_limits_are_checked_by_validate(field, good, bad):
    config = CallConfig()
    for value in good:
        setattr(config.runtime_env, field, value)
        config.validate()
    for value in bad:
        setattr(config.runtime_env, field, value)
        with pytest.raises(ValueError, match=field):
            config.validate()


def test_runtime_env_is_a_live_reference_that_outlives_its_config():
    config = CallConfig()
    env = config.runtime_env
    env.ring_heap = 4096
    assert config.runtime_env.ring_heap == [4096] * 4
    config.runtime_env.ring_heap = 2048
    assert env.ring_heap == [2048] * 4
    other = RuntimeEnv()
    other.ring_dep_pool, other.deps = 16, "raw"
    config.runtime_env = other
    assert env.ring_dep_pool == [16] * 4 and env.ring_heap == [0] * 4 and env.deps == "raw"
    del config
    assert env.ring_dep_pool == [16] * 4
    with pytest.raises(TypeError):
        CallConfig().runtime_env = {}
    with pytest.raises(ValueError, match="deps"):
        env.deps = "war"


def test_40_switches_clamp_and_true_selects_the_default_detail():
    config = CallConfig()
    for field, value, result in (("enable_chip_swimlane", True, 4), ("enable_chip_swimlane", 9, 4),
                                 ("enable_chip_swimlane", -1, 0), ("enable_chip_swimlane", False, 0),
                                 ("enable_dump_args", True, 1), ("enable_dump_args", 9, 3),
                                 ("enable_dep_gen", True, 1), ("enable_scope_stats", True, 1)):
        setattr(config, field, value)
        assert getattr(config, field) == result


def test_a_config_takes_fields_as_keywords_and_knows_no_others():
    config = CallConfig(aicpu_thread_num=3, output_prefix="x")
    assert (config.aicpu_thread_num, config.output_prefix) == (3, "x")
    with pytest.raises(AttributeError):
        CallConfig(block_dim=1)
    with pytest.raises(AttributeError):
        config.block_dim = 1
    with pytest.raises(AttributeError):
        del config.output_prefix
    with pytest.raises(TypeError):
        CallConfig(3)
    with pytest.raises(ValueError):
        config.aicpu_thread_num = 2**31


# ---- callables ----


def test_15_the_bytes_of_a_chip_callable():
    chip = ChipCallable.build(signature=[IN, OUT, SCALAR], func_name="f", binary=b"\x01\x02", children=[])
    raw = chip.to_bytes()
    assert (chip.sig_count, chip.scalar_count, chip.binary_size, chip.child_count) == (3, 1, 2, 0)
    assert (chip.func_name, chip.config_name) == ("f", "") and chip.sig(1) is OUT
    assert raw[9376] == 1 and struct.unpack_from("<I", raw, 1028) == (2,)
    assert struct.unpack_from("<i", raw, 1024) == (3,) and struct.unpack_from("<i", raw, 9292) == (0,)
    assert chip.buffer_size() == len(raw) and ctypes.string_at(chip.buffer_ptr(), len(raw)) == raw


def test_callables_are_copied_and_pickled_by_content():
    core = CoreCallable.build(signature=[IN], binary=b"kernel")
    chip = ChipCallable.build(signature=[IN], func_name="f", binary=b"orchestration", children=[(3, core)])
    for one in (core, chip):
        for other in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one)):
            assert type(other) is type(one) and other.to_bytes() == one.to_bytes()


def test_16_cached_bytes_give_the_same_callable():
    chip = ChipCallable.build(signature=[IN, OUT, SCALAR], func_name="f", binary=b"\x01\x02", children=[])
    again = ChipCallable.from_bytes(chip.to_bytes())
    assert again.scalar_count == 1 and again.to_bytes() == chip.to_bytes()
    for bad in (b"", chip.to_bytes()[:9000], b"\xff" * 10000):
        with pytest.raises(ValueError):
            ChipCallable.from_bytes(bad)


@pytest.mark.parametrize("signature, what", [([IN] * 257, "257.*256"), ([IN] + [SCALAR] * 129, "129.*128"),
                                             ([SCALAR, IN], "order|after|before"), ([9], "9")])
def test_17_chip_signatures_have_limits_and_an_order(signature, what):
    with pytest.raises(ValueError, match=what):
        ChipCallable.build(signature=signature, func_name="f", binary=b"x")
    assert ChipCallable.build(signature=[IN] * 256, func_name="f", binary=b"x").sig_count == 256


def test_18_children_are_aligned_and_readable():
    cores = [CoreCallable.build(signature=[IN] * n, binary=bytes([n]) * n) for n in (10, 20)]
    chip = ChipCallable.build(signature=[IN], func_name="f", binary=b"abc", children=[(4, cores[0]), (2, cores[1])])
    raw = chip.to_bytes()
    for i, n in ((0, 10), (1, 20)):
        assert chip.child_offset(i) % 64 == 0
        start = 9376 + chip.child_offset(i) + 192
        assert raw[start:start + n] == bytes([n]) * n
        assert chip.child(i).to_bytes() == cores[i].to_bytes()
        assert (chip.child(i).binary_size, chip.child(i).sig_count, chip.child(i).sig(n - 1)) == (n, n, IN)
    assert [chip.child_func_id(i) for i in (0, 1)] == [4, 2]
    for read in (chip.child, chip.child_func_id, chip.child_offset):
        for i in (2, -1):
            with pytest.raises(IndexError, match="there are 2"):
                read(i)
    with pytest.raises(IndexError):
        chip.sig(1)


def test_core_callables_have_limits():
    assert CoreCallable.from_bytes(CoreCallable.build(signature=[IN], binary=b"k").to_bytes()).binary_size == 1
    for signature in ([IN] * 33, [SCALAR] * 17):
        with pytest.raises(ValueError):
            CoreCallable.build(signature=signature, binary=b"k")
    with pytest.raises(TypeError):
        CoreCallable.build(signature=[], binary="text")
    with pytest.raises(TypeError, match="ArgDirection"):
        CoreCallable.build(signature=["IN"], binary=b"k")


def test_children_are_pairs_of_distinct_ids_and_kernels():
    core = CoreCallable.build(signature=[], binary=b"k")

    def build(children):
        return ChipCallable.build(signature=[], func_name="f", binary=b"x", children=children)

    for bad in ([core], [(0, b"k")], [(0, core, 1)], [("0", core)]):
        with pytest.raises(TypeError):
            build(bad)
    for bad in ([(0, core), (0, core)], [(-1, core)], [(2**31, core)], [(i, core) for i in range(1025)]):
        with pytest.raises(ValueError):
            build(bad)
    assert build([(i, core) for i in range(1024)]).child_count == 1024


def test_a_handle_cannot_be_changed():
    handle = CallableHandle()
    for name in ("hashid", "digest", "kind", "target_namespace"):
        with pytest.raises(AttributeError):
            setattr(handle, name, 1)
