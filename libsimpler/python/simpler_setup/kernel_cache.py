# SPDX-License-Identifier: MIT
"""Objects that were compiled before, by everything that went into them.

An entry is a folder named after the hash of the command and the compiler. Its manifest lists all files that the
source included, with their hashes; when one differs, or anything in the entry does, the entry counts as absent.
"""
import functools
import hashlib
import json
import os
import re
import shutil
import tempfile
import time
import warnings

VERSION = 1
UNUSED_SECONDS = 14 * 86400


def default_folder():
    """SIMPLER_CACHE_DIR or its older name SIMPLER_KERNEL_CACHE (empty: no cache), or a folder in the user's cache."""
    chosen = os.environ.get("SIMPLER_CACHE_DIR", os.environ.get("SIMPLER_KERNEL_CACHE"))
    if chosen is not None:
        return chosen
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "simpler", "kernels")


def _sha256(data):
    return hashlib.sha256(data).hexdigest()


def _file_sha256(path):
    try:
        with open(path, "rb") as f:
            return _sha256(f.read())
    except OSError:
        return None


def read_dependencies(text):
    """Files of the one rule that the compiler wrote: `output: source header ...` with escaped blanks."""
    _, _, files = text.replace("\\\n", " ").partition(": ")
    return [re.sub(r"\\(.)", r"\1", name) for name in re.findall(r"(?:\\.|\S)+", files)]


class KernelCache:
    def __init__(self, folder):
        self.folder = folder

    def key(self, *inputs):
        return _sha256(json.dumps([VERSION, *inputs]).encode())

    def get(self, key):
        """The object, or None."""
        entry = os.path.join(self.folder, key)
        try:
            with open(os.path.join(entry, "manifest.json")) as f:
                manifest = json.load(f)
            if manifest["version"] != VERSION or manifest["key"] != key:
                return None
            with open(os.path.join(entry, manifest["sha256"]), "rb") as f:
                data = f.read()
            if _sha256(data) != manifest["sha256"]:
                return None
            if any(_file_sha256(path) != sha for path, sha in manifest["files"].items()):
                return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        try:
            os.utime(entry)  # used
        except OSError:
            pass  # a cache that is read only is never pruned
        return data

    def put(self, key, data, files):
        manifest = {"version": VERSION, "key": key, "size": len(data), "sha256": _sha256(data),
                    "files": {path: _file_sha256(path) for path in files}}
        entry = os.path.join(self.folder, key)
        try:
            os.makedirs(entry, exist_ok=True)
            _write(entry, manifest["sha256"], data)
            _write(entry, "manifest.json", json.dumps(manifest, indent=1).encode())
        except OSError as error:
            warnings.warn(f"kernels are not cached in {self.folder}: {error}; SIMPLER_CACHE_DIR names another folder", stacklevel=2)
            return
        prune(self.folder, "[0-9a-f]{64}")


def _write(folder, name, data):
    """Readers see the old file or the whole new one."""
    fd, path = tempfile.mkstemp(dir=folder)
    try:
        with os.fdopen(fd, "wb") as f:
            f.write(data)
        os.replace(path, os.path.join(folder, name))
    except BaseException:
        os.unlink(path)
        raise


@functools.lru_cache(maxsize=None)
def prune(folder, names):
    """Removes, once per process, the folders with these names (a pattern) that nobody used for long."""
    oldest = time.time() - UNUSED_SECONDS
    for entry in os.scandir(folder):
        try:
            if re.fullmatch(names, entry.name) and entry.stat().st_mtime < oldest:
                shutil.rmtree(entry.path, ignore_errors=True)
        except FileNotFoundError:
            pass  # another process prunes too
