"""The same hierarchy through other stores: a zip archive and a web server that cannot list."""

import functools
import http.server
import threading

import numpy as np
import pytest
import zarr

import layouts
import values


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files; a folder is not found, and neither is a list of one. Ranges are answered in part."""

    def log_message(self, *_):
        pass

    def list_directory(self, _):
        self.send_error(404)

    def do_GET(self):
        wanted = self.headers.get("Range")
        if not wanted:
            return super().do_GET()
        try:
            with open(self.translate_path(self.path), "rb") as file:
                data = file.read()
        except OSError:
            return self.send_error(404)
        first, last = wanted.removeprefix("bytes=").split("-")
        start = int(first) if first else max(len(data) - int(last), 0)
        stop = min(int(last) + 1, len(data)) if first and last else len(data)
        if start >= len(data):
            return self.send_error(416)
        self.send_response(206)
        self.send_header("Content-Length", str(stop - start))
        self.send_header("Content-Range", f"bytes {start}-{stop - 1}/{len(data)}")
        self.end_headers()
        self.wfile.write(data[start:stop])


@pytest.fixture
def server(tmp_path):
    """The URL of a server of the test's folder."""
    handler = functools.partial(Quiet, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_web_server(gingham, tmp_path, server, zarr_format):
    """Arrays are found through consolidated metadata, as a server lists nothing."""
    cases, _ = layouts.hierarchy(tmp_path / "z", zarr_format, [50, zarr_format], 20)
    zarr.consolidate_metadata(str(tmp_path / "z"), zarr_format=zarr_format)
    sums = gingham.checksums(f"{server}/z")
    assert {c.name: values.sha256(c.expected) for c in cases} == sums


def test_a_part_of_a_shard_takes_few_bytes_from_a_server(gingham, tmp_path, server):
    data = np.arange(64 * 64 * 64, dtype="f8").reshape(64, 64, 64)
    zarr.create_array(tmp_path / "a", data=data, chunks=(8, 8, 8), shards=(64, 64, 64), compressors=None)
    got = gingham.read(f"{server}/a", "3, 40:50, 60", folder=tmp_path)
    assert np.array_equal(got, data[3, 40:50, 60])


@pytest.mark.parametrize("compressed", [False, True])
def test_a_zip_archive(gingham, tmp_path, compressed):
    import zipfile

    cases, _ = layouts.hierarchy(tmp_path / "z", 3, [51], 30)
    kind = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with zipfile.ZipFile(tmp_path / "z.zip", "w", kind) as archive:
        for file in sorted((tmp_path / "z").rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(tmp_path / "z"))
    assert {c.name: values.sha256(c.expected) for c in cases} == gingham.checksums(tmp_path / "z.zip")


def test_a_node_within_an_archive(gingham, tmp_path):
    data = np.arange(100).reshape(10, 10)
    with zarr.storage.ZipStore(tmp_path / "z.zip", mode="w") as store:
        zarr.create_array(store, name="group/array", data=data, chunks=(3, 4))
    assert np.array_equal(gingham.read(tmp_path / "z.zip" / "group/array", folder=tmp_path), data)


def test_zarr_pythons_zip_store(gingham, tmp_path):
    data = np.arange(100).reshape(10, 10)
    with zarr.storage.ZipStore(tmp_path / "a.zip", mode="w") as store:
        array = zarr.create_array(store, shape=(10, 10), dtype="i8", chunks=(3, 4))
        array[...] = 0
        # A second write adds a second entry of the same name; the last one counts.
        array[...] = data
    assert np.array_equal(gingham.read(tmp_path / "a.zip", folder=tmp_path), data)


def test_nothing_there_is_said_so(gingham, tmp_path, server):
    for location in (tmp_path / "none.zarr", f"{server}/none.zarr"):
        status, out, error = gingham.attempt("info", location)
        assert status == 3 and not out and "error: " in error
    (tmp_path / "empty").mkdir()
    assert gingham.attempt("read", tmp_path / "empty")[0] == 3
