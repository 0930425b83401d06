"""What the command writes, read by other libraries."""

import base64
import json

import numpy as np
import pytest
import zarr

import layouts
import peers
import values
from command import CASES


def text_of(document):
    """The options of `write --create` for a document of format 3 that zarr-python made."""
    grid, fill = document["chunk_grid"]["configuration"], document["fill_value"]
    data_type = document["data_type"]["name"] if isinstance(document["data_type"], dict) else document["data_type"]
    if "bytes" in data_type:
        # Bytes are typed as hexadecimal digits; those that end with NUL are text, unless they say otherwise.
        digits = base64.b64decode(fill).hex()
        fill = {"hex": digits} if data_type == "null_terminated_bytes" else digits
    options = [
        *("--shape", ",".join(map(str, document["shape"])) or "()"),
        *("--dtype", d if isinstance(d := document["data_type"], str) else json.dumps(d)),
        *("--chunks", json.dumps(grid.get("chunk_shapes", grid.get("chunk_shape")))),
        *("--codec", json.dumps(document["codecs"])),
        *("--fill", json.dumps(fill)),
    ]
    names = document.get("dimension_names")
    return options + ([f"--dims={','.join(n or '-' for n in names)}"] if names else [])


def save(file, data, dtype):
    """Elements as a .npy file, or as JSON where numpy's format has no name for the type."""
    if data.dtype.kind in "OT":
        flat = [v.hex() if isinstance(v, bytes) else str(v) for v in data.reshape(-1)]
        file = file.with_suffix(".json")
        file.write_text(json.dumps({"shape": data.shape, "values": flat}))
    else:
        file = file.with_suffix(".npy")
        np.save(file, data.astype(values.little_endian(data.dtype)))
    return file


@pytest.mark.parametrize("batch", range(max(1, CASES // 50)))
def test_created_like_zarr_pythons(gingham, tmp_path, batch):
    """The document of a random array goes in as options and its elements as a file; zarr-python reads the same of both."""
    cases, _ = layouts.hierarchy(tmp_path / "theirs", 3, [20, batch], 25)
    wrong, met = [], set()
    for case in cases:
        # Lossy codecs would lose twice; how a peer pads or shrinks is its own affair.
        if not layouts.lossless(case.used):
            continue
        document = peers.document(tmp_path / "theirs" / case.name)
        ours = tmp_path / case.name
        file = save(tmp_path / f"{case.name}-data", case.expected, document["data_type"])
        status, _, error = gingham.attempt("write", ours, "--create", "--from", file, *text_of(document))
        if status == 6 and "shuffle" in error:
            # No chunk can be written with such codecs: zarr-python's array holds nothing but the fill value.
            stored = [f for f in (tmp_path / "theirs" / case.name).rglob("*") if f.is_file() and f.name != "zarr.json"]
            assert not stored, error
            continue
        assert status == 0, error
        more, readers = peers.disagreements(ours, case.expected, tmp_path / "theirs" / case.name)
        wrong += more
        met |= readers
    assert not wrong, "\n".join(wrong)
    assert "zarr_python" in met


SHORT_CODECS = [
    *["none", "zstd", "zstd:-3", "gzip:9", "zlib", "bz2", "lz4", "crc32c", "zstd:1,crc32c", "shuffle,zstd", "crc32+adler32+fletcher32"],
    *["blosc", "blosc:lz4", "blosc:lz4hc:9:noshuffle", "blosc:blosclz:1:bitshuffle", "blosc:zstd:3:shuffle", "blosc:zlib:0"],
]


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("codec", SHORT_CODECS)
def test_codecs_by_their_short_names(gingham, tmp_path, codec, zarr_format):
    rng = np.random.default_rng([21, SHORT_CODECS.index(codec), zarr_format])
    dtype = str(rng.choice(["i2", "f4", "u8"]))
    data = values.elements(rng, dtype, (30, 17))
    options = ["--create", "--format", zarr_format, "--chunks", "8,17", "--codec", codec, "--order", str(rng.choice(["C", "F"]))]
    gingham.write(tmp_path / "a", data, *options, folder=tmp_path)
    assert values.same(peers.zarr_python(tmp_path / "a"), data)
    if zarr_format == 2 or peers.tensorstore_can(tmp_path / "a"):
        d = peers.document(tmp_path / "a")
        if zarr_format == 3 or not d["filters"] and (d["compressor"] or {"id": "zstd"})["id"] in ("zstd", "blosc", "gzip", "zlib", "bz2"):
            assert values.same(peers.tensorstore(tmp_path / "a"), data)


V2_TYPES = [*values.NUMBERS, ">i4", ">f8", "S5", "U3", ">U2", "V6", "M8[s]", ">m8[25us]"]


@pytest.mark.parametrize("dtype", V2_TYPES, ids=str)
def test_types_of_format_2(gingham, tmp_path, dtype):
    """Written in the byte order that is asked for, with a fill value, and read by zarr-python."""
    rng = np.random.default_rng([22, V2_TYPES.index(dtype)])
    data = values.elements(rng, dtype, (11, 5))
    gingham.write(tmp_path / "a", data, "--create", "--format", 2, "--dtype", np.dtype(dtype).str, "--chunks", "4,3", folder=tmp_path)
    array = zarr.open_array(tmp_path / "a", mode="r")
    assert array.dtype == np.dtype(dtype) and values.same(array[...], data)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_members(gingham, tmp_path, zarr_format):
    dtype = np.dtype([("a", "<i4"), ("b", "<f8"), ("c", "S3")])
    data = values.elements(np.random.default_rng(24), dtype, (11, 5))
    gingham.write(tmp_path / "a", data, "--create", "--format", zarr_format, "--chunks", "4,3", folder=tmp_path)
    assert values.same(peers.zarr_python(tmp_path / "a"), data)


@pytest.mark.parametrize("layout", ["chunks", "shards", "rectilinear", "format 2"])
def test_parts_are_written_into_what_is_there(gingham, tmp_path, layout):
    """Random boxes over an array of a peer's, as numpy would have it."""
    rng = np.random.default_rng(23)
    shape, location = (23, 17, 9), tmp_path / "a"
    more = {
        "chunks": {"chunks": (5, 6, 4)},
        "shards": {"chunks": (2, 3, 2), "shards": (8, 6, 4)},
        "rectilinear": {"chunks": [[3, 20], [1, 15, 1], [4, 5]]},
        "format 2": {"chunks": (5, 6, 4), "zarr_format": 2, "order": "F"},
    }[layout]
    array = zarr.create_array(location, shape=shape, dtype="i4", fill_value=-1, **more)
    model = np.full(shape, -1, "i4")
    start = (slice(4, 19), slice(0, 8), slice(None))
    array[start] = model[start] = rng.integers(0, 99, model[start].shape)
    for i in range(max(6, CASES // 10)):
        box = tuple(slice(*sorted(int(n) for n in rng.integers(0, n + 1, 2))) for n in shape)
        select = ", ".join(f"{b.start}:{b.stop}" for b in box)
        if i % 3 == 0:
            # The fill value too: a chunk that holds nothing else may go.
            value = int(rng.choice([-1, 7]))
            gingham.run("write", location, "--select", select, "--value", value)
            model[box] = value
        else:
            part = rng.integers(0, 99, model[box].shape).astype("i4")
            gingham.write(location, part, "--select", select, folder=tmp_path)
            model[box] = part
        assert values.same(array[...], model), (i, select)


def test_a_step_and_a_list_are_written_as_numpy_would(gingham, tmp_path):
    model = np.zeros((20, 12), "i4")
    gingham.write(tmp_path / "a", model, "--create", "--chunks", "3,5", "--shards", "6,10", folder=tmp_path)
    array = zarr.open_array(tmp_path / "a", mode="r")
    for select, index in [("::3, 1::2", np.s_[::3, 1::2]), ("::-1, 4", np.s_[::-1, 4]), ("[7, 2, 19], :", np.s_[[7, 2, 19], :]), ("-1, ...", np.s_[-1, ...])]:
        part = np.arange(1, model[index].size + 1, dtype="i4").reshape(model[index].shape)
        gingham.write(tmp_path / "a", part, "--select", select, folder=tmp_path)
        model[index] = part
        assert values.same(array[...], model), select


def test_chunks_of_the_fill_value_are_not_stored_unless_asked(gingham, tmp_path):
    data = np.zeros((8, 8), "f4")
    data[0, 0] = 1
    gingham.write(tmp_path / "few", data, "--create", "--chunks", "4,4", folder=tmp_path)
    gingham.write(tmp_path / "all", data, "--create", "--chunks", "4,4", "--write-empty-chunks", folder=tmp_path)
    assert zarr.open_array(tmp_path / "few", mode="r").nchunks_initialized == 1
    assert zarr.open_array(tmp_path / "all", mode="r").nchunks_initialized == 4
    # A negative zero is not the fill value.
    gingham.write(tmp_path / "few", np.full((4, 4), -0.0, "f4"), "--select", "4:, 4:", folder=tmp_path)
    assert zarr.open_array(tmp_path / "few", mode="r").nchunks_initialized == 2


def test_text_is_written_from_json(gingham, tmp_path):
    data = np.array(values.WORDS, object).reshape(4, 3)
    file = save(tmp_path / "data", data, "string")
    gingham.run("write", tmp_path / "a", "--create", "--from", file, "--dtype", "string", "--chunks", "2,2", "--fill", '"?"')
    assert peers.zarr_python(tmp_path / "a").astype(object).tolist() == data.tolist()


def test_what_is_there_is_not_replaced_unasked(gingham, tmp_path):
    data = np.arange(6, dtype="i4")
    gingham.write(tmp_path / "a", data, "--create", folder=tmp_path)
    status, _, error = gingham.attempt("write", tmp_path / "a", "--create", "--shape", 3, "--dtype", "int32")
    assert status == 6 and "overwrit" in error
    assert values.same(peers.zarr_python(tmp_path / "a"), data)
    gingham.write(tmp_path / "a", data[:2], "--create", "--overwrite", folder=tmp_path)
    assert values.same(peers.zarr_python(tmp_path / "a"), data[:2])


def test_the_first_axis_may_be_without_a_name(gingham, tmp_path):
    gingham.write(tmp_path / "a", np.zeros((2, 3)), "--create", "--dims", "-,x", folder=tmp_path)
    assert zarr.open_array(tmp_path / "a", mode="r").metadata.dimension_names == (None, "x")


def test_the_hint_names_the_option_that_helps(gingham, tmp_path):
    gingham.write(tmp_path / "a", np.arange(6), "--create", folder=tmp_path)
    _, _, error = gingham.attempt("write", tmp_path / "a", "--create", "--shape", 3, "--dtype", "int32")
    assert "--overwrite" in error
