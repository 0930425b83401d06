"""Reading with other libraries: all elements of an array as NumPy has them."""

import contextlib
import json
import pathlib

import tensorstore as ts
import zarr

import layouts
import values


def zarr_python(location):
    """With zarr-python's own codecs."""
    return layouts.read(zarr.open_array(location, mode="r"))


@contextlib.contextmanager
def zarrs_pipeline():
    """zarr-python with the codecs of zarrs."""
    import zarrs  # noqa: F401 - registers the pipeline

    with zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline", "codec_pipeline.strict": True}):
        yield


def zarrs(location):
    """Through zarrs, which must not hand anything back to Python."""
    with zarrs_pipeline():
        return layouts.read(zarr.open_array(location, mode="r"))


def tensorstore(location):
    """With tensorstore's driver for the format."""
    driver = "zarr3" if (pathlib.Path(location) / "zarr.json").exists() else "zarr"
    return ts.open({"driver": driver, "kvstore": {"driver": "file", "path": str(location)}}).result().read().result()


def disagreements(location, expected, original=None):
    """What other libraries read differently, those that have all it takes; and the names of those that were asked.

    A reader that stumbles over `original`, which others wrote, is let off: the fault is its own.
    """
    readers = [zarr_python] if zarr_python_can(location) else []
    if (pathlib.Path(location) / "zarr.json").exists():
        readers += [zarrs] if zarrs_can(location) else []
        readers += [tensorstore] if tensorstore_can(location) else []
    wrong = []
    for reader in readers:
        why = _disagreement(reader, location, expected)
        if why and not (original and _disagreement(reader, original, expected)):
            wrong.append(f"{location}, {reader.__name__}: {why}\n   {json.dumps(document(location))}")
    return wrong, {r.__name__ for r in readers}


def _disagreement(reader, location, expected):
    try:
        return None if values.same(reader(location), expected) else "other values"
    except BaseException as error:  # noqa: BLE001 - a peer's panic is none of Python's exceptions
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        return f"{type(error).__name__}: {str(error)[:300]}"


def document(location):
    """The stored document of an array."""
    location = pathlib.Path(location)
    file = location / "zarr.json"
    return json.loads((file if file.exists() else location / ".zarray").read_text())


def names_of(codecs):
    """The names of codecs, those inside shards among them."""
    for codec in codecs:
        yield codec["name"]
        configuration = codec.get("configuration", {})
        yield from names_of(configuration.get("codecs", []))
        yield from names_of(configuration.get("index_codecs", []))


def zarr_python_can(location):
    """Whether zarr-python has the data type: of raw bits it knows only a name of its own in format 3."""
    data_type = document(location).get("data_type", "")
    return not (isinstance(data_type, str) and data_type[:1] == "r" and data_type[1:].isdigit())


TENSORSTORE_TYPES = {"bool", *(f"{s}int{8 * n}" for s in ("", "u") for n in (1, 2, 4, 8)), "float16", "float32", "float64", "complex64", "complex128"}
TENSORSTORE_CODECS = {"bytes", "transpose", "sharding_indexed", "gzip", "zstd", "blosc", "crc32c"}


def tensorstore_can(location):
    """Whether tensorstore has all that a document of format 3 asks for."""
    d = document(location)
    bytes_after_shards = d["codecs"][-1]["name"] != "sharding_indexed" and "sharding_indexed" in [c["name"] for c in d["codecs"]]
    return (
        str(d["data_type"]) in TENSORSTORE_TYPES
        and d["chunk_grid"]["name"] == "regular"
        and set(names_of(d["codecs"])) <= TENSORSTORE_CODECS
        and not bytes_after_shards
    )


ZARRS_CODECS = TENSORSTORE_CODECS | {"numcodecs.zlib", "numcodecs.bz2", "numcodecs.shuffle"}


def zarrs_can(location):
    """Whether zarrs' pipeline has all that a document of format 3 asks for."""
    d = document(location)
    return str(d["data_type"]) in TENSORSTORE_TYPES and set(names_of(d["codecs"])) <= ZARRS_CODECS
