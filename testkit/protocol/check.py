# SPDX-License-Identifier: Apache-2.0
"""Checks vectors.json without discreet's code, from docs/protocol.md alone.

Needs the package cryptography for signatures.
"""
import hashlib
import json
import pathlib
import struct

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

v = json.loads((pathlib.Path(__file__).parent / "vectors.json").read_text())
name = hashlib.sha256(v["task"].encode()).digest()
assert name.hex() == v["task_id"]
assert v["announcement"].endswith('"task":' + v["task"].rstrip("\n") + "}\n")
shares = [x for r in json.loads(v["task"])["rounds"] for x in (r["table"], r["error"])]
asks = [json.loads(b)["asks"] or [] for b in v["broadcasts"]]
for o in v["owners"]:
    key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(o["seed"]))
    assert key.public_key().public_bytes_raw().hex() == o["name"]
    h = hashlib.sha256(b"discreet local place 1\0" + name + o["name"].encode()).digest()
    at, slot = int.from_bytes(h[:8], "little") * sum(shares) >> 64, 0
    while sum(shares[: slot + 1]) <= at:
        slot += 1
    ticket = int.from_bytes(h[8:16], "little")
    assert (slot, ticket) == (o["slot"], o["ticket"])
    assert o["ask"] == (0 if slot % 2 else ticket % len(asks[slot]))
    report = b"DLR1" + name + struct.pack("<HHB", slot, o["ask"], len(o["name"])) + o["name"].encode()
    report += struct.pack(f"<I{len(o['words'])}I", len(o["words"]), *o["words"])
    assert report.hex() == o["report"]
    assert key.sign(b"discreet report 1\0" + report).hex() == o["signature"]
print(f"{len(v['owners'])} owners' reports are as the protocol says")
