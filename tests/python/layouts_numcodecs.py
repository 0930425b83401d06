"""Arrays of format 2 written chunk by chunk with numcodecs: what zarr-python 2 could write and zarr-python 3 no longer does."""

import base64
import itertools
import json
import pathlib

import numcodecs
import numpy as np

import values
from layouts import Case, numcodecs_configuration


def store(location, data, chunks, dtype, filters=(), compressor=None, fill_value=0, order="C", separator="."):
    """Writes an array and returns its document. `dtype` is the document's."""
    location = pathlib.Path(location)
    location.mkdir(parents=True)
    document = {
        "zarr_format": 2,
        "shape": data.shape,
        "chunks": chunks,
        "dtype": dtype,
        "compressor": compressor and compressor.get_config(),
        "fill_value": fill_value,
        "order": order,
        "filters": [f.get_config() for f in filters] or None,
        "dimension_separator": separator,
    }
    (location / ".zarray").write_text(json.dumps(document))
    for index in itertools.product(*[range(-(-n // c)) for n, c in zip(data.shape, chunks)]):
        chunk = np.empty(chunks, data.dtype, order=order)
        box = tuple(slice(i * c, min((i + 1) * c, n)) for i, c, n in zip(index, chunks, data.shape))
        # What pads a chunk at the edge is unspecified: here the first element.
        for at in np.ndindex(chunk.shape):
            chunk[at] = data.reshape(-1)[0]
        inside = tuple(slice(0, b.stop - b.start) for b in box)
        chunk[inside] = data[box]
        encoded = chunk
        for codec in [*filters, *([compressor] if compressor else [])]:
            encoded = codec.encode(encoded)
        encoded = np.asarray(encoded).tobytes(order="A") if isinstance(encoded, np.ndarray) else bytes(encoded)
        file = location / (separator.join(map(str, index)) or "0")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(encoded)
    return document


def objects(rng, kind, shape):
    """Objects of one kind."""
    out = np.empty(int(np.prod(shape)), object)
    for i in range(out.size):
        if kind == "text":
            out[i] = str(rng.choice(values.WORDS))
        elif kind == "blob":
            out[i] = rng.bytes(rng.integers(0, 9))
        elif kind == "lists":
            out[i] = rng.integers(-100, 100, rng.integers(0, 5)).astype("<i4")
        elif kind == "floats":
            out[i] = rng.integers(-100, 100, rng.integers(0, 5)) / np.float64(8)
        else:
            out[i] = ["a", 1, None, True, 1.5, [1, "b", []], {"k": [None, 2.5]}, -(2**53)][rng.integers(8)]
    return out.reshape(shape)


def hierarchy(root, seed, count):
    """A group of `count` arrays at `root`."""
    rng = np.random.default_rng(seed)
    root = pathlib.Path(root)
    root.mkdir(parents=True)
    (root / ".zgroup").write_text('{"zarr_format": 2}')
    cases = []
    for i in range(count):
        made = MAKERS[i % len(MAKERS)](rng)
        shape = values.shape(rng, ndim=made.get("ndim"), most=300)
        data = made["data"](shape)
        chunks = [int(rng.integers(1, max(n, 1) + 2)) for n in shape]
        while np.prod([-(-n // c) for n, c in zip(shape, chunks)]) > 48:
            chunks = [int(rng.integers(c, n + 2)) for n, c in zip(shape, chunks)]
        layout = {"order": str(rng.choice(["C", "F"])) if made.get("order", True) else "C", "separator": str(rng.choice([".", "/"]))}
        document = store(root / f"a{i}", data, chunks, made["dtype"], made.get("filters", ()), made.get("compressor"), made.get("fill", 0), **layout)
        cases.append(Case(f"a{i}", document, data, {made["name"]}))
    return cases


def _object(name, kind, codec, **more):
    return lambda rng: {
        "name": name,
        "dtype": "|O",
        "data": lambda shape: objects(rng, kind, shape),
        "filters": [codec],
        "compressor": _compressor(rng),
        "fill": more.get("fill", ""),
        # These codecs flatten in C order, whatever the order of the chunk.
        "order": False,
        # json2 and msgpack2 cannot write a lone object.
        "ndim": int(rng.integers(1, 5)) if kind == "any" else None,
    }


def _compressor(rng):
    name = [None, "zlib", "zstd", "blosc", "lz4", "bz2", "gzip", "lzma"][rng.integers(8)]
    return name and numcodecs.get_codec({"id": name, **numcodecs_configuration(rng, name)})


def _checks(rng):
    """A column of checksums, each around the one before."""
    names = ["crc32", "crc32c", "adler32", "fletcher32", "jenkins_lookup3"]
    filters = [numcodecs.get_codec({"id": n, **numcodecs_configuration(rng, n)}) for n in rng.permutation(names)]
    return {"name": "checks", "dtype": "<u2", "data": lambda s: values.elements(rng, "<u2", s), "filters": filters, "compressor": _compressor(rng)}


def _base64(rng):
    return {"name": "base64", "dtype": "<f8", "data": lambda s: values.elements(rng, "<f8", s), "filters": [numcodecs.Base64()], "compressor": _compressor(rng)}


def _categorize(rng):
    labels = ["red", "green", "blue"]
    data = lambda s: rng.choice(np.array([*labels, ""], object), s) if s else np.array("red", object)  # noqa: E731
    return {
        "name": "categorize",
        "dtype": "|O",
        "data": data,
        "filters": [numcodecs.Categorize(labels=labels, dtype="|O")],
        "compressor": _compressor(rng),
        "fill": "",
        "order": False,
    }


def _pcodec(rng):
    dtype = str(rng.choice(["<i2", "<i4", "<i8", "<u4", "<f2", "<f4", "<f8"]))
    codec = numcodecs.PCodec(level=int(rng.integers(0, 10)))
    return {"name": "pcodec", "dtype": dtype, "data": lambda s: values.elements(rng, dtype, s, tame=True), "compressor": codec, "order": False}


def _zfpy(rng):
    dtype = str(rng.choice(["<i4", "<i8", "<f4", "<f8"]))
    # Without a tolerance the stream is reversible.
    codec = numcodecs.ZFPY(mode=4)
    return {"name": "zfpy", "dtype": dtype, "data": lambda s: values.elements(rng, dtype, s, tame=True), "compressor": codec, "order": False, "ndim": int(rng.integers(1, 5))}


def _members(rng):
    """A struct with a list as a member, and base64 of its bytes as the fill value."""
    dtype = np.dtype([("a", ">i4"), ("b", "<f8", (2, 3)), ("c", [("d", "u1"), ("e", ">u2")])])
    document = [["a", ">i4"], ["b", "<f8", [2, 3]], ["c", [["d", "|u1"], ["e", ">u2"]]]]
    return {
        "name": "members",
        "dtype": document,
        "data": lambda s: values.elements(rng, dtype, s),
        "compressor": _compressor(rng),
        "fill": base64.b64encode(rng.bytes(dtype.itemsize)).decode() if rng.random() < 0.5 else None,
    }


MAKERS = [
    _object("vlen-utf8", "text", numcodecs.VLenUTF8()),
    _object("vlen-bytes", "blob", numcodecs.VLenBytes()),
    _object("vlen-array of integers", "lists", numcodecs.VLenArray("<i4"), fill=None),
    _object("vlen-array of floats", "floats", numcodecs.VLenArray("<f8"), fill=None),
    _object("json2", "any", numcodecs.JSON(), fill=None),
    _object("msgpack2", "any", numcodecs.MsgPack(), fill=None),
    _checks,
    _base64,
    _categorize,
    _pcodec,
    _zfpy,
    _members,
]
