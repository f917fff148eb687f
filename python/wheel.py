#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a wheel: wheel.py VERSION PLATFORM FOLDER NAME PROGRAM, where NAME is discreet or discreet-net.

The wheel of discreet carries the package and the program discreet, that of discreet-net its program alone. A
wheel is a zip archive; this writes the same bytes for the same input, on every machine. It is also what pip
calls to build the package from a source tree, which needs Go.
"""

import base64
import hashlib
import os
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
VERSION = HERE.parent / "internal" / "ground" / "build" / "VERSION"
COMMIT = os.environ.get("COMMIT", "")  # as make sets it
EPOCH = (1980, 1, 1, 0, 0, 0)
SUMMARIES = {
    "discreet": "Classifiers that provably hide the private columns of a table",
    "discreet-net": "Private classifiers across institutions and people: the program discreet-net",
}
HOME = "https://github.com/discreet-dp/discreet"


def metadata(name: str, version: str) -> str:
    lines = ["Metadata-Version: 2.4", f"Name: {name}", f"Version: {version}", f"Summary: {SUMMARIES[name]}",
             "Author: The discreet authors", "License-Expression: Apache-2.0", "License-File: LICENSE",
             f"Project-URL: Source, {HOME}/tree/{COMMIT if COMMIT.isalnum() else 'main'}", f"Project-URL: Documentation, {HOME}/tree/main/docs",
             f"Project-URL: Changelog, {HOME}/blob/main/CHANGELOG.md",
             "Keywords: differential privacy,classification,scikit-learn,boosting",
             "Classifier: Intended Audience :: Science/Research", "Classifier: Topic :: Security",
             "Classifier: Topic :: Scientific/Engineering :: Artificial Intelligence",
             "Classifier: Programming Language :: Python :: 3", "Requires-Python: >=3.10"]
    if name == "discreet":
        lines += ["Classifier: Typing :: Typed", "Requires-Dist: numpy", "Requires-Dist: scikit-learn>=1.6"]
    return "\n".join([*lines, "Description-Content-Type: text/markdown", "", (HERE / "README.md").read_text()])


def main(version: str, platform: str, folder: str, name: str, program: str) -> str:
    tag, stem = f"py3-none-{platform}", f"{name.replace('-', '_')}-{version}"
    info, end = f"{stem}.dist-info", ".exe" if platform.startswith("win") else ""
    files = {}
    if name == "discreet":
        files = {f"discreet/{p.name}": p.read_bytes() for p in sorted((HERE / "discreet").iterdir())
                 if p.suffix == ".py" or p.name == "py.typed"}
    files[f"{stem}.data/scripts/{name}{end}"] = Path(program).read_bytes()
    files[f"{info}/METADATA"] = metadata(name, version).encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: discreet\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    files[f"{info}/licenses/LICENSE"] = (HERE.parent / "LICENSE").read_bytes()
    record = ""
    for path, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(data)}\n"
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    out = Path(folder) / f"{stem}-{tag}.whl"
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = (0o100755 if "/scripts/" in path else 0o100644) << 16
            z.writestr(entry, data)
    print(out)
    return out.name


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: Any = None) -> str:
    """What pip calls (PEP 517) for a source tree: the wheel of discreet for this machine, built by Go."""
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "discreet"
        subprocess.run(["go", "build", "-trimpath", "-ldflags=-s -w", "-o", str(program), "./cmd/discreet"], check=True,
                       cwd=HERE.parent, env=os.environ | {"GOWORK": "off", "CGO_ENABLED": "0"})
        return main(VERSION.read_text().strip(), platform, wheel_directory, "discreet", str(program))


if __name__ == "__main__":
    main(*sys.argv[1:])
