# SPDX-License-Identifier: Apache-2.0
"""An owner (docs/protocol.md, A task from its owners' side)."""
import hashlib
import re
import struct
import time

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import answer
import canonical
from call import PROBLEMS, URN, Client, base64of, unbase64
from secretsum import Sum, deliver

LEVELS = [(str, {"value": str, "aliases": [str]})]
CUTS = {"edges?": [float], "bins?": str}
SCHEMA = {
    "name": str, "unit": str, "relation": str, "max_epsilon?": float, "max_delta?": float, "parts?": str, "pairs?": [[str]],
    "file": {"delimiter": str, "quote": str, "header": bool, "trim": bool, "missing": [str], "comment?": str, "skip_records?": int, "skip_until?": str},
    "columns": [{
        "name": str, "role": str, "number?": {"lower": float, "upper": float, "transform?": str, **CUTS, "default?": float},
        "category?": {"levels": LEVELS, "missing": bool, "groups?": canonical.ANY},
        "label?": {"levels": LEVELS, "positive?": str, "default?": str}, "note?": str,
    }],
    "derived?": [{"name": str, "largest?": [str], "smallest?": [str], "mean?": [str], **CUTS, "note?": str}],
}
TASK = {
    "discreet": str, "version": int, "nonce": str, "mode": str, "classifier": str, "mechanism": str, "epsilon_nano": int, "weight_cap": float,
    "rounds": [{"table": int, "error": int}], "questions": [{"column": str, "edges?": [float]}], "schema": SCHEMA,
}
ANNOUNCEMENT = {
    "discreet": str, "version": int, "minimum": int, "slot_ms": int, "quiet_ms": int, "ends_unix": int, "roster?": str,
    "honest?": int, "proofs?": bool, "helpers?": [{"name": str, "address": str}], "task": TASK,
}
BROADCAST = {
    "discreet": str, "version": int, "task": str, "slot": int, "crowd?": {"owners": int, "at_least": int, "honest": int}, "asks": [{"question": int, "groups?": [int]}],
    "members": [{"vote": float, "shapes?": [{"question": int, "leaves": [[float]]}], "argmax?": {"coef": [[float]], "bias": [float]}}],
}


class Announced:
    """A task that an operator has signed and this owner accepts."""

    def __init__(self, line, name, mode, cap):
        self.body = canonical.read(line, ANNOUNCEMENT)
        self.line = (canonical.write(self.body["task"]) + "\n").encode()
        task = self.body["task"]
        self.name = hashlib.sha256(self.line).digest()
        check_announcement(self.body)
        check_task(task)
        if self.name != name:
            raise ValueError("another task than the one asked for")
        if task["mode"] != mode:
            raise ValueError("a task of another mode")
        if task["epsilon_nano"] > cap:
            raise ValueError("more than this owner gives")
        if self.body["ends_unix"] <= time.time():
            raise ValueError("the task has ended")
        self.task = answer.Task(task)

    def place(self, owner):
        h = hashlib.sha256(b"discreet local place 1\0" + self.name + owner.encode()).digest()
        shares = [r[slot] for r in self.task.body["rounds"] for slot in ("table", "error")]
        at, slot = int.from_bytes(h[:8], "little") * sum(shares) >> 64, 0
        while sum(shares[: slot + 1]) <= at:
            slot += 1
        return slot, int.from_bytes(h[8:16], "little")

    def broadcast(self, line, slot):
        b = canonical.read(line, BROADCAST)
        self.check(b)
        if b["slot"] != slot:
            raise ValueError("a broadcast of another slot")
        return b

    def check(self, b):
        """Only what the task allows."""
        t = self.task
        rounds, questions = len(t.body["rounds"]), range(len(t.questions))
        error = b["slot"] % 2
        ok = (b["discreet"], b["version"], b["task"]) == ("local round", 1, self.name.hex()) and b["slot"] in range(2 * rounds)
        ok = ok and (not b["asks"] if error else 0 < len(b["asks"])) and ("crowd" in b) == (t.body["mode"] == "aggregate")
        ok = ok and ascending([a["question"] for a in b["asks"]]) and error <= len(b["members"]) <= b["slot"] // 2 + error
        if "crowd" in b:
            c = b["crowd"]
            ok = ok and 2 <= c["owners"] <= 1 << 24 and least_of(c["owners"]) <= c["at_least"] <= c["owners"] and 1 <= c["honest"] <= c["at_least"]
        for a in b["asks"]:
            groups = a.get("groups", [])
            ok = ok and a["question"] in questions and (not groups or len(groups) == t.bins(a["question"]) and all(g in range(len(groups)) for g in groups))
        for m in b["members"]:
            ok = ok and 0 <= m["vote"] <= 64 and ("argmax" in m) == (t.body["classifier"] == "centroid") == ("shapes" not in m)
            shapes = m.get("shapes", [])
            ok = ok and ascending([s["question"] for s in shapes])
            for s in shapes:
                ok = ok and s["question"] in questions and len(s["leaves"]) == t.bins(s["question"])
                ok = ok and all(len(leaf) == t.k and all(abs(x) <= 64 for x in leaf) for leaf in s["leaves"])
            if "argmax" in m:
                width = sum(t.codes(q["column"]) or 1 for q in t.questions)
                a = m["argmax"]
                ok = ok and len(a["coef"]) == len(a["bias"]) == t.k and all(len(row) == width for row in a["coef"])
                ok = ok and all(abs(x) <= 1 << 20 for row in a["coef"] + [a["bias"]] for x in row)
        if not ok:
            raise ValueError("the broadcast is not one of the task's")


def least_of(owners):
    return (2 * owners + 2) // 3


def demand(*what):
    if not all(what):
        raise ValueError("out of the protocol's bounds")


def ascending(of):
    return all(x < y for x, y in zip(of, of[1:]))


def check_announcement(b):
    slot, helpers = b["slot_ms"], b.get("helpers", [])
    demand((b["discreet"], b["version"]) == ("announcement", 1), b["minimum"] >= 2, 1000 <= slot <= 90 * 86400_000, 0 <= b["quiet_ms"] <= slot, b["ends_unix"] > 0)
    demand(re.fullmatch("[0-9a-f]{64}", b.get("roster", "0" * 64)), len(set(h["name"] for h in helpers)) == len(set(h["address"] for h in helpers)) == len(helpers))
    secret = b["task"]["mode"] == "aggregate"
    demand(3 <= len(helpers) <= 255 and "roster" in b and b.get("honest", 0) >= 1 if secret else not helpers and "honest" not in b and "proofs" not in b)
    demand(b.get("proofs", True) is True)
    demand(*(re.fullmatch("[A-Za-z0-9._-]{1,64}", h["name"]) and re.fullmatch("https://[^/?#@]+/?", h["address"]) for h in helpers))


def check_task(b):
    laws = ["", *answer.LAWS] if b["mode"] == "local" else [""]
    demand((b["discreet"], b["version"]) == ("local task", 1), re.fullmatch("[0-9a-f]{32}", b["nonce"]), b["mode"] in ("local", "aggregate"), b["mechanism"] in laws)
    demand(b["classifier"] in ("stump", "centroid", "logistic"), 1 <= b["epsilon_nano"] <= 10**12, 1 <= b["weight_cap"] <= 1 << 20, 1 <= len(b["rounds"]) <= 1000)
    demand(*(1 <= r[slot] < 1 << 32 for r in b["rounds"] for slot in r))
    t = answer.Task(b)
    names = [q["column"] for q in t.questions]
    demand(names, len(set(names)) == len(names))
    for at, q in enumerate(t.questions):
        name, edges = q["column"], q.get("edges", [])
        demand(name in t.derived or t.columns[name]["role"] != "ignored" and name != t.label["name"], t.bins(at) * t.k <= 1 << 16, ascending(edges))
        if t.codes(name):
            demand(not edges)
        else:
            low, high, _ = t.number_of(name)
            demand(*(low < e <= high for e in edges))
        if b["mode"] == "local":
            answer.law_for(b["mechanism"], b["epsilon_nano"], t.bins(at) * t.k)
    if b["mode"] == "local":
        answer.law_for(b["mechanism"], b["epsilon_nano"], t.k * t.k)


def report(name, slot, ask, owner, words):
    b = b"DLR1" + name + struct.pack("<HHB", slot, ask, len(owner)) + owner.encode()
    return b + struct.pack(f"<I{len(words)}I", len(words), *words)


def respond(announced, broadcast, ticket, record, source):
    """The ask that a ticket picks, and the words of one answer about a record."""
    t = announced.task
    ask = 0 if broadcast["slot"] % 2 else ticket % len(broadcast["asks"])
    n = answer.bins_of(t, broadcast, ask) * t.k
    law = answer.law_for(t.body["mechanism"], t.body["epsilon_nano"], n)
    cell, w = answer.cell_of(t, broadcast, ask, record), answer.weight(t, broadcast, record)
    return ask, law.answer(answer.Draw(source), cell, w)


def law_of_sum(announced, broadcast):
    """D, t and the law of what owners add for a broadcast; and where each ask's table begins."""
    t, starts, dim = announced.task, [], 0
    for ask in range(max(1, len(broadcast["asks"]))):
        starts.append(dim)
        dim += answer.bins_of(t, broadcast, ask) * t.k
    crowd = broadcast["crowd"]
    return dim, starts, answer.Addend.of_cells(t.body["epsilon_nano"], dim, len(starts), crowd["owners"], crowd["honest"])


class Owner:
    """One owner: a key, a record, and what it has given."""

    def __init__(self, key, record):
        self.key, self.record = key, record
        self.name = key.public_key().public_bytes_raw().hex()
        self.book = {}  # task to the broadcast's digest and what was given: on disk, for real

    @staticmethod
    def fresh(record):
        return Owner(Ed25519PrivateKey.generate(), record)

    def sign(self, purpose, message):
        return self.key.sign(purpose + b"\0" + message)

    def give(self, task, digest, make):
        """What has been given once for a task is all that is ever given."""
        before, given = self.book.setdefault(task, (digest, None))
        if before != digest:
            return None
        if given is None:
            given = make()
            self.book[task] = digest, given
        return given


class Part:
    """Takes part in one task for some owners."""

    def __init__(self, identity, server, task, mode, cap, honest=0):
        """honest is how many owners of a list are counted on, in mode aggregate."""
        self.identity, self.id = identity, task
        self.client = Client(identity, server, "aggregator")
        told = self.client.call("Aggregator/GetTask", {"taskId": base64of(task)})
        t, self.most = told["task"], int(told.get("owners", 0))
        line = unbase64(t["announcement"])
        who = identity.verify("discreet announcement 1", line, unbase64(t["certificate"]), unbase64(t["signature"]))
        if who.split("/")[0] != "operator":
            raise ValueError("no operator has signed the task")
        self.announced = Announced(line, task, mode, cap)
        self.roster, body = None, self.announced.body
        if "roster" in body:
            keys = unbase64(self.client.call("Aggregator/GetRoster", {"taskId": base64of(task)}).get("keys", ""))
            self.roster = check_roster(keys, body["roster"])
        if mode == "aggregate":
            most, self.idle = body["honest"], len(self.roster) - body["honest"]
            demand(most <= honest, 0 <= self.idle < least_of(body["minimum"]), len(self.roster) >= body["minimum"])

    def admitted(self, owners):
        """Those who may report; without a list, as many as this certificate may bring."""
        if self.roster is None:
            return owners[: self.most or None]
        return [o for o in owners if o.name in self.roster]

    def round(self, slot):
        now = self.client.call("Aggregator/GetRound", {"taskId": base64of(self.id), "slot": slot})
        state = now["state"]
        return now, state["state"] == "STATE_OPEN", state.get("slot", 0)

    def wait_for(self, slot):
        """The answer about a slot once it is open; None where it has passed."""
        while True:
            now, open_, at = self.round(slot)
            if not open_ or at > slot:
                return None
            if at == slot:
                return now
            time.sleep(max(0.1, now.get("retryAfterMs", 0) / 1000))

    def upload(self, reports):
        """Names of the refusals by owner, of those that were refused for good."""
        refused, todo = {}, reports
        while todo:
            message = {"taskId": base64of(self.id), "reports": [{"report": base64of(r), "signature": base64of(o.sign(b"discreet report 1", r))} for o, r in todo]}
            again = []
            for f in self.client.call("Aggregator/Upload", message).get("refusals", []):
                owner, _ = one = todo[f.get("index", 0)]
                name = f["problem"]["type"].removeprefix(URN)
                if PROBLEMS.get(name, PROBLEMS["internal"])[2]:
                    again.append(one)
                else:
                    refused[owner.name] = name
            if todo := again:
                time.sleep(0.1)
        return refused

    def local(self, owners, source):
        """Answers for all owners, slot by slot; returns how many were stored, and refusals."""
        by_slot, stored, refused = {}, 0, {}
        for o in self.admitted(owners):
            by_slot.setdefault(self.announced.place(o.name)[0], []).append(o)
        for slot, some in sorted(by_slot.items()):
            now = self.wait_for(slot)
            if now is None:
                refused |= {o.name: "too-late" for o in some}
                continue
            line = unbase64(now["broadcast"])
            broadcast, digest = self.announced.broadcast(line, slot), hashlib.sha256(line).digest()
            reports = []
            for o in some:
                def make(o=o):
                    ask, words = respond(self.announced, broadcast, self.announced.place(o.name)[1], o.record, source)
                    return report(self.id, slot, ask, o.name, words)
                r = o.give(self.id, digest, make)
                if r is not None:
                    reports.append((o, r))
            no = self.upload(reports)
            refused |= no
            stored += len(reports) - len(no)
        return stored, refused


    def aggregate(self, owners, source):
        """Adds to the sums of all owners' slots; returns how many owners' shares a quorum has, and the refusals."""
        by_slot, stored, refused = {}, 0, {}
        for o in self.admitted(owners):
            by_slot.setdefault(self.announced.place(o.name)[0], []).append(o)
        for slot, some in sorted(by_slot.items()):
            now = self.wait_for(slot)
            if now is not None and "sum" not in now:
                refused |= self.upload([(o, report(self.id, slot, 0, o.name, [])) for o in some])
                while now is not None and "sum" not in now:
                    time.sleep(max(0.1, now.get("retryAfterMs", 0) / 1000))
                    now = self.wait_for(slot)
            if now is None:
                refused |= {o.name: "too-late" for o in some}
                continue
            line = unbase64(now["broadcast"])
            broadcast, s = self.announced.broadcast(line, slot), self.check_sum(now["sum"], line, slot)
            addresses = {h["name"]: h["address"] for h in self.announced.body["helpers"]}
            until = time.monotonic() + 120
            _, begun, no = deliver(self.identity, s, addresses, [], until)
            if begun < s.quorum:
                raise ValueError(f"too few helpers have the sum: {no}")
            numbers = {key.hex(): at for at, key in enumerate(s.roster)}
            shares = []
            for o in [o for o in some if o.name in numbers]:
                given = o.give(self.id, s.name, lambda o=o: s.split(numbers[o.name], *s.fresh(self.addend(broadcast, o.record, source)), o.sign))
                if given is not None:
                    shares.append(given)
            kept, _, no = deliver(self.identity, s, addresses, shares, until)
            stored += sum(n >= s.quorum for n in kept)
            refused |= no
        return stored, refused

    def check_sum(self, signed, line, slot):
        """Refuses a sum that is not the one that the broadcast asks for."""
        raw, body = unbase64(signed["sum"]), self.announced.body
        who = self.identity.verify("discreet sum 1", raw, unbase64(signed["certificate"]), unbase64(signed["signature"]))
        s, broadcast = Sum(raw), self.announced.broadcast(line, slot)
        dim, _, law = law_of_sum(self.announced, broadcast)
        n, crowd = len(s.roster), broadcast["crowd"]
        demand(who == s.collector, who.startswith("aggregator/"), [h for h, _ in s.helpers] == [h["name"] for h in body["helpers"]], len(s.present()) >= s.quorum)
        demand(n >= body["minimum"], ascending(s.roster), all(key.hex() in self.roster for key in s.roster), s.round == f"{self.id.hex()} slot {slot}", s.topic == hashlib.sha256(line).digest())
        demand(crowd == {"owners": n, "at_least": least_of(n), "honest": least_of(n) - self.idle}, s.least == crowd["at_least"], s.length == dim, s.range == law.range(), s.proofs == body.get("proofs", False))
        demand(time.time() < s.ends <= time.time() + 3 * body["slot_ms"] / 1000 + 26 * 3600)
        return s

    def addend(self, broadcast, record, source):
        t = self.announced.task
        dim, starts, law = law_of_sum(self.announced, broadcast)
        cells = [at + answer.cell_of(t, broadcast, ask, record) for ask, at in enumerate(starts)]
        return law.cells(answer.Draw(source), dim, cells, answer.weight(t, broadcast, record))


def check_roster(keys, digest):
    if hashlib.sha256(keys).hexdigest() != digest:
        raise ValueError("another list of owners than the operator has signed")
    each = [keys[i : i + 32] for i in range(0, len(keys), 32)]
    if len(keys) % 32 or not each or any(a >= b for a, b in zip(each, each[1:])):
        raise ValueError("a list of owners ascends")
    return {k.hex() for k in each}
