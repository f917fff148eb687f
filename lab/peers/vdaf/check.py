# SPDX-License-Identifier: Apache-2.0
"""The official vectors of draft-irtf-cfrg-vdaf-18, as internal/net/federated/flp reads them: what parties draw and
hold, worked out from the files that the crate prio carries.

    check.py VECTORS PROGRAM OUT"""
import json
import pathlib
import struct
import subprocess
import sys

SHARE, PROOF, JOINT, PROVE, QUERY, JOINT_SEED, JOINT_PART = range(1, 8)  # what a tag says it is for
ALGORITHM = {"l1boundsum/Prio3L1BoundSum_0": 7, "18/Prio3SumVec_0": 3, "18/Prio3SumVec_1": 3}
ELEMENT, SEED = 16, 32


def main(vectors, program, out):
    xof = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    found = []
    for name, algorithm in ALGORITHM.items():
        v = json.loads((pathlib.Path(vectors) / f"{name}.json").read_text())

        def drawn(seed, usage, binder, n):
            tag = bytes([18, 0]) + struct.pack(">IH", algorithm, usage) + bytes.fromhex(v["ctx"])
            print(seed.hex(), tag.hex(), binder.hex() or "-", n, file=xof.stdin, flush=True)
            return bytes.fromhex(xof.stdout.readline())

        most, length, chunk, n = v.get("max_value") or v["max_measurement"], v["length"], v["chunk_length"], v["shares"]
        bound = "max_value" in v
        inputs = most.bit_length() * (length + bound)
        calls = -(-inputs // chunk)
        wires = 1 << calls.bit_length()
        proof = 2 * chunk + 2 * (wires - 1) + 1
        for r in v["reports"]:
            rand, nonce = bytes.fromhex(r["rand"]), bytes.fromhex(r["nonce"])
            public = bytes.fromhex(r["public_share"])
            joint = drawn(drawn(bytes(SEED), JOINT_SEED, public, 0), JOINT, b"\1", calls)
            shares = [bytes.fromhex(s) for s in r["input_shares"]]
            held = [(shares[0][: ELEMENT * inputs], shares[0][ELEMENT * inputs : -SEED])]
            for i, s in enumerate(shares[1:], 1):
                held.append((drawn(s[:SEED], SHARE, bytes([i]), inputs), drawn(s[:SEED], PROOF, bytes([1, i]), proof)))
            found.append({
                "name": name, "most": most, "length": length, "chunk": chunk, "bound": bound, "measurement": r["measurement"],
                "prove": drawn(rand[-SEED:], PROVE, b"\1", 2 * chunk).hex(), "joint": joint.hex(),
                "query": drawn(bytes.fromhex(v["verify_key"]), QUERY, b"\1" + nonce, 1 + 2 * bound).hex(),
                "inputs": [i.hex() for i, _ in held], "proofs": [p.hex() for _, p in held],
                "verifiers": [s[: 2 * ELEMENT * (2 + 2 * chunk)] for s in r["verifier_shares"][0]],
            })  # fmt: skip
    xof.stdin.close()
    pathlib.Path(out).write_text(json.dumps(found))
    print(f"vdaf: {len(found)} reports of {len(ALGORITHM)} official vectors")


if __name__ == "__main__":
    main(*sys.argv[1:])
