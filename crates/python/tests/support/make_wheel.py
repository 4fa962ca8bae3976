# Writes a wheel that calls itself cpex into the folder given: enough to install, from no index.
import sys
import zipfile

folder, body = sys.argv[1:]
info = "cpex-0.1.4.dist-info"
with zipfile.ZipFile(f"{folder}/cpex-0.1.4-py3-none-any.whl", "w") as wheel:
    wheel.writestr("cpex/__init__.py", body)
    wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: cpex\nVersion: 0.1.4\n")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr(f"{info}/RECORD", f"cpex/__init__.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
