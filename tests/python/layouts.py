"""Random layouts, written by zarr-python: grids, codecs, byte orders, keys, fill values, absent chunks."""

import collections
import dataclasses
import math
import pathlib

import numcodecs
import numpy as np
import zarr
import zarr.codecs as v3
import zarr.codecs.numcodecs as extra

import values
from values import BLOB, TEXT

zarr.config.set({"array.rectilinear_chunks": True})

# Enough for every kind of edge; zarr-python takes about a millisecond for each.
MOST_CHUNKS = 48


@dataclasses.dataclass
class Case:
    """An array that was written, and what zarr-python reads of it."""

    name: str
    document: dict
    expected: np.ndarray
    used: set


class Deck:
    """Deals every item once before any comes a second time, so that few cases still meet every codec and type."""

    def __init__(self, rng, items):
        self.rng, self.items, self.left = rng, list(items), []

    def deal(self):
        """The next item."""
        if not self.left:
            self.left = list(self.rng.permutation(len(self.items)))
        return self.items[self.left.pop()]


def hierarchy(root, zarr_format, seed, count):
    """A group of `count` random arrays at `root`, and why draws were refused: what zarr-python refuses is drawn again."""
    rng = np.random.default_rng(seed)
    root = pathlib.Path(root)
    zarr.create_group(root, zarr_format=zarr_format)
    draw = {2: V2, 3: V3}[zarr_format](rng)
    cases, refused = [], collections.Counter()
    while len(cases) < count:
        # Elsewhere first: after a failure zarr-python's threads still write for a while.
        scratch = root.with_name(f"{root.name}-drawn") / str(len(cases) + sum(refused.values()))
        try:
            array, expected, used = draw.case(scratch)
        except BaseException as error:  # noqa: BLE001 - peers refuse in many ways, panics among them
            if isinstance(error, (KeyboardInterrupt, SystemExit)):
                raise
            refused[f"{type(error).__name__}: {error}"[:160]] += 1
            assert sum(refused.values()) < 5 * count + 100, refused.most_common(9)
            continue
        name = f"a{len(cases)}"
        scratch.rename(root / name)
        cases.append(Case(name, array.metadata.to_dict(), expected, used))
    return cases, refused


def read(array):
    """All elements, of the array's own type also where there is only one."""
    out = array[...]
    if isinstance(out, np.ndarray) and out.shape:
        return out
    scalar = np.empty((), object if array.dtype.kind in "OT" else array.dtype)
    scalar[()] = out[()] if isinstance(out, np.ndarray) else out
    return scalar


def runs(rng, length):
    """Random positive lengths that add up to `length`."""
    cuts = np.unique(rng.integers(1, max(length, 2), size=rng.integers(0, 5)))
    edges = np.diff([0, *cuts[cuts < length], length])
    return [int(e) for e in edges]


def write_some(rng, array, data):
    """Writes everything, or a few boxes so that some chunks stay absent; the rest is the fill value. True where all was written."""
    if rng.random() < 0.6 or not data.shape:
        array[...] = data
        return True
    for _ in range(rng.integers(0, 4)):
        box = tuple(slice(*sorted(rng.integers(0, n + 1, 2))) for n in data.shape)
        if data[box].size:
            array[box] = data[box]
    return False


STRUCTS = [
    [("a", "<i4"), ("b", "<f8")],
    [("x", "u1"), ("y", "<u2"), ("z", "<c8")],
    [("f", "<f4"), ("s", "S3"), ("d", "<M8[s]")],
    [("u", "<U2"), ("inner", [("p", "i1"), ("q", "<i8")])],
]


class V3:
    """Draws arrays of format 3."""

    def __init__(self, rng):
        self.rng = rng
        plain = [*values.NUMBERS, *values.NUMBERS, "S1", "S5", "U1", "U4", "V3", "V16", TEXT, TEXT, BLOB, BLOB]
        times = [f"M8[{u}]" for u in values.UNITS[:11]] + [f"m8[{u}]" for u in values.UNITS[3:]]
        self.dtypes = Deck(rng, [*plain, *plain, *times, *STRUCTS])
        self.filters = Deck(rng, [None] * 6 + ["transpose"] * 3 + ["delta", "fixedscaleoffset", "quantize", "bitround", "astype", "packbits", "scale_offset", "cast_value"])
        self.serializers = Deck(rng, ["little", "little", "big", "big", "pcodec", "zfpy"])
        self.compressors = Deck(rng, BYTES_CODECS)
        self.kinds = Deck(rng, ["chunks", "chunks", "shards", "nested"])

    def case(self, location):
        """One array at a location: it, its elements, and what it was made of."""
        rng = self.rng
        dtype = self.dtypes.deal()
        used = {"dtype:" + (dtype if isinstance(dtype, str) else "struct").split("[")[0]}
        filters, serializer = self.filters.deal(), self.serializers.deal()
        if dtype in values.NUMBERS and dtype in FILTER_TYPES.get(filters, [dtype]):
            pass
        elif filters in FILTER_TYPES and not isinstance(dtype, list) and dtype not in (TEXT, BLOB):
            dtype = str(rng.choice(FILTER_TYPES[filters]))
        elif filters in FILTER_TYPES:
            filters = None
        unfit = serializer == "pcodec" and dtype not in PCODEC_TYPES or serializer == "zfpy" and dtype not in ZFP_TYPES
        # bitround hands on integers, which test_read.py looks at alone.
        if unfit or filters in CHANGES_TYPE or filters == "bitround":
            serializer = str(rng.choice(["little", "big"]))
        shape = values.shape(rng, ndim=int(rng.integers(1, 4)) if serializer == "zfpy" else None)
        data = values.elements(rng, dtype, shape, tame=filters in FILTER_TYPES or serializer == "zfpy")
        kind = self.kinds.deal() if shape and filters not in CHANGES_SHAPE else "chunks"
        grid, levels = self.grid(shape, {"chunks": 0, "shards": 1, "nested": 2}[kind])
        chain = self.chain(dtype, filters, serializer, levels[-1] if levels else grid, len(shape), used)
        for i in reversed(range(len(levels))):
            chain = [self.shard(levels[i], chain, used)]
            if rng.random() < 0.15:
                chain.append(self.bytes_codec(used, False))
        used |= {f"kind:{kind}", f"grid:{'regular' if all(isinstance(g, int) for g in grid) else 'rectilinear'}"}
        array_array = [c for c in chain if not is_bytes_codec(c)][:-1]
        serializer = [c for c in chain if not is_bytes_codec(c)][-1]
        fill = values.fill(rng, dtype) if filters not in FILTER_TYPES else 0
        array = zarr.create_array(
            location,
            shape=shape,
            dtype=zdtype(dtype),
            chunks=grid if grid else (),
            filters=array_array or None,
            serializer=serializer,
            compressors=[c for c in chain if is_bytes_codec(c)] or None,
            fill_value=fill,
            chunk_key_encoding={"name": str(rng.choice(["default", "v2"])), "separator": str(rng.choice(["/", "."]))},
            zarr_format=3,
            dimension_names=[None if rng.random() < 0.2 else f"d{i}" for i in range(len(shape))] if rng.random() < 0.4 else None,
            attributes={"of": "a test"} if rng.random() < 0.3 else None,
            config={"write_empty_chunks": bool(rng.random() < 0.5)},
        )
        whole = write_some(rng, array, data)
        expected = read(array)
        # What the peer itself does not bring back is no measure for others.
        assert not whole or not lossless(used) or values.same(expected, data), "zarr-python reads other values than it wrote"
        if rng.random() < 0.1 and shape and 0 not in shape:
            # Chunks that overhang, or lie past the end, as a shrunk array keeps them.
            array.resize(tuple(int(rng.integers(1, n + 1)) for n in shape))
            expected = read(array)
        return array, expected, used

    def grid(self, shape, depth):
        """Lengths or lists of lengths per axis, and the chunk shapes within: shards, and shards in shards."""
        rng = self.rng
        levels = []
        longest = [max((n + 1) // 2 if depth else n + 1, 1) for n in shape]
        inner = [int(rng.integers(1, n + 1)) for n in longest]
        while math.prod(-(-n // i) for n, i in zip(shape, inner)) > MOST_CHUNKS:
            inner = [int(rng.integers(i, n + 1)) for i, n in zip(inner, longest)]
        unit = list(inner)
        for _ in range(depth):
            levels.insert(0, tuple(unit))
            unit = [n * int(rng.integers(1, 4)) for n in unit]
        if rng.random() < 0.4 and shape and 0 not in shape:
            axes = []
            for n, u in zip(shape, unit):
                steps = runs(rng, -(-n // u))
                # The listed lengths must add up to the axis; only whole shards can be cut.
                axes.append([s * u for s in steps] if n % u == 0 and rng.random() < 0.8 else None)
            if not depth:
                axes = [runs(rng, n) for n in shape]
                while math.prod(map(len, axes)) > MOST_CHUNKS:
                    axis = int(rng.integers(len(axes)))
                    axes[axis] = [shape[axis]]
            if all(axes):
                return axes, levels
        return unit, levels

    def chain(self, dtype, filters, serializer, chunk, ndim, used):
        """A chain of codecs for a chunk."""
        rng = self.rng
        out = []
        if filters:
            used.add("filter:" + filters)
        if filters == "transpose" and ndim:
            out.append(v3.TransposeCodec(order=[int(i) for i in rng.permutation(ndim)]))
        elif filters and filters != "transpose":
            out.append(array_codec(rng, filters, dtype))
        if dtype is TEXT:
            out.append(v3.VLenUTF8Codec())
        elif dtype is BLOB:
            out.append(v3.VLenBytesCodec())
        elif serializer in ("pcodec", "zfpy"):
            used.add("serializer:" + serializer)
            out.append(pcodec(rng) if serializer == "pcodec" else zfpy(rng, dtype))
        else:
            used.add("endian:" + serializer)
            out.append(v3.BytesCodec(endian=serializer))
        for i in range(rng.choice([0, 1, 1, 1, 2, 3])):
            out.append(self.bytes_codec(used, i == 0))
        return out

    def shard(self, chunk_shape, chain, used):
        rng = self.rng
        index = [v3.BytesCodec(endian=str(rng.choice(["little", "big"])))]
        if rng.random() < 0.7:
            index.append(v3.Crc32cCodec())
        location = str(rng.choice(["start", "end"]))
        used.add("index:" + location)
        order = str(rng.choice(["morton", "lexicographic", "colexicographic", "unordered"]))
        return v3.ShardingCodec(chunk_shape=chunk_shape, codecs=chain, index_codecs=index, index_location=location, subchunk_write_order=order)

    def bytes_codec(self, used, first):
        name = self.compressors.deal()
        while name == "numcodecs.shuffle" and not first:
            # What another encoder makes of the same chunk need not be a multiple of an element long.
            name = self.compressors.deal()
        used.add("bytes:" + name)
        return bytes_codec(self.rng, name)


FILTER_TYPES = {
    "delta": ["i2", "i4", "i8", "u1", "u4", "f4", "f8"],
    "fixedscaleoffset": ["f4", "f8", "i4"],
    "quantize": ["f4", "f8"],
    "bitround": ["f4", "f8"],
    "astype": ["f8", "i8", "u4"],
    "packbits": ["?"],
    "scale_offset": ["i4", "i8", "f4", "f8"],
    "cast_value": ["i4", "f4", "f8", "u2"],
}
CHANGES_TYPE = {"fixedscaleoffset", "astype", "packbits", "cast_value"}
CHANGES_SHAPE = {"packbits"}
PCODEC_TYPES = ["i2", "i4", "i8", "u2", "u4", "u8", "f2", "f4", "f8"]
ZFP_TYPES = ["i4", "i8", "f4", "f8"]
BYTES_CODECS = [
    *["zstd", "gzip", "blosc", "crc32c"] * 2,
    *["numcodecs." + n for n in ("zstd", "gzip", "blosc", "zlib", "bz2", "lz4", "lzma", "shuffle", "crc32", "crc32c", "adler32", "fletcher32", "jenkins_lookup3")],
]


def lossless(used):
    """Whether what was written comes back."""
    lossy = ["filter:" + f for f in ("fixedscaleoffset", "quantize", "bitround", "astype", "cast_value", "scale_offset")]
    return used.isdisjoint([*lossy, "serializer:zfpy"])


def is_bytes_codec(codec):
    """Whether a codec maps bytes to bytes."""
    import zarr.abc.codec

    return isinstance(codec, zarr.abc.codec.BytesBytesCodec)


def zdtype(dtype):
    """What zarr-python takes for a type."""
    import zarr.dtype

    if dtype is TEXT:
        return zarr.dtype.VariableLengthUTF8()
    if dtype is BLOB:
        return zarr.dtype.VariableLengthBytes()
    return np.dtype(dtype)


def array_codec(rng, name, dtype):
    """A codec that maps arrays to arrays."""
    plain = np.dtype(dtype)
    if name == "delta":
        return extra.Delta(dtype=plain.str) if rng.random() < 0.5 else extra.Delta(dtype=plain.str, astype=plain.str)
    if name == "fixedscaleoffset":
        astype = "<i4" if plain.kind == "f" else "<i8"
        return extra.FixedScaleOffset(offset=int(rng.integers(-5, 50)), scale=int(rng.choice([1, 2, 10])), dtype=plain.str, astype=astype)
    if name == "quantize":
        return extra.Quantize(digits=int(rng.integers(0, 5)), dtype=plain.str)
    if name == "bitround":
        return extra.BitRound(keepbits=int(rng.integers(1, 20)))
    if name == "astype":
        return extra.AsType(encode_dtype={"f8": "<f4", "i8": "<i2", "u4": "|u1"}[dtype], decode_dtype=plain.str)
    if name == "packbits":
        return extra.PackBits()
    if name == "scale_offset":
        return v3.ScaleOffset(offset=int(rng.integers(-3, 1)), scale=int(rng.integers(1, 4)))
    target = {"i4": ["int16", "float64", "uint8"], "f4": ["int32", "float64", "int16"], "f8": ["float32", "uint8", "int16"], "u2": ["uint8", "float32"]}[dtype]
    return v3.CastValue(
        data_type=str(rng.choice(target)),
        rounding=str(rng.choice(["nearest-even", "towards-zero", "towards-positive", "towards-negative", "nearest-away"])),
        out_of_range="clamp",
    )


def pcodec(rng):
    """numcodecs.pcodec with random parameters."""
    delta = str(rng.choice(["auto", "none", "try_consecutive", "try_lookback"]))
    order = int(rng.integers(0, 4)) if delta == "try_consecutive" else None
    return extra.PCodec(
        level=int(rng.integers(0, 10)),
        mode_spec=str(rng.choice(["auto", "classic"])),
        delta_spec=delta,
        delta_encoding_order=order,
        equal_pages_up_to=int(rng.choice([100, 262144])),
    )


def zfpy(rng, dtype):
    """numcodecs.zfpy with random parameters."""
    # Without a tolerance the stream is reversible.
    options = [{"mode": 2, "rate": 16.0}, {"mode": 3, "precision": 20}, {"mode": 4}, {"mode": 4, "tolerance": 0.01}]
    return extra.ZFPY(**options[rng.integers(4 if dtype[0] == "f" else 3)])


def bytes_codec(rng, name):
    """A codec that maps bytes to bytes, with random parameters."""
    blosc = {
        "cname": str(rng.choice(["lz4", "lz4hc", "blosclz", "zstd", "zlib"])),
        "clevel": int(rng.integers(0, 10)),
        "blocksize": int(rng.choice([0, 0, 256, 4096])),
    }
    match name:
        case "zstd":
            return v3.ZstdCodec(level=int(rng.integers(-5, 10)), checksum=bool(rng.random() < 0.5))
        case "gzip":
            return v3.GzipCodec(level=int(rng.integers(0, 10)))
        case "blosc":
            shuffle = str(rng.choice(["noshuffle", "shuffle", "bitshuffle"]))
            return v3.BloscCodec(typesize=int(rng.choice([1, 2, 3, 4, 8, 16])), shuffle=shuffle, **blosc)
        case "crc32c":
            return v3.Crc32cCodec()
    return getattr(extra, NUMCODECS_CLASSES[name])(**numcodecs_configuration(rng, name.removeprefix("numcodecs.")))


NUMCODECS_CLASSES = {
    "numcodecs." + c.codec_name.removeprefix("numcodecs."): n for n, c in vars(extra).items() if isinstance(c, type) and getattr(c, "codec_name", None)
}


def numcodecs_configuration(rng, name):
    """Random parameters of a codec of numcodecs."""
    match name:
        case "blosc":
            return {
                "cname": str(rng.choice(["lz4", "lz4hc", "blosclz", "zstd", "zlib"])),
                "clevel": int(rng.integers(0, 10)),
                "shuffle": int(rng.integers(-1, 3)),
                "blocksize": int(rng.choice([0, 0, 256, 4096])),
            }
        case "zstd":
            return {"level": int(rng.integers(-5, 10)), "checksum": bool(rng.random() < 0.3)}
        case "gzip" | "zlib":
            return {"level": int(rng.integers(0, 10))}
        case "bz2":
            return {"level": int(rng.integers(1, 10))}
        case "lz4":
            return {"acceleration": int(rng.integers(1, 20))}
        case "lzma":
            return lzma(rng)
        case "shuffle":
            return {"elementsize": int(rng.choice([1, 2, 3, 4, 8]))}
        case "crc32" | "crc32c" | "adler32":
            return {"location": str(rng.choice(["start", "end"]))} if rng.random() < 0.5 else {}
        case "jenkins_lookup3":
            return {"initval": int(rng.integers(0, 1 << 31))}
    return {}


def lzma(rng):
    """XZ, .lzma and raw streams, with and without filters of their own."""
    import lzma

    lz = {"id": lzma.FILTER_LZMA2, "preset": int(rng.integers(0, 7))}
    return [
        {"preset": int(rng.integers(0, 7))},
        {"format": lzma.FORMAT_XZ, "check": int(rng.choice([lzma.CHECK_NONE, lzma.CHECK_CRC32, lzma.CHECK_CRC64, lzma.CHECK_SHA256]))},
        {"format": lzma.FORMAT_ALONE, "preset": 1},
        {"format": lzma.FORMAT_RAW, "filters": [lz]},
        {"format": lzma.FORMAT_RAW, "filters": [{"id": lzma.FILTER_DELTA, "dist": int(rng.integers(1, 9))}, lz]},
    ][rng.integers(5)]


class V2:
    """Draws arrays of format 2."""

    def __init__(self, rng):
        self.rng = rng
        orders = [order + d for d in values.NUMBERS if d not in ("?", "i1", "u1") for order in "<>"]
        times = [f"{o}{k}8[{u}]" for o in "<>" for k in "Mm" for u in values.UNITS[3:12]]
        self.dtypes = Deck(rng, [*orders, "?", "i1", "u1", "S1", "S6", "<U1", ">U5", "V4", TEXT, TEXT, BLOB, *times[:: len(times) // 8], *STRUCTS, MIXED])
        self.filters = Deck(rng, [None] * 4 + ["delta", "fixedscaleoffset", "quantize", "bitround", "astype", "packbits", "shuffle", "delta+shuffle", "fletcher32", "crc32"])
        self.compressors = Deck(rng, [None, None, "blosc", "blosc", "zstd", "gzip", "zlib", "bz2", "lz4", "lzma", "blosc"])

    def case(self, location):
        """One array at a location: it, its elements, and what it was made of."""
        rng = self.rng
        dtype, filters, compressor = self.dtypes.deal(), self.filters.deal(), self.compressors.deal()
        used = {"dtype:" + (dtype if isinstance(dtype, str) else "struct").split("[")[0].strip("<>"), f"filter:{filters}", f"compressor:{compressor}"}
        wanted = FILTER_TYPES.get((filters or "").split("+")[0])
        if wanted and (isinstance(dtype, list) or dtype in (TEXT, BLOB) or dtype.strip("<>") not in wanted):
            dtype = str(rng.choice(["<", ">"])) + str(rng.choice(wanted))
        shape = values.shape(rng)
        data = values.elements(rng, dtype, shape, tame=bool(wanted))
        chunks = [int(rng.integers(1, max(n, 1) + 2)) for n in shape]
        while math.prod(-(-n // c) for n, c in zip(shape, chunks)) > MOST_CHUNKS:
            chunks = [int(rng.integers(c, n + 2)) for n, c in zip(shape, chunks)]
        separator, order = str(rng.choice([".", "/"])), str(rng.choice(["C", "F"]))
        used |= {f"separator:{separator}", f"order:{order}"}
        array = zarr.create_array(
            location,
            shape=shape,
            dtype=zdtype(dtype),
            chunks=tuple(chunks),
            filters=v2_filters(rng, filters, dtype) if filters else (None if dtype not in (TEXT, BLOB) else "auto"),
            compressors=numcodecs.get_codec({"id": compressor, **numcodecs_configuration(rng, compressor)}) if compressor else None,
            fill_value=None if rng.random() < 0.15 else values.fill(rng, dtype),
            order=order,
            zarr_format=2,
            chunk_key_encoding={"name": "v2", "separator": separator},
            attributes={"of": "a test"} if rng.random() < 0.3 else None,
            config={"write_empty_chunks": bool(rng.random() < 0.5)},
        )
        whole = write_some(rng, array, data)
        expected = read(array)
        assert not whole or not lossless(used) or values.same(expected, data), "zarr-python reads other values than it wrote"
        return array, expected, used


MIXED = [("a", ">i4"), ("b", "<f8"), ("c", ">u2"), ("d", "S2")]


def v2_filters(rng, names, dtype):
    """Filters of numcodecs for a type."""
    plain = np.dtype(dtype if dtype not in (TEXT, BLOB) else "O")
    if plain.kind == "O":
        raise ValueError("an object codec is the only filter here")
    out = []
    for name in names.split("+"):
        match name:
            case "delta":
                out.append(numcodecs.Delta(dtype=plain.str))
            case "fixedscaleoffset":
                astype = plain.str[0] + ("i4" if plain.kind == "f" else "i8")
                out.append(numcodecs.FixedScaleOffset(offset=int(rng.integers(-5, 50)), scale=int(rng.choice([1, 2, 10])), dtype=plain.str, astype=astype))
            case "quantize":
                out.append(numcodecs.Quantize(digits=int(rng.integers(0, 5)), dtype=plain.str))
            case "bitround":
                out.append(numcodecs.BitRound(keepbits=int(rng.integers(1, 20))))
            case "astype":
                narrow = {"f8": "f4", "i8": "i2", "u4": "u2"}[plain.str[1:]]
                out.append(numcodecs.AsType(encode_dtype=plain.str[0] + narrow, decode_dtype=plain.str))
            case "packbits":
                out.append(numcodecs.PackBits())
            case "shuffle":
                out.append(numcodecs.Shuffle(elementsize=int(rng.choice([1, 2, 4, 8, plain.itemsize]))))
            case _:
                out.append(numcodecs.get_codec({"id": name}))
    return out
