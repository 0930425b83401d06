"""Every command in the README and the guides runs; those that name a store elsewhere at least have options that exist."""

import re
import shlex
import subprocess

import numpy as np
import pytest
import zarr

from conftest import REPOSITORY

DOCUMENTS = ["README.md", *sorted(str(f.relative_to(REPOSITORY)) for f in (REPOSITORY / "docs/guides").glob("*.md"))]
SHAPE = (365, 19, 120)


def commands(document):
    """The lines that call the command: in sh blocks, and indented in the README."""
    text = (REPOSITORY / document).read_text()
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S) + re.findall(r"(?:^    gingham .*\n)+", text, re.M)
    return [line.strip() for block in blocks for line in block.splitlines() if line.strip()]


@pytest.fixture
def folder(tmp_path):
    """The data that the documents speak of."""
    data = np.arange(np.prod(SHAPE), dtype="f4").reshape(SHAPE) % 977
    root = zarr.create_group(tmp_path / "era5.zarr")
    root.create_array("t2m", data=data, chunks=(31, 19, 60), dimension_names=["time", "lat", "lon"])
    old = zarr.create_group(tmp_path / "old.zarr", zarr_format=2)
    old.create_array("t2m", data=data, chunks=(31, 19, 60), attributes={"_ARRAY_DIMENSIONS": ["time", "lat", "lon"]})
    np.save(tmp_path / "batch.npy", data[:7])
    np.save(tmp_path / "january.npy", data[:31])
    return tmp_path


@pytest.mark.parametrize("document", DOCUMENTS)
def test_commands_run(gingham, folder, document):
    """One after the other, in a folder with the data that the documents speak of."""
    lines = commands(document)
    assert lines
    for line in lines:
        words = shlex.split(line, comments=True)
        if "://" in line:
            known = gingham.run(words[1], "--help").decode()
            assert all(re.search(rf"{re.escape(w)}\b", known) for w in words if w.startswith("-")), line
            continue
        done = subprocess.run(["bash", "-c", f'gingham() {{ "{gingham.path}" "$@"; }}; set -o pipefail; {line}'], cwd=folder, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, f"{line}\n{done.stderr}{done.stdout[-500:]}"
