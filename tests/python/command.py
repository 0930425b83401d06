"""The built command, called as a user calls it."""

import json
import os
import subprocess

import numpy as np

# A run that takes longer hangs: none of the arrays here is larger than a few megabytes.
LIMIT_SECONDS = 120

# Random cases per kind of layout; more find more and take longer.
CASES = int(os.environ.get("GINGHAM_CASES", 200))


class Failed(Exception):
    """The command ended with another status than 0."""

    def __init__(self, arguments, status, error):
        super().__init__(f"gingham {' '.join(map(str, arguments))}\nended with {status}: {error.strip()}")
        self.status = status
        self.error = error


class Gingham:
    """Runs the command. No run may panic, be killed or hang, whatever it is given."""

    def __init__(self, path):
        self.path = path

    def attempt(self, *arguments, stdin=None):
        """Status, standard output and standard error."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("GINGHAM_")} | {"NO_COLOR": "1"}
        done = subprocess.run(
            [self.path, *map(str, arguments)], input=stdin, capture_output=True, timeout=LIMIT_SECONDS, env=environment
        )
        error = done.stderr.decode("utf-8", "replace")
        assert done.returncode in range(8) and "panicked at" not in error, Failed(arguments, done.returncode, error)
        return done.returncode, done.stdout, error

    def run(self, *arguments, stdin=None):
        """Standard output; raises Failed where the status is not 0."""
        status, out, error = self.attempt(*arguments, stdin=stdin)
        if status:
            raise Failed(arguments, status, error)
        return out

    def json(self, *arguments):
        """Standard output as JSON."""
        return json.loads(self.run(*arguments))

    def checksums(self, location):
        """{path: sha256 or the error} of every array below, in one process."""
        status, out, error = self.attempt("checksum", "--json", location)
        if status and not out:
            raise Failed(["checksum", "--json", location], status, error)
        rows = [json.loads(line) for line in out.splitlines()]
        return {row["path"]: row.get("sha256") or "error: " + row["error"] for row in rows}

    def read(self, location, select="", folder=None):
        """A selection as an array, through a .npy file."""
        file = os.path.join(folder, "read.npy")
        self.run("read", location, "--select", select, "--format", "npy", "-o", file)
        return np.load(file)

    def write(self, location, values, *options, folder):
        """Values into an array, through a .npy file."""
        file = os.path.join(folder, "write.npy")
        np.save(file, values)
        return self.run("write", location, "--from", file, *options)
