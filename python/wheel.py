#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a wheel that carries the two programs: wheel.py VERSION PLATFORM FOLDER DISCREET DISCREET-NET.

A wheel is a zip archive; this writes the same bytes for the same input, on every machine.
"""

import base64
import hashlib
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
EPOCH = (1980, 1, 1, 0, 0, 0)


def main(version: str, platform: str, folder: str, *binaries: str) -> None:
    tag = f"py3-none-{platform}"
    info = f"discreet-{version}.dist-info"
    end = ".exe" if platform.startswith("win") else ""
    files = {f"discreet/{p.name}": p.read_bytes() for p in sorted((HERE / "discreet").iterdir())
             if p.suffix == ".py" or p.name == "py.typed"}
    for program, binary in zip(("discreet", "discreet-net"), binaries, strict=True):
        files[f"discreet-{version}.data/scripts/{program}{end}"] = Path(binary).read_bytes()
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: discreet\nVersion: {version}\n"
        "Summary: Classifiers that provably hide the private columns of a table\nLicense: Apache-2.0\n"
        "Requires-Python: >=3.10\nRequires-Dist: numpy\nRequires-Dist: scikit-learn>=1.6\n"
        "Description-Content-Type: text/markdown\n\n" + (HERE / "README.md").read_text()).encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: discreet\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    files[f"{info}/LICENSE"] = (HERE.parent / "LICENSE").read_bytes()
    record = ""
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    out = Path(folder) / f"discreet-{version}-{tag}.whl"
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = (0o100755 if "/scripts/" in name else 0o100644) << 16
            z.writestr(entry, data)
    print(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
