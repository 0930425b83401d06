"""Random layouts, written by tensorstore's drivers for both formats."""

import json
import pathlib

import ml_dtypes
import numpy as np
import tensorstore as ts

import values
from layouts import MOST_CHUNKS, Case, Deck

NARROW = ["bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e4m3b11fnuz", "float8_e5m2", "float8_e5m2fnuz", "int4"]
PLAIN = {
    "bool": "?",
    **{f"int{8 * n}": f"i{n}" for n in (1, 2, 4, 8)},
    **{f"uint{8 * n}": f"u{n}" for n in (1, 2, 4, 8)},
    **{f"float{8 * n}": f"f{n}" for n in (2, 4, 8)},
    **{f"complex{8 * n}": f"c{n}" for n in (8, 16)},
}
# Names of tensorstore's format 2 beyond numpy's type strings.
NARROW_V2 = ["bfloat16", "float8_e4m3fn", "float8_e5m2", "int4"]


def hierarchy(root, zarr_format, seed, count):
    """A group of `count` random arrays at `root`."""
    rng = np.random.default_rng(seed)
    root = pathlib.Path(root)
    root.mkdir(parents=True)
    group = {"zarr_format": zarr_format} | ({"node_type": "group"} if zarr_format == 3 else {})
    (root / ("zarr.json" if zarr_format == 3 else ".zgroup")).write_text(json.dumps(group))
    names = list(PLAIN) + (NARROW if zarr_format == 3 else NARROW_V2)
    dtypes, compressors = Deck(rng, names), Deck(rng, [None, "blosc", "blosc", "zstd", "gzip", "crc32c" if zarr_format == 3 else "bz2"])
    cases = []
    for i in range(count):
        name, dtype, compressor = f"a{i}", dtypes.deal(), compressors.deal()
        shape = values.shape(rng)
        metadata = (v3 if zarr_format == 3 else v2)(rng, dtype, compressor, shape)
        spec = {
            "driver": "zarr3" if zarr_format == 3 else "zarr",
            "kvstore": {"driver": "file", "path": str(root / name)},
            "metadata": metadata,
            "store_data_equal_to_fill_value": bool(rng.random() < 0.5),
        }
        store = ts.open(spec, create=True).result()
        data = values.elements(rng, numpy_type(dtype), shape)
        if rng.random() < 0.6 or not shape:
            store[...].write(data).result()
        else:
            for _ in range(rng.integers(0, 4)):
                box = tuple(slice(*sorted(int(n) for n in rng.integers(0, n + 1, 2))) for n in shape)
                if data[box].size:
                    store[box].write(data[box]).result()
        used = {f"dtype:{dtype}", f"compressor:{compressor}"}
        cases.append(Case(name, metadata, store.read().result(), used))
    return cases


def numpy_type(name):
    """The numpy type of a name."""
    return np.dtype(PLAIN[name]) if name in PLAIN else np.dtype(getattr(ml_dtypes, name))


def chunks(rng, shape):
    """A chunk shape that does not make too many chunks."""
    out = [int(rng.integers(1, max(n, 1) + 2)) for n in shape]
    while np.prod([-(-n // c) for n, c in zip(shape, out)]) > MOST_CHUNKS:
        out = [int(rng.integers(c, n + 2)) for n, c in zip(shape, out)]
    return out


def fill(rng, dtype):
    """A fill value as JSON."""
    if rng.random() < 0.4:
        return False if dtype == "bool" else [0, 0] if dtype.startswith("complex") else 0
    if dtype == "bool":
        return True
    if "int" in dtype:
        return int(rng.integers(0, 8))
    if dtype.startswith("complex"):
        return [1.5, str(rng.choice(["NaN", "Infinity"]))]
    return ["NaN", 1.5][rng.integers(2)] if dtype.startswith("float8") else ["NaN", "Infinity", "-Infinity", -0.0, 1.5][rng.integers(5)]


def v3(rng, dtype, compressor, shape):
    """A document of format 3."""
    unit = chunks(rng, shape)
    inner = bytes_codecs(rng, compressor)
    if len(shape) and rng.random() < 0.3:
        inner.insert(0, {"name": "transpose", "configuration": {"order": [int(n) for n in rng.permutation(len(shape))]}})
    codecs = inner
    for _ in range(rng.choice([0, 0, 1, 1, 2])):
        index = [{"name": "bytes", "configuration": {"endian": str(rng.choice(["little", "big"]))}}]
        if rng.random() < 0.6:
            index.append({"name": "crc32c"})
        configuration = {"chunk_shape": unit, "codecs": codecs, "index_codecs": index, "index_location": str(rng.choice(["start", "end"]))}
        codecs = [{"name": "sharding_indexed", "configuration": configuration}]
        unit = [n * int(rng.integers(1, 4)) for n in unit]
    return {
        "shape": shape,
        "data_type": dtype,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": unit}},
        "chunk_key_encoding": {"name": str(rng.choice(["default", "v2"])), "configuration": {"separator": str(rng.choice(["/", "."]))}},
        "fill_value": fill(rng, dtype),
        "codecs": codecs,
    }


def bytes_codecs(rng, compressor):
    """`bytes` and what follows it."""
    out = [{"name": "bytes", "configuration": {"endian": str(rng.choice(["little", "big"]))}}]
    if compressor == "blosc":
        shuffle = str(rng.choice(["noshuffle", "shuffle", "bitshuffle"]))
        out.append({"name": "blosc", "configuration": blosc(rng) | {"shuffle": shuffle, "typesize": int(rng.choice([1, 2, 4, 8]))}})
    elif compressor == "zstd":
        out.append({"name": "zstd", "configuration": {"level": int(rng.integers(-5, 10))}})
    elif compressor == "gzip":
        out.append({"name": "gzip", "configuration": {"level": int(rng.integers(0, 10))}})
    if compressor == "crc32c" or rng.random() < 0.2:
        out.append({"name": "crc32c"})
    return out


def blosc(rng):
    """Parameters that blosc has in both formats."""
    cname = str(rng.choice(["lz4", "lz4hc", "blosclz", "zstd", "zlib"]))
    return {"cname": cname, "clevel": int(rng.integers(0, 10)), "blocksize": int(rng.choice([0, 0, 256]))}


def v2(rng, dtype, compressor, shape):
    """A document of format 2."""
    typestr = dtype
    if dtype in PLAIN:
        typestr = np.dtype(PLAIN[dtype]).newbyteorder(str(rng.choice(["<", ">"]))).str
    parameters = {
        "blosc": lambda: blosc(rng) | {"shuffle": int(rng.integers(-1, 3))},
        "zstd": lambda: {"level": int(rng.integers(-5, 10))},
        "gzip": lambda: {"level": int(rng.integers(0, 10))},
        "bz2": lambda: {"level": int(rng.integers(1, 10))},
    }
    return {
        "shape": shape,
        "chunks": chunks(rng, shape),
        "dtype": typestr,
        "fill_value": None if rng.random() < 0.2 else fill(rng, dtype),
        # tensorstore calls every order of fewer than two axes C.
        "order": str(rng.choice(["C", "F"])) if len(shape) > 1 else "C",
        "compressor": {"id": compressor} | parameters[compressor]() if compressor else None,
        "filters": None,
        "dimension_separator": str(rng.choice([".", "/"])),
    }
