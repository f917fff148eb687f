# SPDX-License-Identifier: Apache-2.0
"""Takes part in tasks, secret sums and queries of the built programs, on this machine.

	python check.py folder/of/the/programs
"""
import contextlib
import hashlib
import json
import os
import pathlib
import random
import re
import secrets
import socket
import subprocess
import sys
import tempfile
import time

import answer
from call import PROBLEMS, Client, Identity, Refused, base64of
from owner import Owner, Part
from party import Party, key_of, public_of

SCHEMA = {
    "name": 'für <owners> & "others"', "unit": "one invented pet", "relation": "replace-one",
    "file": {"delimiter": ",", "quote": '"', "header": True, "trim": True, "missing": ["?", "-1"]},
    "columns": [
        {"name": "weight", "role": "private", "number": {"lower": 0.00002, "upper": 2000000, "transform": "log1p", "default": 4}},
        {"name": "age", "role": "public", "number": {"lower": -1, "upper": 30, "default": 3}},
        {"name": "years", "role": "private", "number": {"lower": 0, "upper": 30, "default": 3}},
        {"name": "kind", "role": "private", "category": {"levels": ["cat", {"value": "dog", "aliases": ["hound", "d<g"]}, 'ca"t'], "missing": True}},
        {"name": "town", "role": "private", "category": {"levels": ["one", "two"], "missing": False}},
        {"name": "note", "role": "ignored"},
        {"name": "food", "role": "private", "label": {"levels": ["fish", "meat", "hay"], "default": "hay"}},
    ],
    "derived": [{"name": "oldest", "largest": ["age", "years"]}],
}
SCHEMA_FILE = json.dumps(SCHEMA)  # which is YAML, too
# A slot's owners of this client come in one call: what is quiet for so long has all of them.
QUIET = "200ms"
# What is eaten follows from the kind, however it is written.
KINDS = {"cat": "fish", "hound": "meat", " dog ": "meat", "?": "hay", "rabbit": "hay"}


def pets(n, seed):
    r = random.Random(seed)
    for _ in range(n):
        kind = r.choice(sorted(KINDS))
        age = r.choice([str(r.uniform(0, 30)), "-1", "", "no number", "1e1", "7."])
        yield {"weight": f"{r.lognormvariate(1, 2):.3f}", "age": age, "years": str(r.randint(0, 30)), "kind": kind, "town": r.choice(["one", "two", "three"]), "note": "x", "food": KINDS[kind]}


def csv(rows):
    quote = lambda cell: '"' + cell.replace('"', '""') + '"'
    return "".join(",".join(map(quote, row)) + "\n" for row in [list(rows[0])] + [list(r.values()) for r in rows])


class Failed(Exception):
    """A command ended with an error."""


class World:
    """A folder, certificates and processes, gone at the end."""

    def __init__(self, programs, folder):
        self.programs, self.dir, self.stack = programs, folder, contextlib.ExitStack()
        os.environ["XDG_STATE_HOME"] = str(folder / "state")
        self.certs = str(folder / "certs")
        self.run("certs", "trial", "--dir", self.certs)

    def run(self, *args, said=False):
        program = self.programs / ("discreet" if args[0] == "evaluate" else "discreet-net")
        done = subprocess.run([program, *args], cwd=self.dir, capture_output=True, text=True, timeout=300)
        if done.returncode:
            raise Failed(f"{program.name} {' '.join(args)}: exit code {done.returncode}\n{done.stderr}")
        return done.stderr if said else done.stdout

    def issue(self, caller):
        self.run("certs", "trial", "--dir", self.certs, caller)

    def identity(self, caller):
        return Identity(self.certs, caller)

    def start(self, *args):
        """A server of the command at a free port; its address."""
        with socket.create_server(("127.0.0.1", 0)) as s:
            port = s.getsockname()[1]
        log = open(self.dir / "log", "ab")
        p = subprocess.Popen([self.programs / "discreet-net", *args, "--certs", self.certs, "--listen", f"127.0.0.1:{port}"], cwd=self.dir, stdout=log, stderr=log)
        self.stack.callback(lambda: (p.terminate(), p.wait(60)))
        until = time.monotonic() + 120
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 5).close()
                return f"https://127.0.0.1:{port}"
            except OSError:
                if p.poll() is not None or time.monotonic() > until:
                    raise SystemExit(f"discreet-net {args[0]} does not serve\n{(self.dir / 'log').read_text()}") from None
                time.sleep(0.05)

    def task(self, server, *args):
        text = self.run("task", "create", "--certs", self.certs, "--as", "operator/me", "--server", server, "--schema", "pets.yaml", *args)
        return bytes.fromhex(text.strip())

    def model(self, server, task):
        """The accuracy of the finished model on fresh rows."""
        self.run("task", "show", task.hex(), "--certs", self.certs, "--as", "reader/me", "--server", server, "--wait", "--model", "model.json")
        shown = json.loads(self.run("evaluate", "--model", "model.json", "--data", "fresh.csv", "--json"))
        (self.dir / "model.json").unlink()
        return shown


def refusals(w, server):
    """Each refusal has the status, and the problem, of the protocol's table."""
    page = (pathlib.Path(__file__).resolve().parents[3] / "docs" / "protocol.md").read_text()
    rows = re.findall(r"^\| `([a-z-]+)` \| (\d+) \| `(\w+)` \| (yes|no) \|", page, re.MULTILINE)
    table = {name: (int(status), code, again == "yes") for name, status, code, again in rows}
    assert PROBLEMS.items() <= table.items(), PROBLEMS.items() - table.items()
    client, nobody = Client(w.identity("owner/me"), server, "aggregator"), base64of(bytes(32))
    for want, method, message in [
        ("unknown-task", "Aggregator/GetTask", {"taskId": nobody}), ("malformed", "Aggregator/GetTask", {"taskId": "AAAA"}), ("malformed", "Aggregator/GetTask", b"{"),
        ("malformed", "Aggregator/GetRound", {"slot": -1}), ("unknown-call", "Aggregator/Nothing", {}), ("forbidden", "Aggregator/CloseTask", {"taskId": nobody}),
        ("too-large", "Aggregator/Upload", 5 << 20), ("too-large", "Aggregator/Upload", {"taskId": nobody, "reports": [{"report": "A" * 200}] * 10001}),
    ]:
        try:
            raise SystemExit(f"{method}: was answered {client.once(method, message)}, want {want}")
        except Refused as r:
            assert (r.name, r.http) == (want, r.status), (method, want, r.name, r.http)
        client.close()
    for wrong in ("helper", "party/main"):
        try:
            Client(w.identity("owner/me"), server, wrong).once("Aggregator/ListTasks", {})
            raise SystemExit(f"took the aggregator for {wrong}")
        except ValueError:
            pass
    print("refusals are as the protocol's table has them", flush=True)


def locally(w, server):
    """Every classifier and law; by a law of cells, the model must have learnt what is eaten."""
    for number, (classifier, mechanism) in enumerate([("stump", None), ("logistic", "grr"), ("stump", "oue"), ("centroid", "hybrid"), ("stump", "pm"), ("stump", "duchi"), ("stump", "laplace")]):
        owners = [Owner.fresh(r) for r in pets(1000, number)]
        more = ["--mechanism", mechanism] if mechanism else []
        if number == 0:  # with a list of owners, of whom one is a stranger
            (w.dir / "roster").write_text("".join(o.name + "\n" for o in owners))
            more = ["--roster", "roster"]
        task = w.task(server, "--classifier", classifier, "--epsilon", "20", "--owners", "1000", "--rounds", "1", "--minimum", "5", "--slot", "5m", "--quiet", QUIET, "--ends", "1h", *more)
        part = Part(w.identity("owner/me"), server, task, "local", 20 * answer.NANO)
        if number == 0:
            assert part.admitted([Owner.fresh(next(pets(1, 99)))]) == []
        stored, refused = part.local(owners, answer.System())
        assert (stored, refused) == (1000, {}), (stored, refused)
        shown = w.model(server, task)
        assert number > 2 or shown["accuracy"] > 0.75, shown
        print(f"mode local, {classifier}, {mechanism or 'the better of two'}: {stored} reports stored, accuracy {shown['accuracy']}", flush=True)


def committee(w):
    """Helpers of the command: their addresses by name."""
    w.issue("helper/four")  # the trial has three
    return {name: w.start("helper", "--as", f"helper/{name}", "--store", f"{name}.db") for name in ("one", "two", "three", "four")}


def secretly(w, server, helpers):
    """Owners of this client, listed, add to the sums of a task in mode aggregate."""
    committee = ",".join(f"{name}={address}" for name, address in helpers.items())
    owners = [Owner.fresh(r) for r in pets(60, 77)]
    (w.dir / "listed").write_text("".join(o.name + "\n" for o in owners))
    for _ in range(20):  # of a few owners chance may leave a slot with none, which is refused
        try:
            task = w.task(server, "--mode", "aggregate", "--helpers", committee, "--roster", "listed", "--honest", "59", "--classifier", "stump", "--epsilon", "20", "--owners", "60", "--rounds", "1", "--minimum", "2", "--slot", "5m", "--quiet", QUIET, "--ends", "1h")
            break
        except Failed as e:
            assert "minimum" in str(e), e
    for who in (58, 0):
        try:
            raise SystemExit(f"took part though it counts on {who}: {Part(w.identity('owner/me'), server, task, 'aggregate', 20 * answer.NANO, honest=who)}")
        except ValueError:
            pass
    part = Part(w.identity("owner/me"), server, task, "aggregate", 20 * answer.NANO, honest=59)
    stored, refused = part.aggregate(owners, answer.System())
    # A quorum of helpers suffices: the last may have been told to wait no longer.
    assert stored == 60 and set(refused.values()) <= {"too-late"}, (stored, refused)
    shown = w.model(server, task)
    assert shown["accuracy"] > 0.9, shown
    print(f"mode aggregate: {stored} owners' shares stored, accuracy {shown['accuracy']}", flush=True)


class Rule:
    """A party's model: what is eaten, by kind; some parties know little."""

    levels = ["fish", "meat", "hay"]

    def __init__(self, sure):
        self.sure = sure

    def probabilities(self, row):
        at = self.levels.index(KINDS.get(row["kind"], "hay"))
        return [self.sure if k == at else (1 - self.sure) / 2 for k in range(3)]


def parties(w, helpers):
    """Parties of this client: one has the table, the others are sent it."""
    table = csv(list(pets(400, 2000))).encode()
    (w.dir / "aux.csv").write_bytes(table)
    digest, seeds = hashlib.sha256(table).hexdigest(), {name: secrets.token_bytes(32) for name in ("mary", "john", "luke")}
    w.issue("combiner/uni")
    lines, keys = [], [public_of(key_of(seed)) for seed in seeds.values()]
    for name, seed in seeds.items():
        w.issue(f"party/{name}")
        p = Party(
            w.identity(f"party/{name}"), ["uni"], SCHEMA_FILE.encode(), seed, Rule(0.9), ["labels", "probabilities"], {digest: table if name == "mary" else None},
            500 * answer.NANO, 1030 * answer.NANO, helpers, keys, 2,
        )
        server = p.serve()
        w.stack.callback(server.shutdown)
        lines.append(f"{server.address} {p.public()} {name}\n")
    (w.dir / "parties").write_text("".join(lines))
    combine = ["site", "vote", "--sites", "parties", "--certs", w.certs, "--as", "combiner/uni", "--wait", "5m", "--aux", "aux.csv", "--schema", "pets.yaml", "--parties", "3", "--model", "global.json"]
    for kind in ["labels", "probabilities"]:
        w.run(*combine, "--epsilon", "500", "--job", kind, "--kind", kind)
        shown = json.loads(w.run("evaluate", "--model", "global.json", "--data", "fresh.csv", "--json"))
        (w.dir / "global.json").unlink()
        assert shown["accuracy"] > 0.9, shown
        print(f"three parties voted by {kind}: accuracy {shown['accuracy']}", flush=True)
    committee = ",".join(f"{name}={address}" for name, address in helpers.items())
    said = w.run(*combine, "--epsilon", "30", "--job", "secret", "--secure-sum", "--honest", "2", "--minimum", "3", "--helpers", committee, said=True)
    assert "3 of 3 parties are in the secret sum" in said, said
    (w.dir / "global.json").unlink()
    print("three parties added up in secret", flush=True)
    said = w.run(*combine, "--epsilon", "500", "--job", "one-too-many", said=True)
    assert "0 of 3 parties voted" in said, said  # all have given what they give in all


def main():
    with tempfile.TemporaryDirectory() as folder:
        w = World(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(folder))
        with w.stack:
            (w.dir / "pets.yaml").write_text(SCHEMA_FILE)
            (w.dir / "fresh.csv").write_text(csv(list(pets(500, 1000))))
            server = w.start("aggregator", "--as", "aggregator/main", "--state", "state.db", "--max-epsilon", "20")
            refusals(w, server)
            helpers = committee(w)
            parties(w, helpers)
            secretly(w, server, helpers)
            locally(w, server)


if __name__ == "__main__":
    main()
