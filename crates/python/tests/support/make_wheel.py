# Writes a wheel into the folder given: enough to install, from no index. By default one that calls itself cpex.
import sys
import zipfile

folder, body, name, version, entry_points = (sys.argv[1:] + ["cpex", "0.1.4", ""][len(sys.argv) - 3 :])[:5]
info = f"{name}-{version}.dist-info"
files = {
    f"{name}/__init__.py": body,
    f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
    f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
}
if entry_points:
    files[f"{info}/entry_points.txt"] = f"[cpex.plugins]\n{entry_points}\n"
with zipfile.ZipFile(f"{folder}/{name}-{version}-py3-none-any.whl", "w") as wheel:
    for path, text in files.items():
        wheel.writestr(path, text)
    wheel.writestr(f"{info}/RECORD", "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"]))
