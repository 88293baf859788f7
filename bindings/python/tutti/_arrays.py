"""Arrays that tutti makes: in shared memory, or like another array."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from operator import index
from typing import Any, Callable, Union

from . import _core
from ._errors import InvalidArgument, WrongType

#: The names of types, as NumPy has them, and their formats in the module struct.
_FORMATS = {
    "bool": "?",
    "int8": "b",
    "uint8": "B",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "uint64": "Q",
    "float16": "e",
    "bfloat16": "H",
    "float8_e4m3fn": "B",
    "float8_e5m2": "B",
    "float32": "f",
    "float64": "d",
    "complex64": "Zf",
    "complex128": "Zd",
}
_SIZES = {
    "bool": 1,
    "complex64": 8,
    "complex128": 16,
    "bfloat16": 2,
    "float8_e4m3fn": 1,
    "float8_e5m2": 1,
}
_SHORT = {
    "i8": "int8",
    "u8": "uint8",
    "i16": "int16",
    "u16": "uint16",
    "i32": "int32",
    "u32": "uint32",
    "i64": "int64",
    "u64": "uint64",
    "f16": "float16",
    "bf16": "bfloat16",
    "f8e4m3": "float8_e4m3fn",
    "f8e5m2": "float8_e5m2",
    "f32": "float32",
    "f64": "float64",
}


def _numpy() -> Any:
    """NumPy, or None where it is not installed."""
    try:
        import numpy
    except ImportError:
        return None
    return numpy


def _dtype_name(dtype: Any) -> str:
    """The name of a type that NumPy, torch or tutti knows."""
    numpy = _numpy()
    text = dtype if isinstance(dtype, str) else getattr(dtype, "name", None)
    if text is None and str(dtype).startswith("torch."):
        text = str(dtype)[len("torch.") :]
    if text is None and numpy is not None:
        text = numpy.dtype(dtype).name
    if text is None:
        text = getattr(dtype, "__name__", str(dtype))
    return _SHORT.get(text, text)


def _numpy_dtype(numpy: Any, name: str) -> Any:
    """The NumPy type of this name; None for a type that only ml_dtypes has, where it is not installed."""
    if name not in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        return numpy.dtype(name)
    try:
        import ml_dtypes
    except ImportError:
        return None
    return numpy.dtype(getattr(ml_dtypes, name))


def empty(shape: Union[int, Sequence[int]], dtype: Any = "float32") -> Any:
    """Return a new array of zeros in shared memory, which the other ranks of the host read directly.

    A NumPy array or, without NumPy, a memoryview. `torch.from_numpy()` makes it a tensor. The memory is
    freed with the last array that refers to it.
    """
    try:
        given = shape if isinstance(shape, (Iterable, str)) else (shape,)
        dimensions = tuple(index(each) for each in given)
    except TypeError:
        raise WrongType(f"empty: {shape!r} is no shape: pass a whole number, or a tuple of them") from None
    if any(each < 0 for each in dimensions):
        raise InvalidArgument(f"empty: the shape {dimensions} has a negative dimension")
    name = _dtype_name(dtype)
    numpy = _numpy()
    count = math.prod(dimensions)
    if count > sys.maxsize // 16:
        raise InvalidArgument(f"empty: the shape {dimensions} has more elements than any memory")
    if numpy is not None:
        kind = _numpy_dtype(numpy, name)
        if kind is not None:
            if kind.hasobject:
                raise InvalidArgument("empty: Python objects cannot be shared between processes")
            memory = _core.SharedMemory(count * kind.itemsize)
            return numpy.frombuffer(memory, dtype=kind, count=count).reshape(dimensions)
    if name not in _FORMATS:
        raise InvalidArgument(f"empty: '{name}' is no type of element")
    if _FORMATS[name].startswith("Z"):
        raise InvalidArgument(f"empty: an array of {name} needs NumPy")
    size = _SIZES.get(name) or _cast(memoryview(bytes(8)), _FORMATS[name], (1,)).itemsize
    return _cast(memoryview(_core.SharedMemory(count * size)), _FORMATS[name], dimensions)


def _cast(memory: Any, kind: str, shape: tuple[int, ...]) -> Any:
    """A memoryview of another type and shape. An empty one has one dimension."""
    if len(shape) == 1 or 0 in shape:
        return memory.cast(kind)
    return memory.cast(kind, shape)


def empty_like(x: Any, shape: tuple[int, ...]) -> Any:
    """Return an array of the kind and type of x, with another shape. It is called from C++."""
    library = type(x).__module__.partition(".")[0]
    if library == "torch":
        return x.new_empty(shape)
    numpy = _numpy()
    if numpy is not None and hasattr(x, "dtype"):
        return numpy.empty(shape, dtype=x.dtype)
    view = memoryview(x)
    code = view.format.lstrip("@=<>!")
    memory = memoryview(bytearray(math.prod(shape) * view.itemsize))
    if len(code) == 1:
        return _cast(memory, code, shape)
    if numpy is not None:
        return numpy.empty(shape, dtype=numpy.asarray(view).dtype)
    return memory


def combine(
    function: Callable[[Any, Any], Any],
    accumulator: memoryview,
    contribution: memoryview,
    dtype: str,
) -> None:
    """Store function(accumulator, contribution) in the accumulator. It is called from C++."""
    name = _SHORT.get(dtype, dtype)
    numpy = _numpy()
    if numpy is not None:
        kind = _numpy_dtype(numpy, name) or numpy.dtype("uint16")
        to = numpy.frombuffer(accumulator, dtype=kind)
        result = function(to, numpy.frombuffer(contribution, dtype=kind))
        # NumPy would store a None as nan, and a single number in all elements.
        if result is None or numpy.shape(result) != to.shape:
            given = "None" if result is None else f"the shape {numpy.shape(result)}"
            raise InvalidArgument(
                f"op: the function returned {given}, and must return one like its arguments: {to.shape}"
            )
        to[...] = result
        return
    code = _FORMATS[name]
    left, right = _cast(accumulator, code, (0,)), _cast(contribution, code, (0,))
    for i in range(len(left)):
        left[i] = function(left[i], right[i])


def pin(tensor: Any) -> Any:
    """Return a NumPy view of a torch tensor, so that torch refuses to resize its memory."""
    if _numpy() is None:
        return None
    torch = sys.modules["torch"]
    flat = tensor.detach()
    if not flat.is_contiguous() or flat.device.type != "cpu" or flat.numel() == 0:
        return None  # The call itself refuses it, or does not touch it.
    return flat.reshape(-1).view(torch.uint8).numpy()
