"""What every test here gets: the built command, and the data of other projects."""

import os
import pathlib

import pytest

from command import Gingham

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def gingham():
    """The built command."""
    path = pathlib.Path(os.environ.get("GINGHAM") or REPOSITORY / "target/release/gingham").absolute()
    if not os.access(path, os.X_OK):
        pytest.exit(f"{path} is not there: build it with `make build`, or name another with GINGHAM", returncode=2)
    return Gingham(path)


@pytest.fixture(scope="session")
def shared():
    """The data of other projects, where it lies beside the checkout."""
    path = REPOSITORY.parent / "shared"
    if not (path / "corpus").is_dir():
        pytest.skip("no shared data beside this checkout")
    return path
