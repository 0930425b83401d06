"""Random elements of every type, and what the values of an array hash to."""

import hashlib
import json
import math

import numpy as np

INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
FLOATS = ["f2", "f4", "f8"]
COMPLEX = ["c8", "c16"]
NUMBERS = ["?", *INTEGERS, *FLOATS, *COMPLEX]
UNITS = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "10s", "25us", "ps", "fs", "as"]

# Stands for elements of varying length.
TEXT, BLOB = "text", "blob"

WORDS = ["", "a", "gingham", "é", "日本語", "🧵", "two words", 'quote " and \\', "line\nbreak", "x" * 300, "\u2028", "NaN"]


def shape(rng, ndim=None, most=1500):
    """0 to 4 axes, few elements; now and then an axis without any."""
    ndim = int(rng.integers(0, 5)) if ndim is None else ndim
    while True:
        lengths = [int(n) for n in rng.integers(1, [0, 300, 40, 13, 8][ndim] + 1, size=ndim)] if ndim else []
        if ndim and rng.random() < 0.05:
            lengths[rng.integers(ndim)] = 0
        if math.prod(lengths) <= most:
            return tuple(lengths)


def elements(rng, dtype, shape, tame=False):
    """Random elements. `tame` leaves out NaN, infinity and extremes, for codecs that compute with values."""
    if dtype is TEXT or dtype is BLOB:
        return _objects(rng, dtype, shape)
    dtype = np.dtype(dtype)
    count = math.prod(shape)
    if dtype.type.__module__ == "ml_dtypes":
        bits = rng.integers(0, 1 << 8 * dtype.itemsize, count, dtype="u4").astype(f"u{dtype.itemsize}")
        return (bits.astype("i1") >> 4).astype(dtype).reshape(shape) if dtype.name == "int4" else bits.view(dtype).reshape(shape)
    if dtype.names:
        out = np.zeros(shape, dtype)
        for name in dtype.names:
            field = dtype.fields[name][0]
            base, extra = field.subdtype or (field, ())
            out[name] = elements(rng, base, (*shape, *extra), tame)
        return out
    if dtype.kind == "S":
        alphabet = np.frombuffer(b"abc\xff\x00xyz ", "S1")
        return np.array([b"".join(rng.choice(alphabet, rng.integers(0, dtype.itemsize + 1))) for _ in range(count)], dtype).reshape(shape)
    if dtype.kind == "U":
        size = dtype.itemsize // 4
        return np.array([str(rng.choice(WORDS))[:size] for _ in range(count)], dtype).reshape(shape)
    if dtype.kind == "V":
        return np.frombuffer(rng.bytes(count * dtype.itemsize), dtype).reshape(shape)
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    if dtype.kind in "mM":
        ticks = rng.integers(-(10**6), 10**6, size=shape)
        ticks = np.where(rng.random(shape) < 0.1, np.iinfo("i8").min, ticks)
        return ticks.astype(dtype.str[0] + "i8").view(dtype).reshape(shape)
    return _numbers(rng, dtype, shape, tame)


def _numbers(rng, dtype, shape, tame):
    count = math.prod(shape)
    pattern = rng.integers(2, 5) if tame else rng.integers(0, 5)
    if pattern == 0:
        # Any bits: every NaN, subnormal and extreme.
        out = np.frombuffer(rng.bytes(count * dtype.itemsize), dtype)
    elif pattern == 1 and dtype.kind in "fc":
        special = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1.5, np.finfo(dtype).tiny, np.finfo(dtype).max], dtype)
        out = rng.choice(special, count)
    elif pattern == 2:
        out = np.arange(count) % 100
    elif pattern == 3:
        # Mostly one value, so that whole chunks hold nothing else.
        out = np.where(rng.random(count) < 0.02, 7, 0)
    else:
        out = rng.integers(0, 100, count)
        if dtype.kind in "fc" and rng.random() < 0.5:
            out = out / 8
    if not tame and rng.random() < 0.3 and dtype.kind in "i":
        out = -np.asarray(out)
    with np.errstate(all="ignore"):
        return np.asarray(out).astype(dtype).reshape(shape)


def _objects(rng, dtype, shape):
    out = np.empty(math.prod(shape), object)
    for i in range(out.size):
        out[i] = str(rng.choice(WORDS)) if dtype is TEXT else rng.bytes(rng.integers(0, 9))
    return out.reshape(shape)


def fill(rng, dtype):
    """A fill value of the type: often its zero, else anything."""
    if dtype is TEXT:
        return str(rng.choice(WORDS))
    if dtype is BLOB:
        return rng.bytes(rng.integers(0, 4))
    dtype = np.dtype(dtype)
    if rng.random() < 0.4:
        return np.zeros((), dtype)[()]
    if dtype.kind == "f" and rng.random() < 0.5:
        return dtype.type(rng.choice([np.nan, np.inf, -np.inf, -0.0]))
    value = elements(rng, dtype, (1,))[0]
    # Peers keep only one NaN, so another would not come back as it was.
    if dtype.kind == "f" and np.isnan(value):
        return dtype.type(np.nan)
    if dtype.kind == "c" and np.isnan(value):
        return dtype.type(complex(np.nan, 1))
    return value


def little_endian(dtype):
    """The type as gingham keeps elements: little-endian, members packed."""
    if dtype.subdtype:
        base, extra = dtype.subdtype
        return np.dtype((little_endian(base), extra))
    if dtype.names:
        return np.dtype([(name, little_endian(dtype.fields[name][0])) for name in dtype.names])
    return dtype.newbyteorder("<")


def sha256(values):
    """What `gingham checksum` prints: of the elements in C order, little-endian; of JSON where lengths vary."""
    values = np.asarray(values)
    if values.dtype.kind in "OT":
        flat = [_json(v) for v in values.reshape(-1)]
        text = json.dumps(flat, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return hashlib.sha256(plain_bytes(values)).hexdigest()


def plain_bytes(values):
    """The elements in C order, little-endian."""
    values = np.asarray(values)
    if values.dtype.type.__module__ == "ml_dtypes":
        # Integers of less than a byte stand in one byte each, sign and all; floats are their bits.
        integer = {"int2": "i1", "int4": "i1", "uint2": "u1", "uint4": "u1"}.get(values.dtype.name)
        values = values.astype(integer) if integer else np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}")
    return np.ascontiguousarray(values.astype(little_endian(values.dtype), copy=False)).tobytes()


def _json(value):
    if isinstance(value, (bytes, bytearray)):
        try:
            return bytes(value).decode("utf-8")
        except UnicodeDecodeError:
            return {"hex": bytes(value).hex()}
    if isinstance(value, np.ndarray):
        return [_json(v) for v in value]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        value = float(value)
        if math.isnan(value):
            return "NaN"
        return value if math.isfinite(value) else ("Infinity" if value > 0 else "-Infinity")
    if isinstance(value, (list, tuple)):
        return [_json(v) for v in value]
    if isinstance(value, dict):
        return {k: _json(v) for k, v in value.items()}
    return value


def same(a, b):
    """Equal bit for bit (NaN to NaN, -0.0 not to 0.0), in shape and in type but for the byte order."""
    a, b = np.asarray(a), np.asarray(b)
    return a.shape == b.shape and sha256(a) == sha256(b)
