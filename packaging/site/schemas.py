# SPDX-License-Identifier: Apache-2.0
"""Writes a JSON schema for each kind of Kubernetes' OpenAPI files: schemas.py FOLDER-OF-OPENAPI OUT.

Objects with declared properties have no others.
"""
import json
import sys
from pathlib import Path

REF = "#/components/schemas/"


def convert(x):
    if isinstance(x, list):
        return [convert(v) for v in x]
    if not isinstance(x, dict):
        return x
    out = {k: convert(v) for k, v in x.items()}
    if isinstance(out.get("properties"), dict):
        out.setdefault("additionalProperties", False)
    if "allOf" in out and len(out["allOf"]) == 1:  # beside it a default and a description
        out.pop("default", None)
    return out


source, out = map(Path, sys.argv[1:])
out.mkdir(parents=True, exist_ok=True)
for name in ("api__v1", "apis__apps__v1", "apis__networking.k8s.io__v1"):
    schemas = convert(json.loads((source / f"{name}_openapi.json").read_text())["components"]["schemas"])
    schemas["io.k8s.apimachinery.pkg.util.intstr.IntOrString"] = {"type": ["integer", "string"]}
    for title, schema in schemas.items():
        for kind in schema.get("x-kubernetes-group-version-kind", []):
            group = kind["group"].split(".")[0] + "-" if kind["group"] else ""
            file = out / f"{kind['kind'].lower()}-{group}{kind['version']}.json"
            file.write_text(json.dumps({"$ref": REF + title, "components": {"schemas": schemas}}))
