#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a bill of materials in SPDX 2.3: sbom.py VERSION, with "module version" lines as input.

The same modules give the same bytes: its date is fixed, and its name is of its contents.
"""

import hashlib
import json
import sys

version = sys.argv[1]
modules = [line.split() for line in sys.stdin if line.strip()]
digest = hashlib.sha256(json.dumps([version, modules]).encode()).hexdigest()


def package(number: int, name: str, of: str, place: str) -> dict[str, object]:
    return {
        "SPDXID": f"SPDXRef-{number}", "name": name, "versionInfo": of, "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION",
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": place}],
    }


main = "github.com/discreet-dp/discreet"
packages = [package(0, main, version, f"pkg:golang/{main}@v{version}")]
packages += [package(i, m, v, f"pkg:golang/{m}@{v}") for i, (m, v) in enumerate(modules, 1)]
packages[0]["licenseDeclared"] = "Apache-2.0"
json.dump({
    "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
    "name": f"discreet-{version}", "documentNamespace": f"https://{main}/sbom/{digest}",
    "creationInfo": {"created": "1980-01-01T00:00:00Z", "creators": ["Tool: discreet-release"]},
    "packages": packages,
    "relationships": [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                       "relatedSpdxElement": "SPDXRef-0"}]
    + [{"spdxElementId": "SPDXRef-0", "relationshipType": "DEPENDS_ON", "relatedSpdxElement": f"SPDXRef-{i}"}
       for i in range(1, len(packages))],
}, sys.stdout, indent=1)
print()
