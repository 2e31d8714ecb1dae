"""JSON as requests and verdicts use it. The standard library's own coder, made once: dumps() with options makes one
each time, and both go through layers that cost as much as the work where it follows on a judgement that has cleared the
caches (bench/python.py)."""

from __future__ import annotations

import json
from typing import Any, Union

_write = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False, separators=(",", ":")).encode
_read = json.JSONDecoder().scan_once  # type: ignore[attr-defined]


def encode(value: Any) -> bytes:
    """One line. ValueError: a number that JSON does not have, or half a character. TypeError: what JSON does not
    have."""
    return _write(value).encode()


def decode(text: Union[str, bytes]) -> Any:
    """ValueError: it is no JSON, or no UTF-8."""
    text = (text if isinstance(text, str) else text.decode()).strip(" \t\r\n")
    try:
        value, end = _read(text, 0)
    except StopIteration as at:
        raise ValueError(f"no value at {at.value}") from None
    except RecursionError:
        raise ValueError("too deep") from None
    if end != len(text):
        raise ValueError(f"something follows the value at {end}")
    return value
