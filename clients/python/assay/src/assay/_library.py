"""libassay's functions (engine/assay.h), by ctypes, which is in every Python. Calls release the GIL, but for those that
only read a verdict."""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, Structure, c_char, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from functools import lru_cache
from pathlib import Path
from typing import Any, Dict

OK, RETRY, REJECT, FATAL = range(4)


class Error(Structure):
    _fields_ = [("result", c_int), ("code", c_char * 28), ("text", c_char * 480)]


class Database(Structure):
    _fields_ = [
        ("name", c_char_p), ("path", c_char_p), ("descriptions", c_char_p), ("expose", c_char_p),
        ("deny_columns", POINTER(c_char_p)), ("n_deny_columns", c_size_t),
    ]


LIMITS: Dict[str, Any] = {
    "threads": c_uint32, "window": c_uint32, "statement_ms": c_int64, "statement_rows": c_uint32,
    "statement_bytes": c_uint64,
    "index_bytes": c_uint64, "sqlite_bytes": c_uint64, "show_locations": c_int,
}


class Options(Structure):
    _fields_ = [
        ("size", c_size_t), ("database_size", c_size_t), ("databases", POINTER(Database)), ("n_databases", c_size_t),
        ("database_root", c_char_p), ("models", c_char_p), ("executor", c_char_p), ("defaults", c_char_p),
        *LIMITS.items(),
    ]


Callback = ctypes.CFUNCTYPE(None, c_void_p, c_void_p, POINTER(Error))

_FUNCTIONS: Any = {
    "assay_version": (c_char_p, []),
    "assay_options_init_sized": (None, [POINTER(Options), c_size_t, c_size_t]),
    "assay_open": (c_int, [POINTER(Options), POINTER(c_void_p), POINTER(Error)]),
    "assay_close": (c_int, [c_void_p]),
    "assay_judge": (c_int, [c_void_p, c_char_p, c_size_t, POINTER(c_void_p), POINTER(Error)]),
    "assay_submit": (c_int, [c_void_p, c_char_p, c_size_t, c_int64, Callback, c_void_p, POINTER(Error)]),
    "assay_verdict_json": (c_char_p, [c_void_p]),
    "assay_verdict_free": (None, [c_void_p]),
}
# a few microseconds, less than giving the GIL up and waiting for it
_QUICK = ("assay_verdict_json", "assay_verdict_free")


def path() -> str:
    """$ASSAY_LIBRARY, the one in this package, or the system's."""
    inside = Path(__file__).with_name("lib") / "libassay.so.1"
    return os.environ.get("ASSAY_LIBRARY") or (str(inside) if inside.exists() else "libassay.so.1")


class Library:
    def __init__(self, name: str) -> None:
        whole, quick = ctypes.CDLL(name), ctypes.PyDLL(name)
        for function, (result, arguments) in _FUNCTIONS.items():
            found = getattr(quick if function in _QUICK else whole, function)
            found.restype, found.argtypes = result, arguments
            setattr(self, function[len("assay_"):], found)

    version: Any
    options_init_sized: Any
    open: Any
    close: Any
    judge: Any
    submit: Any
    verdict_json: Any
    verdict_free: Any


@lru_cache(maxsize=None)
def load() -> Library:
    """ImportError: it is not there, or lacks a library of the system."""
    try:
        return Library(path())
    except (OSError, AttributeError) as error:
        raise ImportError(f"libassay cannot be loaded ({error}); install a wheel that has it, or name it with "
                          "ASSAY_LIBRARY") from error
