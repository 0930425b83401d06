"""Selections, against NumPy on the whole array."""

import numpy as np
import pytest
import zarr
import zarr.codecs as v3

import layouts  # noqa: F401 - lets zarr-python write rectilinear grids
from command import CASES, Failed

SHAPE = (37, 23, 11)
DATA = np.arange(np.prod(SHAPE), dtype="i4").reshape(SHAPE) * 7 % 10007
NAMES = ["time", "lat", "lon"]


def create(location, layout):
    """The same values in different layouts."""
    common = {"shape": SHAPE, "dtype": "i4", "fill_value": -1}
    match layout:
        case "chunks":
            array = zarr.create_array(location, chunks=(10, 5, 4), dimension_names=NAMES, **common)
        case "bare":
            array = zarr.create_array(location, chunks=(37, 6, 11), compressors=None, dimension_names=NAMES, **common)
        case "rectilinear":
            array = zarr.create_array(location, chunks=[[3, 30, 4], [1, 1, 20, 1], [11]], dimension_names=NAMES, **common)
        case "shards":
            array = zarr.create_array(location, chunks=(4, 3, 2), shards=(20, 12, 12), dimension_names=NAMES, **common)
        case "transposed":
            shard = v3.ShardingCodec(chunk_shape=(2, 2, 2), codecs=[v3.BytesCodec(endian="big")])
            array = zarr.create_array(
                location, chunks=(8, 8, 8), filters=[v3.TransposeCodec(order=(2, 0, 1))], serializer=shard, compressors=None, dimension_names=NAMES, **common
            )
        case "format 2":
            array = zarr.create_array(location, chunks=(7, 23, 3), order="F", zarr_format=2, **common)
    array[...] = DATA


LAYOUTS = ["chunks", "bare", "rectilinear", "shards", "transposed", "format 2"]


@pytest.fixture(scope="module")
def arrays(tmp_path_factory):
    root = tmp_path_factory.mktemp("selections")
    for layout in LAYOUTS:
        create(root / layout, layout)
    return root


def bound(rng, n):
    """An end of a slice: absent, within, or far beyond."""
    return [None, int(rng.integers(-n - 3, n + 4)), int(rng.integers(0, n))][rng.integers(3)]


def entry(rng, n):
    """One entry of a selection for an axis of length `n`."""
    match rng.integers(6):
        case 0:
            return int(rng.integers(-n, n))
        case 1 | 2:
            return slice(bound(rng, n), bound(rng, n), [None, 1, 2, -1, -3, int(rng.integers(1, n + 5))][rng.integers(6)])
        case 3:
            return [int(i) for i in rng.integers(-n, n, rng.integers(1, 9))]
        case 4:
            return [bool(b) for b in rng.random(n) < 0.3]
    return slice(None)


def text(entry):
    """An entry as it is typed."""
    if isinstance(entry, slice):
        ends = ["" if e is None else str(e) for e in (entry.start, entry.stop)]
        return ":".join(ends) + ("" if entry.step is None else f":{entry.step}")
    return str(entry)


def pick(data, entries):
    """Each entry along its own axis."""
    for axis in reversed(range(len(entries))):
        e = entries[axis]
        if isinstance(e, list):
            e = np.array(e) if e else np.array([], int)
        data = data[(slice(None),) * axis + (e,)]
    return data


@pytest.mark.parametrize("layout", LAYOUTS)
def test_random_selections(gingham, arrays, tmp_path, layout):
    rng = np.random.default_rng([7, LAYOUTS.index(layout)])
    wrong = []
    for _ in range(max(4, CASES // 8)):
        entries = [entry(rng, n) for n in SHAPE]
        parts = [text(e) for e in entries]
        expected = pick(DATA, entries)
        kept = rng.random()
        if kept < 0.15:
            # The last axes whole, said with an ellipsis or not at all.
            axes = rng.integers(1, 3)
            expected = pick(DATA, [*entries[:axes], *[slice(None)] * (3 - axes)])
            parts = parts[:axes] + (["..."] if kept < 0.08 else [])
        elif kept < 0.3:
            expected = pick(DATA, [slice(None), slice(None), entries[2]])
            parts = ["...", parts[2]]
        elif kept < 0.4:
            parts = ["None", *parts]
            expected = expected[None]
        select = ", ".join(parts)
        try:
            got = gingham.read(arrays / layout, select, folder=tmp_path)
        except Failed as failed:
            wrong.append(f"{select}: {failed}")
            continue
        if got.shape != expected.shape or not np.array_equal(got, expected):
            wrong.append(f"{select}: {got.shape} instead of {expected.shape}" if got.shape != expected.shape else f"{select}: other values")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("layout", ["chunks", "rectilinear", "shards"])
def test_selections_by_name(gingham, arrays, tmp_path, layout):
    got = gingham.read(arrays / layout, "lon=::-1, time=3:9", folder=tmp_path)
    assert np.array_equal(got, DATA[3:9, :, ::-1])
    got = gingham.read(arrays / layout, "lat=[5, 2, 2], time=-1", folder=tmp_path)
    assert np.array_equal(got, DATA[-1][[5, 2, 2]])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_points(gingham, arrays, tmp_path, layout):
    rng = np.random.default_rng(8)
    points = [[int(i) for i in rng.integers(-n, n, 40)] for n in SHAPE]
    got = gingham.read(arrays / layout, f"vindex[{', '.join(map(str, points))}]", folder=tmp_path)
    assert np.array_equal(got, DATA[tuple(map(np.array, points))])


def test_blocks_are_those_of_zarr_python(gingham, arrays, tmp_path):
    array = zarr.open_array(arrays / "chunks", mode="r")
    for select, blocks in [("1", (1,)), ("0, 1:3", (0, slice(1, 3))), ("-1, :, 2", (-1, slice(None), 2)), ("2:4, -2", (slice(2, 4), -2))]:
        got = gingham.read(arrays / "chunks", f"blocks[{select}]", folder=tmp_path)
        assert np.array_equal(got, array.blocks[blocks]), select


@pytest.mark.parametrize(
    "select", ["37", "-38, 0", "0, 0, 0, 0", "::0", "[37]", "[True, False]", "depth=0", "1.5", "a", "0:1, ..., ...", "vindex[[0], [23], [0]]"]
)
def test_impossible_selections_are_refused(gingham, arrays, select):
    """With status 2, before anything is read, and with a sentence."""
    status, out, error = gingham.attempt("read", arrays / "chunks", "--select", select)
    assert status == 2 and not out and error.startswith("error: "), (status, error)


def test_formats_agree(gingham, arrays):
    """JSON, bare bytes and rows of text hold the same values."""
    import json

    location, part = arrays / "shards", DATA[5, 2:9, ::3]
    values = json.loads(gingham.run("read", location, "--select", "5, 2:9, ::3", "--format", "json"))
    assert values == {"shape": list(part.shape), "values": part.reshape(-1).tolist()}
    raw = gingham.run("read", location, "--select", "5, 2:9, ::3", "--format", "raw")
    assert raw == np.ascontiguousarray(part).tobytes()
