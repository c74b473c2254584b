"""Arrays as the memory of a kernel."""

import functools
import re
from typing import Any, Dict, Optional, Sequence, Tuple, Union

import numpy as np

from ._recal import Context, Kernel

# Kinds of numbers by their formats, and how many there may be in an element.
_FORMATS = {
    "f2": ("FLOAT16", 4),
    "f4": ("FLOAT32", 4),
    "f8": ("FLOAT64", 2),
    "i1": ("SIGNED_INT8", 4),
    "i2": ("SIGNED_INT16", 4),
    "i4": ("SIGNED_INT32", 4),
    "u1": ("UNSIGNED_INT8", 4),
    "u2": ("UNSIGNED_INT16", 4),
    "u4": ("UNSIGNED_INT32", 4),
    "b1": ("UNSIGNED_INT8", 4),
}
_COMPLEX = {"c8": "FLOAT32_2", "c16": "FLOAT64_2"}


@functools.lru_cache(maxsize=64)
def _compiled(il: str, context: Optional[Context]) -> Kernel:
    return Kernel(il, context)


def _layout(name: str, array: np.ndarray) -> Tuple[int, int, str]:
    """Width, height (0: one dimension) and format of an array. A third dimension is that of components."""
    kind = array.dtype.kind + str(array.dtype.itemsize)
    if not array.dtype.isnative or (kind not in _FORMATS and kind not in _COMPLEX):
        known = "float16 to float64, int8 to int32, uint8 to uint32, bool, complex64 and complex128 of this machine's byte order"
        raise TypeError(f"{name}: memory of kernels has no elements of {array.dtype.str!r} ({array.dtype}), but of {known}; .astype(…) converts")
    shape = array.shape
    if kind in _COMPLEX:
        form = _COMPLEX[kind]
    else:
        word, most = _FORMATS[kind]
        count = 1
        if len(shape) == 3:
            count = shape[2]
            shape = shape[:2]
            if count not in (1, 2, 4) or count > most:
                raise ValueError(f"{name}: shape {array.shape} has {count} components of {array.dtype}; there are 1, 2 or 4, of float64 2 at most")
        form = f"{word}_{count}"
    if len(shape) == 1:
        return shape[0], 0, form
    if len(shape) == 2:
        return shape[1], shape[0], form
    raise ValueError(f"{name}: shape {array.shape}; it has one dimension, two, or two and components")


def _line(name: str, array: np.ndarray) -> Tuple[int, int, str]:
    """The same for memory that has addresses and no shape."""
    if array.dtype.hasobject:
        raise TypeError(f"{name}: memory of kernels has no elements of {array.dtype}")
    if array.nbytes % 4:
        raise ValueError(f"{name}: {array.nbytes} bytes are no whole words of 32 bits")
    return array.nbytes // 4, 0, "UNSIGNED_INT32_1"


def _rows(name: str, value: Any) -> np.ndarray:
    """Rows of a constant buffer: of an array its bytes, else a row for each value."""
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            raise TypeError(f"{name}: rows of constants are numbers, not {value.dtype}")
        data = np.frombuffer(value.tobytes(), np.uint8)
        return np.concatenate([data, np.zeros(-len(data) % 16, np.uint8)])
    values = value if isinstance(value, (list, tuple)) else [value]
    rows = np.zeros((len(values), 4), np.uint32)
    for row, one in zip(rows, values):
        numbers = np.asarray(one)
        if numbers.dtype.kind not in "fiub":
            raise TypeError(f"{name}: {one!r} is no row of numbers")
        if numbers.dtype.kind == "f" and not isinstance(one, (np.ndarray, np.generic)):
            # A number of Python is a float of the kernel; who wants 64 bits says numpy.float64.
            numbers = numbers.astype(np.float32)
        elif numbers.dtype.kind in "iub" and numbers.itemsize != 4:
            low, high = (int(numbers.min()), int(numbers.max())) if numbers.size else (0, 0)
            if low < -(2**31) or high >= (2**31 if low < 0 else 2**32):
                raise OverflowError(f"{name}: {one} is beyond 32 bits")
            numbers = numbers.astype(np.int64).astype(np.int32 if low < 0 else np.uint32)
        data = np.atleast_1d(numbers).tobytes()
        if len(data) > 16 or len(data) % 4:
            raise ValueError(f"{name}: {one} is no row, which is 4 words of 32 bits or 2 of 64")
        row[: len(data) // 4] = np.frombuffer(data, np.uint32)
    return rows.reshape(-1).view(np.uint8)


def _new(value: Any, shape: Optional[Tuple[int, ...]], name: str) -> np.ndarray:
    """The array that a kernel is to write, from what is said of it: a type, a shape with a type, or nothing."""
    dtype: Any = np.float32
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], (tuple, list, int, np.integer)):
        shape, dtype = value
    elif value is not None:
        dtype = value
    if shape is None:
        raise ValueError(f"{name}: its shape is not known; say `{name}=(shape, type)`, or of outputs `domain=(width, height)`")
    try:
        return np.zeros(shape, dtype)
    except TypeError as wrong:
        raise TypeError(f"{name}: {value!r} is neither an array, nor a type, nor (shape, type): {wrong}") from None


def _extents(name: str, value: Any, most: int) -> Tuple[int, ...]:
    numbers = tuple(np.atleast_1d(np.asarray(value)).tolist())
    if not 1 <= len(numbers) <= most or not all(isinstance(n, int) and 0 <= n < 2**32 for n in numbers):
        raise ValueError(f"{name}: {value!r} is not up to {most} numbers from 0 to 2³² - 1")
    return numbers + (1,) * (3 - len(numbers))


def _domain(memory: Dict[str, Any]) -> Tuple[int, int]:
    """Columns and rows of the first memory of two dimensions, outputs first."""
    for name in sorted(memory, key=lambda name: (name[0] != "o", name)):
        value = memory[name]
        shape: Any = ()
        if isinstance(value, np.ndarray) and not name.startswith("cb"):
            shape = value.shape
        elif name.startswith("o") and isinstance(value, tuple) and len(value) == 2:
            shape = np.atleast_1d(np.asarray(value[0]))
        if len(shape) >= 2:
            return int(shape[1]), int(shape[0])
    raise ValueError("domain: no array tells how many columns and rows there are; say `domain=(width, height)`")


def run(
    kernel: Union[str, Kernel],
    *,
    domain: Optional[Sequence[int]] = None,
    threads: Union[int, Sequence[int], None] = None,
    context: Optional[Context] = None,
    info: Optional[Dict[str, Any]] = None,
    **memory: Any,
) -> Union[np.ndarray, Dict[str, np.ndarray]]:
    """Runs a kernel and gives what it wrote.

    `kernel` is IL, which is compiled once, or what `compile` gave. What it binds is named: `i0=array`, `cb0=0.5`, `o0=…`,
    `uav0=…`, and `g=…` for g[].

    * Arrays have one dimension or two, rows and columns; a third one of 1, 2 or 4 is components. Where they lie row by row, and
      the device can reach them, the kernel works on them as they are; else on a copy.
    * g[], and raw and structured buffers and views, take any array: they have addresses and no shape.
    * `cb0` is a number, a list with a number or a list of up to four for each row, or an array that has the very bytes.
    * An output `o#` is an array to write to, a type, `(shape, type)`, or is left out: then it is of float32, over the domain.
    * `uav#` and `g` are arrays, or `(shape, type)` for new ones that begin as zeros; arrays given are written in place.

    A pixel kernel runs over `domain=(width, height)`, if not given over the first array of two dimensions: outputs first. A
    compute kernel runs `threads=n` or `(x, y, z)`, in whole groups; if not given, one for each element of the first `uav#` or `g`.

    What was written comes back: an array, or a dict of them if there are several. `info`, a dict, gets `seconds`, how long the launch
    took without copies, and `copied`, the names whose memory was copied. The interpreter is free for other threads meanwhile.
    """
    if isinstance(kernel, str):
        kernel = _compiled(kernel, context)
    elif not isinstance(kernel, Kernel):
        raise TypeError(f"kernel: {type(kernel).__name__} is neither IL nor a Kernel")
    elif context is not None:
        raise TypeError("context: the kernel has one, that of `compile`")
    symbols = {symbol.replace("[]", ""): symbol for symbol in kernel.symbols if not re.fullmatch(r"s\d+", symbol)}
    for name in memory:
        if name not in symbols:
            raise TypeError(f"the kernel has no `{name}`; it has {', '.join(symbols)}")
    missing = [name for name in symbols if memory.get(name) is None and not name.startswith("o")]
    if missing:
        raise TypeError(f"nothing is given for {', '.join(missing)}")

    if kernel.compute:
        if domain is not None:
            raise TypeError("domain: a compute kernel runs `threads`")
        over = None
    else:
        if threads is not None:
            raise TypeError("threads: a pixel kernel runs over a `domain`")
        extents = _extents("domain", _domain(memory) if domain is None else domain, 2)
        over = (extents[1], extents[0])

    given, back, written = [], [], {}
    for name, symbol in symbols.items():
        value = memory.get(name)
        if name.startswith("cb"):
            rows = _rows(name, value)
            given.append((symbol, rows, len(rows) // 16, 0, "UNSIGNED_INT32_4", False))
            continue
        writes = not name.startswith("i")
        array = np.asarray(value) if not writes else value
        if writes:
            if not isinstance(value, np.ndarray):
                array = _new(value, over if name.startswith("o") else None, name)
            if not array.flags.writeable:
                raise ValueError(f"{name}: the kernel writes it, and the array is read-only")
            written[name] = array
        width, height, form = (_line if symbol in kernel.linear else _layout)(name, array)
        work = np.ascontiguousarray(array)
        if writes and not array.flags.c_contiguous:
            back.append((array, work))
        if not work.size:
            raise ValueError(f"{name}: shape {array.shape} has no elements")
        given.append((symbol, work.reshape(-1).view(np.uint8), width, height, form, writes))

    if kernel.compute:
        if threads is None:
            first = next(iter(written.values()), None)
            if first is None:
                raise ValueError("threads: nothing tells how many; say `threads=n` or `(x, y, z)`")
            threads = first.size
        extents = _extents("threads", threads, 3)
    seconds, copied = kernel.launch(given, list(extents))
    for array, work in back:
        np.copyto(array, work)
    if info is not None:
        again = [name for name, array in memory.items() if isinstance(array, np.ndarray) and not array.flags.c_contiguous]
        names = [name for name, symbol in symbols.items() if symbol in copied or name in again]
        info.update(seconds=seconds, copied=[name for name in names if not name.startswith("cb")])
    if len(written) == 1:
        return next(iter(written.values()))
    return written
