"""`python -m peers PEER OPERATION --store PLACE …`, as the Rust programs; or `python -m peers PEER batch --job FILE`, where
FILE is a JSON list of `[OPERATION, {OPTION: VALUE}]`: several operations in one process, a line for each."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

from peers.worker import run


def main() -> None:
    warnings.simplefilter("ignore")
    name, operation, *rest = sys.argv[1:]
    options = {option.removeprefix("--"): value for option, value in zip(rest[::2], rest[1::2], strict=True)}
    jobs = json.loads(Path(options["job"]).read_text()) if operation == "batch" else [(operation, options)]
    for operation, options in jobs:
        print(json.dumps(run(name, operation, options)), flush=True)


if __name__ == "__main__":
    main()
