# SPDX-License-Identifier: MIT
"""simpler-smi on trees that look like sysfs and procfs of a machine with two chips."""
import json
import os
import re
import struct
import subprocess

import pytest

SMI = os.path.join(os.environ.get("SIMPLER_BUILD_DIR", "build"), "bin", "simpler-smi")
pytestmark = pytest.mark.skipif(not os.path.exists(SMI), reason="not built: libnl or libkmod is missing")

ATTRIBUTES = {
    "arch": "a2a3", "hw_version": "1.1", "clusters": 24, "health": "ok", "generation": 3, "resets": 1,
    "memory_total": 4 << 30, "memory_used": 96 << 20, "files": 2, "contexts": 1, "streams": 4, "temperature": 45500,
    "power": 90000, "ecc_corrected": 7, "ecc_uncorrected": 0,
}
FDINFO = """pos:\t0
flags:\t02100002
mnt_id:\t25
ino:\t301
drm-driver:\t{driver}
drm-client-id:\t{client}
drm-pdev:\t{address}
drm-engine-npu:\t{busy} ns
drm-total-device:\t{device} KiB
drm-resident-device:\t{device} KiB
drm-shared-device:\t0 KiB
drm-total-host:\t64 KiB
simpler-charged-device:\t{device} KiB
simpler-pinned-host:\t16 KiB
simpler-context:\t0
simpler-context-state:\t1
simpler-streams:\t4
"""


class Machine:
    """A root folder for --root."""

    def __init__(self, path):
        self.path = path
        (path / "sys/class/accel").mkdir(parents=True)
        (path / "sys/bus/pci/drivers").mkdir(parents=True)
        (path / "proc").mkdir()

    def device(self, number, address, driver="simpler", **changes):
        folder = self.path / f"sys/devices/pci0000:00/{address}"
        (folder / "simpler").mkdir(parents=True)
        for name, value in {**ATTRIBUTES, **changes}.items():
            if value is not None:
                (folder / "simpler" / name).write_text(f"{value}\n")
        (folder / "simpler/reset_device").write_text("")
        module = self.path / "sys/bus/pci/drivers" / driver
        module.mkdir(exist_ok=True)
        (folder / "driver").symlink_to(module)
        node = self.path / f"sys/class/accel/accel{number}"
        node.mkdir()
        (node / "device").symlink_to(folder)
        return folder

    def file(self, pid, fd, command="server", driver="simpler", client=1, address="0000:00:04.0", busy=1500000000,
             device=2048):
        process = self.path / "proc" / str(pid)
        (process / "fdinfo").mkdir(parents=True, exist_ok=True)
        (process / "comm").write_bytes(command.encode("latin-1") + b"\n")
        (process / "fdinfo" / str(fd)).write_text(
            FDINFO.format(driver=driver, client=client, address=address, busy=busy, device=device))


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


@pytest.fixture
def two_chips(machine):
    machine.device(1, "0000:00:05.0", arch="a5", health="wedged")
    machine.device(0, "0000:00:04.0")
    return machine


def smi(machine, *args, code=0):
    run = subprocess.run([SMI, f"--root={machine.path}", *args], capture_output=True, text=True, timeout=60)
    assert run.returncode == code, (run.returncode, run.stdout, run.stderr)
    return run


def listed(machine):
    return json.loads(smi(machine, "--json").stdout)


def test_json_has_a_schema_version_and_every_attribute(two_chips):
    out = listed(two_chips)
    assert out["schema_version"] == 1
    first = out["devices"][0]
    assert first == {
        "accel": 0, "address": "0000:00:04.0", "arch": "a2a3", "health": "ok", "hw_version": "1.1", "clusters": 24,
        "memory_total_bytes": 4 << 30, "memory_used_bytes": 96 << 20, "temperature_millicelsius": 45500,
        "power_milliwatts": 90000, "ecc_corrected": 7, "ecc_uncorrected": 0, "files": 2, "contexts": 1, "streams": 4,
        "generation": 3, "resets": 1, "processes": [],
    }


def test_chips_are_listed_by_number(machine):
    for number in (10, 2, 0):
        machine.device(number, f"0000:00:{number + 4:02x}.0")
    assert [d["accel"] for d in listed(machine)["devices"]] == [0, 2, 10]


def test_chips_of_other_drivers_are_left_out(two_chips):
    two_chips.device(2, "0000:00:06.0", driver="ivpu")
    assert [d["accel"] for d in listed(two_chips)["devices"]] == [0, 1]


def test_an_attribute_that_cannot_be_read_is_null_not_zero(machine):
    machine.device(0, "0000:00:04.0", temperature=None, power="many")
    first = listed(machine)["devices"][0]
    assert first["temperature_millicelsius"] is None
    assert first["power_milliwatts"] is None
    assert first["clusters"] == 24
    assert "?" in smi(machine).stdout


def test_processes_are_told_per_chip(two_chips):
    two_chips.file(300, 5, client=7)
    two_chips.file(41, 9, command="other", client=8, address="0000:00:05.0", device=1)
    devices = listed(two_chips)["devices"]
    assert devices[0]["processes"] == [{
        "pid": 300, "command": "server", "client_id": 7, "context": "ready", "busy_ns": 1500000000,
        "device_bytes": 2 << 20, "host_bytes": 64 << 10, "pinned_bytes": 16 << 10, "streams": 4,
    }]
    assert [p["pid"] for p in devices[1]["processes"]] == [41]


def test_a_file_shared_by_descriptors_and_processes_counts_once(two_chips):
    for pid, fd in ((300, 5), (300, 6), (301, 5)):
        two_chips.file(pid, fd, client=7)
    assert len(listed(two_chips)["devices"][0]["processes"]) == 1


def test_two_files_of_one_process_are_two_lines(two_chips):
    two_chips.file(300, 5, client=7)
    two_chips.file(300, 6, client=9)
    assert [p["client_id"] for p in listed(two_chips)["devices"][0]["processes"]] == [7, 9]


def test_files_of_other_drivers_and_unknown_chips_are_no_users(two_chips):
    two_chips.file(300, 5, driver="amdgpu")
    two_chips.file(301, 5, driver="simpler2")
    two_chips.file(302, 5, address="0000:99:00.0")
    (two_chips.path / "proc/303/fdinfo").mkdir(parents=True)
    (two_chips.path / "proc/303/fdinfo/0").write_text("pos:\t0\nflags:\t0100002\n")
    (two_chips.path / "proc/meminfo").write_text("MemTotal: 1 kB\n")
    assert all(not d["processes"] for d in listed(two_chips)["devices"])


def test_names_of_processes_cannot_break_the_json(two_chips):
    two_chips.file(300, 5, command='a"b\\c\x01\xe9')
    assert listed(two_chips)["devices"][0]["processes"][0]["command"] == 'a"b\\c\x01\xe9'


def test_the_table_shows_chips_and_processes(two_chips):
    two_chips.file(300, 5)
    out = smi(two_chips).stdout
    assert re.search(r"^ +0 +0000:00:04.0 +a2a3 +ok +96.0 / 4096.0 MiB +45.5 C +90.0 W", out, re.M)
    assert re.search(r"^ +1 +0000:00:05.0 +a5 +wedged", out, re.M)
    assert re.search(r"^ +0 +300 +server +ready +1.50 s +- +2.0 +0.1 +0.0 +4$", out, re.M)


def test_names_of_processes_cannot_reach_the_terminal(two_chips):
    two_chips.file(300, 5, command="a\x1b[2Jb\x7f")
    assert "a?[2Jb?" in smi(two_chips).stdout


def test_watch_repeats_and_ends_after_count(two_chips):
    out = smi(two_chips, "--json", "--watch=0.01", "--count=3").stdout
    assert [json.loads(line)["schema_version"] for line in out.splitlines()] == [1, 1, 1]


def test_watch_shows_the_share_of_busy_time(two_chips):
    two_chips.file(300, 5)
    out = smi(two_chips, "--watch=0.01", "--count=2").stdout
    assert len(re.findall(r"server", out)) == 2
    assert re.search(r"1.50 s +0% ", out)


def test_no_chip_is_an_exit_code_of_its_own(machine):
    assert "simpler-smi module" in smi(machine, code=3).stderr
    assert json.loads(smi(machine, "--json", code=3).stdout) == {"schema_version": 1, "devices": []}


@pytest.mark.parametrize("args", [
    ("frobnicate",), ("list", "0"), ("reset",), ("reset", "0", "1"), ("events", "0"), ("module", "x"), ("--frob",),
    ("--watch=0",), ("--watch=-1",), ("--watch=nan",), ("--watch=1x",), ("--watch=1e9",), ("--count=0",),
    ("--count=-1",), ("--count=x",), ("--count=99999999999",),
])
def test_bad_usage_is_an_exit_code_of_its_own(two_chips, args):
    run = smi(two_chips, *args, code=2)
    assert run.stderr
    assert not run.stdout


def test_help_names_every_command(machine):
    out = smi(machine, "--help").stdout
    for word in ("list", "events", "reset", "module", "exit codes"):
        assert word in out


@pytest.mark.parametrize("name", ["1", "accel1", "0000:00:05.0"])
def test_reset_writes_to_the_chip_that_was_named(two_chips, name):
    smi(two_chips, "reset", name)
    devices = two_chips.path / "sys/devices/pci0000:00"
    assert (devices / "0000:00:05.0/simpler/reset_device").read_text() == "1\n"
    assert (devices / "0000:00:04.0/simpler/reset_device").read_text() == ""


@pytest.mark.parametrize("name", ["2", "accel", "accel01", "", "0000:00:05", "../accel0"])
def test_reset_of_an_unknown_chip_resets_none(two_chips, name):
    assert name in smi(two_chips, "reset", name, code=3).stderr
    for device in (two_chips.path / "sys/devices/pci0000:00").iterdir():
        assert (device / "simpler/reset_device").read_text() == ""


def test_a_reset_that_cannot_be_written_fails(two_chips):
    path = two_chips.path / "sys/devices/pci0000:00/0000:00:04.0/simpler/reset_device"
    path.unlink()
    assert "accel0" in smi(two_chips, "reset", "0", code=1).stderr


def module_of(machine, **files):
    folder = machine.path / "sys/module/simpler"
    (folder / "parameters").mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text + "\n")
    (folder / "parameters/job_timeout_ms").write_text("10000\n")
    (folder / "parameters/user_streams").write_text("Y\n")


def test_module_tells_state_version_and_parameters(machine):
    module_of(machine, initstate="live", version="0.1", srcversion="ABC", refcnt="2")
    out = json.loads(smi(machine, "module", "--json").stdout)
    assert out == {"schema_version": 1, "state": "live", "version": "0.1", "srcversion": "ABC", "refcnt": "2",
                   "parameters": out["parameters"]}
    assert out["parameters"] == {"job_timeout_ms": "10000", "user_streams": "Y"}
    assert re.search(r"^state +live$", smi(machine, "module").stdout, re.M)


def test_a_module_that_is_part_of_the_kernel_is_builtin(machine):
    module_of(machine)
    assert json.loads(smi(machine, "module", "--json").stdout)["state"] == "builtin"


def test_a_module_that_is_not_loaded_says_so(machine):
    run = smi(machine, "module", "--json", code=3)
    assert json.loads(run.stdout) == {"schema_version": 1, "state": "not loaded"}
    assert run.stderr


# ---- events ----

def attribute(kind, payload):
    size = 4 + len(payload)
    return struct.pack("=HH", size, kind) + payload + b"\0" * (-size % 4)


def message(command, *attributes):
    body = struct.pack("=BBH", command, 1, 0) + b"".join(attributes)
    return struct.pack("=IHHII", 16 + len(body), 0x1c, 0, 0, 0) + body


def numbers(header):
    """Values of an enum of uapi/simpler_netlink.h, by name."""
    folder = os.path.join(os.path.dirname(__file__), "..", "..", "uapi", "simpler_netlink.h")
    text = open(folder).read()
    body = re.search(rf"enum {header} \{{(.*?)\}};", text, re.S)[1]
    names = re.findall(r"^\s*(\w+),", body, re.M)
    return {name: value for value, name in enumerate(names)}


COMMANDS, ATTRS = numbers("simpler_nl_command"), numbers("simpler_nl_attribute")


def u32(name, value):
    return attribute(ATTRS["SIMPLER_NL_ATTR_" + name], struct.pack("=I", value & 0xffffffff))


def u64(name, value):
    return attribute(ATTRS["SIMPLER_NL_ATTR_" + name], struct.pack("=Q", value))


def text(name, value):
    return attribute(ATTRS["SIMPLER_NL_ATTR_" + name], value.encode() + b"\0")


def replay(machine, data, *args, code=0):
    (machine.path / "recording").write_bytes(data)
    return smi(machine, "events", f"--replay={machine.path}/recording", *args, code=code)


def test_events_are_lines_with_their_attributes(machine):
    data = message(COMMANDS["SIMPLER_NL_CMD_RESET_EVENT"], u32("DEVICE_ID", 1), text("DEVICE_NAME", "0000:00:05.0"),
                   u32("GENERATION", 4), u32("RESETS", 2), u32("RESULT", -5), text("REASON", "its heart stood still"))
    data += message(COMMANDS["SIMPLER_NL_CMD_BAN_EVENT"], u32("DEVICE_ID", 0), u32("CONTEXT_ID", 3), u32("PID", 77),
                    u32("FAULT_CODE", 2), u64("FAULT_ADDRESS", 0x1000))
    assert replay(machine, data).stdout.splitlines() == [
        'reset accel=1 address="0000:00:05.0" generation=4 resets=2 result=-5 reason="its heart stood still"',
        "ban accel=0 context=3 pid=77 fault=2 fault_address=0x1000",
    ]
    events = [json.loads(line) for line in replay(machine, data, "--json").stdout.splitlines()]
    assert events[0] == {"schema_version": 1, "event": "reset", "accel": 1, "address": "0000:00:05.0", "generation": 4,
                         "resets": 2, "result": -5, "reason": "its heart stood still"}
    assert events[1]["fault_address"] == 0x1000


def test_every_event_of_the_family_has_a_name(machine):
    events = {name: value for name, value in COMMANDS.items() if name.endswith("_EVENT")}
    assert len(events) >= 6
    for name, value in events.items():
        out = json.loads(replay(machine, message(value, u32("DEVICE_ID", 0)), "--json").stdout)
        assert out["event"] == name[len("SIMPLER_NL_CMD_"):-len("_EVENT")].lower()


def test_messages_that_are_no_events_and_unknown_attributes_are_skipped(machine):
    data = message(COMMANDS["SIMPLER_NL_CMD_DEVICE_GET"], u32("DEVICE_ID", 0)) + message(200, u32("DEVICE_ID", 0))
    data += message(COMMANDS["SIMPLER_NL_CMD_ADD_EVENT"], attribute(500, b"\1\2\3\4"), u32("DEVICE_ID", 0))
    data += message(COMMANDS["SIMPLER_NL_CMD_ADD_EVENT"], attribute(ATTRS["SIMPLER_NL_ATTR_DEVICE_ID"], b"\1\2"))
    assert replay(machine, data).stdout.splitlines() == ["add accel=0", "add"]


def test_texts_of_events_cannot_break_the_json(machine):
    data = message(COMMANDS["SIMPLER_NL_CMD_RESET_EVENT"], text("REASON", '"\n\\'))
    assert json.loads(replay(machine, data, "--json").stdout)["reason"] == '"\n\\'


@pytest.mark.parametrize("data", [
    b"\1", struct.pack("=IHHII", 64, 0x1c, 0, 0, 0), struct.pack("=IHHII", 4, 0, 0, 0, 0),
])
def test_a_cut_recording_fails(machine, data):
    assert "no netlink message" in replay(machine, data, code=1).stderr


def test_a_recording_that_does_not_exist_fails(machine):
    assert smi(machine, "events", "--replay=/nonexistent", code=1).stderr
