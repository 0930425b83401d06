"""What other libraries write, read by the command: every value, bit for bit."""

import json

import numpy as np
import pytest

import layouts
import layouts_numcodecs
import layouts_tensorstore
import values
from command import CASES

BATCH = 50
BATCHES = range(max(1, CASES // BATCH))

# What the random layouts met so far.
met = set()


def check(gingham, root, cases):
    """Compares every array of a hierarchy, which the command reads in one process."""
    sums = gingham.checksums(root)
    assert set(sums) == {c.name for c in cases}
    wrong = [c for c in cases if sums[c.name] != values.sha256(c.expected)]
    for case in cases:
        met.update(case.used)
    assert not wrong, f"{len(wrong)} of {len(cases)} arrays under {root} differ:\n" + "\n".join(
        f"{c.name}: {sums[c.name] if sums[c.name].startswith('error') else 'other values'}\n   {json.dumps(c.document, default=str)}" for c in wrong[:8]
    )


@pytest.mark.parametrize("batch", BATCHES)
def test_zarr_python_format_3(gingham, tmp_path, batch):
    cases, _ = layouts.hierarchy(tmp_path / "z", 3, [3, batch], BATCH)
    check(gingham, tmp_path / "z", cases)


@pytest.mark.parametrize("batch", BATCHES)
def test_zarr_python_format_2(gingham, tmp_path, batch):
    cases, _ = layouts.hierarchy(tmp_path / "z", 2, [2, batch], BATCH)
    check(gingham, tmp_path / "z", cases)


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_tensorstore(gingham, tmp_path, zarr_format, batch):
    cases = layouts_tensorstore.hierarchy(tmp_path / "z", zarr_format, [4, zarr_format, batch], BATCH)
    check(gingham, tmp_path / "z", cases)


@pytest.mark.parametrize("batch", BATCHES)
def test_numcodecs(gingham, tmp_path, batch):
    cases = layouts_numcodecs.hierarchy(tmp_path / "z", [5, batch], BATCH)
    check(gingham, tmp_path / "z", cases)


@pytest.mark.skipif(CASES < 200, reason="fewer cases than it takes to meet every codec")
def test_every_codec_and_type_was_met():
    """The tests above, which run first, are worth what they met."""
    named = {"bytes:" + n for n in layouts.BYTES_CODECS}
    named |= {"filter:" + n for n in [*layouts.FILTER_TYPES, "transpose", "fletcher32", "crc32", "shuffle", "delta+shuffle"]}
    named |= {"dtype:" + d for d in [*values.NUMBERS, values.TEXT, values.BLOB, "struct", "M8", "m8", *layouts_tensorstore.NARROW]}
    named |= {"serializer:pcodec", "serializer:zfpy", "endian:big", "endian:little", "order:F", "order:C", "index:start", "index:end"}
    named |= {"kind:chunks", "kind:shards", "kind:nested", "grid:regular", "grid:rectilinear", "separator:/", "separator:."}
    named |= {"compressor:" + n for n in ["None", "blosc", "zstd", "gzip", "zlib", "bz2", "lz4", "lzma"]}
    named |= {"vlen-utf8", "vlen-bytes", "json2", "msgpack2", "checks", "base64", "categorize", "pcodec", "zfpy", "members"}
    assert named <= met, f"never met: {sorted(named - met)}"


@pytest.mark.parametrize("dtype", ["<f4", "<f8", "<c16"])
def test_nan_keeps_its_bits(gingham, tmp_path, dtype):
    """A NaN has a payload and a sign, and both come back."""
    import zarr

    dtype = np.dtype(dtype)
    bits = np.frombuffer(np.random.default_rng(6).bytes(64 * dtype.itemsize), np.uint8).copy()
    bits[dtype.itemsize - 1 :: dtype.itemsize] = 0x7F
    bits[dtype.itemsize - 2 :: dtype.itemsize] |= 0xF0
    data = bits.view(dtype)
    zarr.create_array(tmp_path / "a", data=data, chunks=(10,))
    assert gingham.read(tmp_path / "a", folder=tmp_path).tobytes() == data.tobytes()


@pytest.mark.parametrize("serializer", ["pcodec", "zfpy"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_bitround_hands_integers_to_the_next_codec(gingham, tmp_path, dtype, serializer):
    """numcodecs' bitround returns integers of the floats' bits, so zarr-python encodes those."""
    import zarr
    import zarr.codecs.numcodecs as extra

    data = np.linspace(1, 2, 24, dtype=dtype)
    codec = extra.PCodec() if serializer == "pcodec" else extra.ZFPY(mode=4)
    array = zarr.create_array(tmp_path / "a", shape=24, dtype=dtype, chunks=12, filters=[extra.BitRound(keepbits=9)], serializer=codec, compressors=None, fill_value=0)
    array[:] = data
    assert abs(array[:] - data).max() < 0.01
    assert values.same(gingham.read(tmp_path / "a", folder=tmp_path), array[:])
