"""Damaged stores: an error that says where, never a crash, never values that were not written."""

import math

import numpy as np
import pytest
import zarr
import zarr.codecs as v3

import layouts
import values
from command import CASES

# Elements that are hashed in a moment.
LARGEST = 10**6


def chunks_of(location):
    """The stored chunks."""
    return sorted(f for f in location.rglob("*") if f.is_file() and f.name not in ("zarr.json", ".zarray", ".zattrs"))


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_random_damage(gingham, tmp_path, zarr_format):
    """Bits flip, objects end early or go on too long. Any answer is fine but a crash, a hang or another status than 0 and 4."""
    rng = np.random.default_rng([60, zarr_format])
    cases, _ = layouts.hierarchy(tmp_path / "z", zarr_format, [61, zarr_format], 40)
    for _ in range(max(4, CASES // 10)):
        damaged = {}
        for case in cases:
            files = chunks_of(tmp_path / "z" / case.name)
            if not files:
                continue
            file = files[rng.integers(len(files))]
            whole = damaged[file] = file.read_bytes()
            file.write_bytes(damage(rng, whole))
        status, out, _ = gingham.attempt("checksum", "--json", tmp_path / "z")
        assert status in (0, 4) and len(out.splitlines()) == len(cases)
        for file, whole in damaged.items():
            file.write_bytes(whole)
    assert gingham.checksums(tmp_path / "z") == {c.name: values.sha256(c.expected) for c in cases}


def damage(rng, whole):
    """Bytes that are not quite what they were."""
    kind = rng.integers(4)
    if kind == 0 or not whole:
        return whole[: rng.integers(0, len(whole) + 1)]
    if kind == 1:
        return whole + rng.bytes(rng.integers(1, 20))
    bytes_ = bytearray(whole)
    for _ in range(1 if kind == 2 else rng.integers(1, 9)):
        # Headers and indexes are at the ends.
        at = rng.integers(len(bytes_)) if rng.random() < 0.5 else rng.choice([0, -1]) * int(rng.integers(0, min(16, len(bytes_))))
        bytes_[at] ^= 1 << rng.integers(8)
    return bytes(bytes_)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_random_documents(gingham, tmp_path, zarr_format):
    """Documents whose text was changed here and there."""
    rng = np.random.default_rng([62, zarr_format])
    cases, _ = layouts.hierarchy(tmp_path / "z", zarr_format, [63, zarr_format], 30)
    name = "zarr.json" if zarr_format == 3 else ".zarray"
    documents = {c.name: (tmp_path / "z" / c.name / name).read_bytes() for c in cases}
    for _ in range(max(4, CASES // 10)):
        for case, whole in documents.items():
            text = bytearray(whole)
            for _ in range(rng.integers(1, 4)):
                at = int(rng.integers(len(text)))
                match rng.integers(4):
                    case 0:
                        text[at] = rng.choice(list(b'0123456789-."[]{},:entlf'))
                    case 1:
                        del text[at : at + int(rng.integers(1, 6))]
                    case 2:
                        text[at:at] = [b"0", b"9999999999", b"-1", b"null", b"[", b'"x":1,'][rng.integers(6)]
                    case 3:
                        text = text[: at + 1]
            (tmp_path / "z" / case / name).write_bytes(bytes(text))
        for row in gingham.json("tree", "--json", tmp_path / "z"):
            # To hash an array that calls itself endless takes its time, rightly.
            if math.prod(row.get("shape") or [0]) > LARGEST:
                (tmp_path / "z" / row["path"] / name).write_bytes(documents[row["path"]])
        status, _, _ = gingham.attempt("checksum", "--json", tmp_path / "z")
        assert status in (0, 4)


@pytest.mark.parametrize("codec", ["crc32c", "zstd with checksum", "gzip", "shard index"])
def test_checksums_are_verified(gingham, tmp_path, codec):
    """One flipped bit of what a checksum covers is an error that names the chunk and its key."""
    more = {
        "crc32c": {"compressors": [v3.Crc32cCodec()]},
        "zstd with checksum": {"compressors": [v3.ZstdCodec(level=3, checksum=True)]},
        "gzip": {"compressors": [v3.GzipCodec(level=5)]},
        "shard index": {"shards": (100,), "compressors": None},
    }[codec]
    zarr.create_array(tmp_path / "a", data=np.arange(100, dtype="i4"), chunks=(50,), **more)
    file = tmp_path / "a/c/0"
    whole = bytearray(file.read_bytes())
    whole[{"shard index": -9, "gzip": -5}.get(codec, len(whole) // 2)] ^= 0x10
    file.write_bytes(bytes(whole))
    status, out, error = gingham.attempt("read", tmp_path / "a")
    assert status == 4 and not out and "c/0" in error, error
    if codec != "shard index":
        assert np.array_equal(gingham.read(tmp_path / "a", "50:", folder=tmp_path), np.arange(50, 100))


def test_an_absent_chunk_is_the_fill_value_and_an_empty_one_is_damage(gingham, tmp_path):
    zarr.create_array(tmp_path / "a", data=np.arange(1, 11), chunks=(5,), fill_value=-1, compressors=None)
    (tmp_path / "a/c/1").unlink()
    assert gingham.read(tmp_path / "a", folder=tmp_path).tolist() == [1, 2, 3, 4, 5, -1, -1, -1, -1, -1]
    assert gingham.attempt("read", tmp_path / "a", "--require-chunks")[0] == 3
    (tmp_path / "a/c/1").write_bytes(b"")
    assert gingham.attempt("read", tmp_path / "a")[0] == 4


@pytest.mark.parametrize("shards", [None, (8, 8)])
def test_a_torn_chunk_can_be_overwritten(gingham, tmp_path, shards):
    """A write that covers all of a chunk does not care what is left of the old one, at the array's edge either."""
    array = zarr.create_array(tmp_path / "a", shape=(10, 10), dtype="i4", chunks=(4, 4), shards=shards)
    array[...] = 7
    for file in chunks_of(tmp_path / "a"):
        file.write_bytes(file.read_bytes()[:5])
    data = np.arange(100, dtype="i4").reshape(10, 10)
    gingham.write(tmp_path / "a", data, folder=tmp_path)
    assert np.array_equal(array[...], data)


def test_validate_finds_what_is_damaged(gingham, tmp_path):
    zarr.create_array(tmp_path / "a", data=np.arange(100), chunks=(10,), compressors=[v3.Crc32cCodec()])
    assert gingham.attempt("validate", "--data", tmp_path / "a")[0] == 0
    file = tmp_path / "a/c/3"
    file.write_bytes(file.read_bytes()[:-1])
    status, out, _ = gingham.attempt("validate", "--data", tmp_path / "a")
    assert status == 1 and b"c/3" in out
