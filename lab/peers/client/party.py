# SPDX-License-Identifier: Apache-2.0
"""A party that votes (docs/protocol.md, A query to a party)."""
import csv
import hashlib
import http.server
import json
import re
import struct
import threading
import time

from Crypto.Hash import SHA512
from Crypto.PublicKey import ECC
from Crypto.Signature import eddsa

import answer
import canonical
from call import URN, Refused, base64of, field, fields, peer_of
from owner import demand
from secretsum import Sum, deliver
from sumvotes import Statistic

PARAMS = {
    "epsilon_nano": int, "parties": int, "method": str, "form": str, "shape": str, "mode": str, "loss": str, "width": float, "reg": float,
    "encoding": str, "queries": int, "bound": float,
}
QUERY = {
    "discreet": str, "version": int, "job": str, "params": PARAMS, "schema_sha256": str,
    "tables": [{"sha256": str, "bytes": int, "format": str}], "kind": str, "honest": int, "deadline_unix": int,
}


def check_query(q):
    p, digest = q["params"], "[0-9a-f]{64}"
    demand((q["discreet"], q["version"]) == ("votes query", 1), re.fullmatch("[A-Za-z0-9._-]{1,128}", q["job"]), 1 <= p["epsilon_nano"] <= 10**12, p["parties"] >= 1)
    demand(p["method"] in ("soft", "majority", "average", "noisy-max"), q["kind"] in ("labels", "probabilities", "coefficients"))
    demand((p["method"] == "average") == (q["kind"] == "coefficients"), 0 <= q["honest"] <= p["parties"], not q["honest"] or (p["method"], p["form"]) == ("soft", "statistic"))
    demand(re.fullmatch(digest, q["schema_sha256"]), 1 <= len(q["tables"]) <= 64, q["deadline_unix"] > 0)
    demand(*(re.fullmatch(digest, t["sha256"]) and 1 <= t["bytes"] <= 1 << 40 and t["format"] in ("csv", "parquet") for t in q["tables"]))


class Party:
    """Votes by a function from a row, cells by column, to a number for each level."""

    def __init__(self, identity, combiners, schema, seed, model, kinds, allowed, cap, lifetime, helpers=None, peers=(), honest=0):
        """helpers are the addresses, by name, of those who hold shares; peers the keys that are added up
        with, of whom so many are honest."""
        self.identity, self.combiners, self.schema, self.model = identity, combiners, schema, model
        self.key = key_of(seed)
        self.kinds, self.cap, self.lifetime = kinds, cap, lifetime
        self.tables = allowed  # by SHA-256: the file's bytes, or None where it may be sent
        self.helpers, self.peers, self.honest = helpers or {}, set(peers), honest
        self.charged, self.votes, self.shares = {}, {}, {}  # by the query's name: on disk, for real
        self.lock = threading.Lock()

    def public(self):
        return public_of(self.key)

    def open(self, signed, caller):
        """Checks a query; returns it, and its name here."""
        signed = fields(signed)
        line = signed.get(1, [b""])[0]
        try:
            who = self.identity.verify("discreet votes query 1", line, signed[2][0], signed[3][0])
        except Exception:
            raise Refused("bad-signature", "") from None
        if who.split("/")[0] != "combiner":
            raise Refused("bad-signature", "")
        try:
            q = canonical.read(line, QUERY)
            check_query(q)
        except Exception:
            raise Refused("malformed", "") from None
        eps = q["params"]["epsilon_nano"]
        if who != caller:
            raise Refused("forbidden", "")
        if q["deadline_unix"] <= time.time():
            raise Refused("too-late", "")
        if q["deadline_unix"] > time.time() + 30 * 86400 or q["schema_sha256"] != hashlib.sha256(self.schema).hexdigest() or eps > self.cap:
            raise Refused("not-allowed", "")
        named = f"{caller}\n{canonical.write(q | {'deadline_unix': 0})}\n"
        return q, hashlib.sha256(named.encode()).hexdigest()

    def charge(self, name, eps):
        if name not in self.charged and sum(self.charged.values()) + eps > self.lifetime:
            raise Refused("spent", "")
        self.charged.setdefault(name, eps)

    def files(self, q):
        out = []
        for t in q["tables"]:
            if t["sha256"] not in self.tables or t["format"] != "csv":
                raise Refused("not-allowed", "")
            file = self.tables[t["sha256"]]
            if file is None:
                raise Refused("unknown-table", "")
            out.append(file)
        return out

    def vote(self, signed, caller):
        q, name = self.open(signed, caller)
        if q["honest"]:
            raise Refused("malformed", "the query is for a secret sum")
        if q["kind"] not in self.kinds:
            raise Refused("not-allowed", "")
        with self.lock:
            files = self.files(q)
            self.charge(name, q["params"]["epsilon_nano"])
            if name not in self.votes:
                self.votes[name] = votes_file(self.identity.caller.split("/")[1], self.key, self.model, b"a rule about pets", q, files)
            return self.votes[name]

    def add(self, message, caller):
        """Adds to a secret sum; returns once a quorum of helpers has the shares."""
        m = fields(message)
        q, name = self.open(m[1][0], caller)
        if not q["honest"]:
            raise Refused("malformed", "the query is not for a secret sum")
        s = self.agree(q, fields(m[1][0])[1][0], fields(m[2][0]), caller)
        with self.lock:
            files = self.files(q)
            name = hashlib.sha256(bytes.fromhex(name) + s.name).hexdigest()
            if name not in self.shares:
                rows = rows_of(files)
                law = Statistic(json.loads(self.schema), q["params"], q["honest"], rows)
                if (s.length, s.range) != (law.dim, law.addend.range()):
                    raise Refused("not-allowed", "")
                if deliver(self.identity, s, self.helpers, [], time.monotonic() + 10)[1] < s.quorum:
                    raise Refused("overloaded", "")
                self.charge(name, q["params"]["epsilon_nano"])
                votes = [shares(self.model.probabilities(row)) for row in rows]
                addend = law.addend.draw(answer.Draw(answer.System()), law.of(votes))
                number = s.roster.index(bytes.fromhex(self.public()))
                self.shares[name] = s.split(number, *s.fresh(addend), lambda purpose, text: eddsa.new(self.key, "rfc8032").sign(purpose + b"\0" + text))
        kept, _, refused = deliver(self.identity, s, self.helpers, [self.shares[name]], time.monotonic() + 10)
        if kept[0] < s.quorum:
            raise Refused("too-late" if "too-late" in refused.values() else "overloaded", "")

    def agree(self, q, line, signed, caller):
        """Refuses a sum that is not about this query, or not among the operator's peers and helpers."""
        try:
            who, s = self.identity.verify("discreet sum 1", signed[1][0], signed[2][0], signed[3][0]), Sum(signed[1][0])
        except Exception:
            raise Refused("malformed", "") from None
        listed = all(key.hex() in self.peers for key in s.roster)
        enough = q["honest"] <= s.least - (len(self.peers) - self.honest)
        ours = who == caller == s.collector and s.topic == hashlib.sha256(line).digest() and s.ends > time.time()
        if not (ours and listed and enough and bytes.fromhex(self.public()) in s.roster and len(s.roster) <= max(2, q["params"]["parties"])):
            raise Refused("not-allowed", "")
        if {h for h, _ in s.helpers} != set(self.helpers):
            raise Refused("not-allowed", "")
        return s

    def receive(self, messages, caller):
        """A table that is sent."""
        first = fields(messages[0])
        q, _ = self.open(first[1][0], caller)
        number = first.get(2, [0])[0]
        if number >= len(q["tables"]):
            raise Refused("malformed", "")
        name = q["tables"][number]["sha256"]
        if name not in self.tables:
            raise Refused("not-allowed", "")
        file = b"".join(part for m in messages for part in fields(m).get(3, []))
        if hashlib.sha256(file).hexdigest() != name or len(file) != q["tables"][number]["bytes"]:
            raise Refused("malformed", "")
        with self.lock:
            self.tables[name] = file

    def serve(self):
        """Serves at a free port of this machine; returns the server, which has an address."""
        party = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                answer_call(party, self)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.socket = self.identity.context(server=True).wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        server.address = f"https://127.0.0.1:{server.server_address[1]}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server


def answer_call(party, h):
    body, method = read_body(h), h.path.rsplit("/", 1)[1]
    try:
        caller = peer_of(h.connection)
        if caller not in [f"combiner/{name}" for name in party.combiners]:
            raise Refused("forbidden", "")
        messages = envelopes(body) if method in ("Vote", "SendTable") else [body]
        if h.path == "/discreet.v1.Party/Vote":
            votes = party.vote(fields(messages[0])[1][0], caller)
            parts = [field(1, votes[i : i + 65536]) for i in range(0, len(votes), 65536)]
        elif h.path == "/discreet.v1.Party/Add":
            party.add(body, caller)
            return send(h, 200, "application/proto", b"")
        elif h.path == "/discreet.v1.Party/SendTable":
            party.receive(messages, caller)
            parts = [b""]
        else:
            raise Refused("unknown-call", "")
        error = {}
    except Refused as r:
        problem = field(1, (URN + r.name).encode()) + field(3, r.status) + (field(4, r.detail.encode()) if r.detail else b"")
        error = {"code": r.code, "message": r.name, "details": [{"type": "discreet.v1.Problem", "value": base64of(problem).rstrip("=")}]}
        parts = []
        if method not in ("Vote", "SendTable"):
            return send(h, r.status, "application/json", json.dumps(error).encode())
    last = json.dumps({"error": error} if error else {}).encode()
    out = b"".join(struct.pack(">BI", 0, len(p)) + p for p in parts) + struct.pack(">BI", 2, len(last)) + last
    send(h, 200, "application/connect+proto", out)


def send(h, status, kind, body):
    h.send_response(status)
    h.send_header("Content-Type", kind)
    h.send_header("Content-Length", str(len(body)))
    h.end_headers()
    h.wfile.write(body)


def read_body(h):
    if h.headers.get("Transfer-Encoding", "").lower() != "chunked":
        return h.rfile.read(int(h.headers.get("Content-Length", 0)))
    body = b""
    while n := int(h.rfile.readline().split(b";")[0], 16):
        body += h.rfile.read(n)
        h.rfile.readline()
    while h.rfile.readline().strip():
        pass
    return body


def envelopes(body):
    out = []
    while body:
        flags, n = struct.unpack(">BI", body[:5])
        if flags & 1 or len(body) < 5 + n:
            raise Refused("malformed", "")
        out.append(body[5 : 5 + n])
        body = body[5 + n :]
    if not out:
        raise Refused("malformed", "")
    return out


def key_of(seed):
    return ECC.construct(curve="Ed25519", seed=seed)


def public_of(key):
    return key.public_key().export_key(format="raw").hex()


def rows_of(files):
    """The rows of a query's tables, cells by column."""
    return [row for f in files for row in csv.DictReader(f.decode().splitlines())]


def votes_file(name, key, model, source, q, files):
    rows = rows_of(files)
    header = {
        "party": name, "kind": q["kind"], "levels": model.levels, "rows": len(rows),
        "aux": hashlib.sha256(b"".join(bytes.fromhex(t["sha256"]) for t in q["tables"])).hexdigest(),
        "model": hashlib.sha256(source).hexdigest(), "key": public_of(key),
    }
    out = b"discreet votes 1\n" + (canonical.write(header) + "\n").encode()
    for row in rows:
        p = model.probabilities(row)
        out += bytes([answer.first_largest(p)]) if q["kind"] == "labels" else struct.pack(f"<{len(p) - 1}H", *shares(p)[:-1])
    return out + eddsa.new(key, "rfc8032").sign(SHA512.new(out))


def shares(p):
    """Of 65,535: rounded down, what is left going to the largest fractions, the first of equal ones."""
    total = sum(p)
    if not (all(x >= 0 for x in p) and 0 < total < float("inf")):
        p, total = [1.0] * len(p), len(p)
    exact = [x / total * 65535 for x in p]
    out = [int(x) for x in exact]
    for k in sorted(range(len(p)), key=lambda k: out[k] - exact[k])[: 65535 - sum(out)]:
        out[k] += 1
    return out
