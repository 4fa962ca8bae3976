# Says what a virtualenv holds, from the files that installers leave in it. Runs without site code, and imports
# nothing of the virtualenv: what is installed may only run where it is confined.
import csv
import json
import os
import platform
import re
import site
import sys
import sysconfig
from importlib import metadata

GONE_NAMED = 5  # enough for a message

root, wants_files = sys.argv[1], sys.argv[2] == "files"


def folders():
    """Where packages are installed: the virtualenv's, and the base's where it shows through."""
    try:
        with open(os.path.join(root, "pyvenv.cfg"), encoding="utf-8", errors="replace") as file:
            settings = [[part.strip() for part in line.lower().split("=", 1)] for line in file]
    except FileNotFoundError:
        return site.getsitepackages([root])
    paths = sysconfig.get_paths("venv", vars={"base": root, "platbase": root})
    found = [paths["purelib"], paths["platlib"]]
    if ["include-system-site-packages", "true"] in settings:
        found += site.getsitepackages([sys.base_prefix])
    return list(dict.fromkeys(found))


def gone(distribution):
    """Files of the distribution that are not there; caches may come and go."""
    name = distribution.metadata["Name"]
    record = distribution.read_text("RECORD")
    if record is None:
        yield f"{name}: RECORD"
    # Not distribution.files: later versions of it leave out what is missing.
    for row in csv.reader((record or "").splitlines()):
        if row and "__pycache__" not in row[0] and not os.path.lexists(distribution.locate_file(row[0])):
            yield f"{name}: {row[0]}"


packages, plugins, missing = {}, {}, []
for distribution in metadata.distributions(path=folders()):
    name, version = distribution.metadata["Name"], distribution.metadata["Version"]
    if not name or not version:
        continue
    # The first one is the one that is imported.
    packages.setdefault(re.sub(r"[-_.]+", "-", name).lower(), version)
    for point in distribution.entry_points.select(group="cpex.plugins"):
        targets = plugins.setdefault(point.name, [])
        if point.value not in targets:
            targets.append(point.value)
    if wants_files and len(missing) < GONE_NAMED:
        missing.extend(gone(distribution))

version = sys.version_info
markers = {
    "implementation_name": sys.implementation.name,
    "implementation_version": "%d.%d.%d" % sys.implementation.version[:3],
    "os_name": os.name,
    "platform_machine": platform.machine(),
    "platform_python_implementation": platform.python_implementation(),
    "platform_release": platform.release(),
    "platform_system": platform.system(),
    "platform_version": platform.version(),
    "python_full_version": platform.python_version(),
    "python_version": "%d.%d" % version[:2],
    "sys_platform": sys.platform,
}
print(json.dumps({"packages": packages, "plugins": plugins, "gone": missing[:GONE_NAMED], "markers": markers}))
