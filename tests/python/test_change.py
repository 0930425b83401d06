"""`append`, `resize` and `attrs`: what changes and, above all, what does not."""

import numpy as np
import pytest
import zarr

import layouts  # noqa: F401 - lets zarr-python write rectilinear grids
import peers
import values


def stored(location):
    """{file: bytes} of everything but the document."""
    return {str(f.relative_to(location)): f.read_bytes() for f in location.rglob("*") if f.is_file() and f.name not in ("zarr.json", ".zarray", ".zattrs")}


def test_a_month_is_appended_as_a_chunk_of_its_own(gingham, tmp_path):
    """On a rectilinear axis nothing that is stored changes, and the batch is one new chunk."""
    rng = np.random.default_rng(40)
    data = values.elements(rng, "f4", (90, 4, 6), tame=True)
    location = tmp_path / "a"
    gingham.write(location, data[:60], "--create", "--chunks", "[[31,29],4,6]", "--dims", "time,lat,lon", folder=tmp_path)
    before = stored(location)
    np.save(tmp_path / "march.npy", data[60:])
    gingham.run("append", location, "--axis", "time", "--from", tmp_path / "march.npy")
    after = stored(location)
    assert {k: after[k] for k in before} == before and len(after) == len(before) + 1
    assert values.same(peers.zarr_python(location), data) and values.same(peers.zarrs(location), data)
    assert zarr.open_array(location, mode="r").write_chunk_sizes[0] == (31, 29, 30)


@pytest.mark.parametrize("layout", ["chunks", "shards", "format 2"])
@pytest.mark.parametrize("axis", [0, 1])
def test_batches_are_appended_to_a_regular_grid(gingham, tmp_path, layout, axis):
    rng = np.random.default_rng(41)
    more = {"chunks": {"chunks": (4, 5)}, "shards": {"chunks": (2, 3), "shards": (8, 6)}, "format 2": {"chunks": (4, 5), "zarr_format": 2}}[layout]
    model = values.elements(rng, "i4", (7, 9), tame=True)
    location = tmp_path / "a"
    zarr.create_array(location, data=model, **more)
    for length in [1, 3, 12, 5]:
        batch = values.elements(rng, "i4", (length, model.shape[1]) if axis == 0 else (model.shape[0], length))
        np.save(tmp_path / "batch.npy", batch)
        gingham.run("append", location, "--axis", axis, "--from", tmp_path / "batch.npy")
        model = np.concatenate([model, batch], axis)
        assert values.same(peers.zarr_python(location), model)
        assert values.same(peers.tensorstore(location), model)


@pytest.mark.parametrize("layout", ["chunks", "shards", "format 2", "rectilinear"])
def test_what_was_cut_off_does_not_come_back(gingham, tmp_path, layout):
    """Shrinking and growing again shows the fill value, whatever the chunks held."""
    more = {
        "chunks": {"chunks": (4, 5)},
        "shards": {"chunks": (2, 3), "shards": (8, 6)},
        "format 2": {"chunks": (4, 5), "zarr_format": 2},
        "rectilinear": {"chunks": [[3, 9, 8], [10, 6]]},
    }[layout]
    location = tmp_path / "a"
    data = np.arange(1, 321, dtype="i4").reshape(20, 16)
    array = zarr.create_array(location, shape=data.shape, dtype="i4", fill_value=-5, **more)
    array[...] = data
    status, _, error = gingham.attempt("resize", location, "--shape", "9,16")
    assert status == 6 and "--shrink" in error
    assert values.same(peers.zarr_python(location), data)
    gingham.run("resize", location, "--shape", "9,7", "--shrink")
    assert values.same(peers.zarr_python(location), data[:9, :7])
    gingham.run("resize", location, "--shape", "25,16")
    model = np.full((25, 16), -5, "i4")
    model[:9, :7] = data[:9, :7]
    assert values.same(peers.zarr_python(location), model)
    assert values.same(gingham.read(location, folder=tmp_path), model)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_attributes(gingham, tmp_path, zarr_format):
    array = zarr.create_array(tmp_path / "a", data=np.arange(3), zarr_format=zarr_format, attributes={"keep": {"a": [1, None]}, "history": "long"})
    gingham.run("attrs", tmp_path / "a", "--set", "units=K", "--set", "range=[180, 330.5]", "--set", 'version="2"', "--delete", "history")
    expected = {"keep": {"a": [1, None]}, "units": "K", "range": [180, 330.5], "version": "2"}
    array = zarr.open_array(tmp_path / "a", mode="r")
    assert dict(array.attrs) == expected and array[...].tolist() == [0, 1, 2]
    assert gingham.json("attrs", tmp_path / "a", "--json") == expected


def test_info_says_what_there_is(gingham, tmp_path):
    zarr.create_array(
        tmp_path / "a", shape=(100, 50), dtype="f4", chunks=(5, 10), shards=(20, 50), fill_value=np.nan, dimension_names=["y", None]
    )
    info = gingham.json("info", "--json", tmp_path / "a")
    assert info["shape"] == [100, 50] and info["data_type"] == "float32" and info["fill_value"] == "NaN"
    assert info["dimension_names"] == ["y", None] and info["format"] == 3
    assert info["sharded"] and info["inner_chunk_shape"] == [5, 10] and info["grid"]["chunks"] == 5


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_consolidated_metadata_follows(gingham, tmp_path, zarr_format):
    """A change below a consolidated group is seen by who reads the block alone."""
    root = zarr.create_group(tmp_path / "z", zarr_format=zarr_format)
    root.create_array("inner/a", data=np.arange(4), chunks=(2,))
    zarr.consolidate_metadata(str(tmp_path / "z"), zarr_format=zarr_format)
    gingham.run("attrs", tmp_path / "z/inner/a", "--set", "units=K")
    gingham.run("resize", tmp_path / "z/inner/a", "--shape", 6)
    a = zarr.open_consolidated(str(tmp_path / "z"), zarr_format=zarr_format)["inner/a"]
    assert a.attrs["units"] == "K" and a.shape == (6,)
