"""Sizes, times and rates as numbers or as text, in the units of the command `tutti`."""

from __future__ import annotations

import math
import re
from typing import Union

from ._errors import InvalidArgument

#: A number, or a text such as "1MiB", "5us", "25Gb/s".
Quantity = Union[int, float, str]

_PREFIX = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_BINARY = {"K": 2.0**10, "M": 2.0**20, "G": 2.0**30, "T": 2.0**40}
_TIME = {"": 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "ps": 1e-12}
_NUMBER = re.compile(r"\s*([0-9.]+(?:[eE][-+]?[0-9]+)?)\s*(.*?)\s*")


def _split(text: str, wanted: str) -> tuple[float, str]:
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise InvalidArgument(f"'{text}' is not {wanted}")
    try:
        return float(match[1]), match[2]
    except ValueError:
        raise InvalidArgument(f"'{text}' is not {wanted}") from None


def _sound(number: float, given: Quantity, wanted: str) -> float:
    """A number as given, or as read from a text: an infinite or negative one is refused."""
    if math.isfinite(number) and number >= 0:
        return number
    raise InvalidArgument(f"{given!r} is not {wanted}: it must be finite and not negative")


def parse_bytes(size: Quantity) -> int:
    """64, "64KiB" or "64K" (binary), "64KB" (decimal)."""
    wanted = "a size; write a number of bytes, or for example 64KiB, 1MiB, 25MB or 1G"
    if not isinstance(size, str):
        return int(_sound(size, size, wanted))
    number, unit = _split(size, wanted)
    if unit in ("", "B"):
        factor = 1.0
    elif unit[:1] in _BINARY and unit[1:] in ("", "iB"):
        factor = _BINARY[unit[0]]
    elif unit.endswith("B") and unit[:-1] in _PREFIX:
        factor = _PREFIX[unit[:-1]]
    else:
        raise InvalidArgument(f"'{size}' is not {wanted}")
    return int(_sound(number * factor, size, wanted))


def parse_seconds(time: Quantity) -> float:
    """1e-6, "1us", "2.5ms"."""
    wanted = "a time; write for example 1us, 2.5ms, 300ns or 0.1s"
    if not isinstance(time, str):
        return float(_sound(time, time, wanted))
    number, unit = _split(time, wanted)
    if unit not in _TIME:
        raise InvalidArgument(f"'{time}' is not {wanted}")
    return _sound(number * _TIME[unit], time, wanted)


def parse_rate(rate: Quantity) -> float:
    """Bytes per second: 1e9, "1GB/s", "8Gb/s"."""
    wanted = "a bandwidth; write for example 100GB/s, 12.5GiB/s or 25Gb/s"
    if not isinstance(rate, str):
        return float(_sound(rate, rate, wanted))
    number, unit = _split(rate, wanted)
    match = re.fullmatch(r"([kKMGT]?)(iB|B|b)/s", unit)
    if match is None or (match[2] == "iB" and match[1] not in _BINARY):
        raise InvalidArgument(f"'{rate}' is not {wanted}")
    factor = _BINARY[match[1]] if match[2] == "iB" else _PREFIX[match[1]]
    return _sound(number * factor / (8 if match[2] == "b" else 1), rate, wanted)


def parse_seconds_per_byte(time: Quantity) -> float:
    """1e-9, "1ns", or a rate: "1GB/s"."""
    if isinstance(time, str) and time.rstrip().endswith("/s"):
        return 1 / parse_rate(time)
    return parse_seconds(time)
