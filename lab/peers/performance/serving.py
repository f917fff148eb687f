# SPDX-License-Identifier: Apache-2.0
"""Times predictions over HTTP by discreet serve and by MLServer, one request after the other.

usage: serving.py FOLDER RECORDS.jsonl SECONDS SIZE MLSERVER
       serving.py fit MODEL.joblib NUMBERS.npz

FOLDER is what prepare.py has written. MLSERVER is the python of an environment with mlserver.txt. MLServer gets
scikit-learn's logistic regression, and rows as numbers that are encoded already; discreet gets the cells. One
line of RECORDS is one server and size of request; what is there is not measured again.
"""

import csv
import http.client
import json
import os
import pathlib
import subprocess
import sys
import time

import numpy as np

PORT = 18643
SERVERS = ["discreet serve", "MLServer"]
ROWS = [1, 1000]  # of a request


def descendants(pid):
    """A process and all that it started, directly or not."""
    parents = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                pass  # it has ended
    family = {pid}
    while more := {child for child, parent in parents.items() if parent in family} - family:
        family |= more
    return family


def used(pid):
    """Processor seconds and megabytes at most of a server's processes together."""
    seconds, kilobytes = 0, 0
    for p in descendants(pid):
        stat = pathlib.Path(f"/proc/{p}/stat").read_text().rsplit(")", 1)[1].split()
        seconds += (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")
        kilobytes += next(int(line.split()[1]) for line in pathlib.Path(f"/proc/{p}/status").read_text().splitlines() if line.startswith("VmHWM"))
    return seconds, kilobytes * 1024 / 1e6


def ask(path, body=None):
    """One request; a connection that fails is for the caller to try again."""
    c = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)
    c.request("POST" if body else "GET", path, body, {"Content-Type": "application/json"})
    answer = c.getresponse()
    return answer.status, answer.read()


def wait_ready(server):
    while True:
        if server.poll() is not None:
            sys.exit(f"{server.args}: it ended")
        try:
            if ask("/v2/models/census/ready")[0] == 200:
                return
        except OSError:
            pass
        time.sleep(0.2)


def start_discreet(folder, size):
    subprocess.run([folder / "discreet", "train", "--data", folder / f"train-{size}.parquet", "--schema", folder / "add-remove.yaml", "--learner", "additive",
                    "--epsilon", "1", "--declared-rows", str(size), "--model", folder / "served.json"], check=True, capture_output=True)
    return subprocess.Popen([folder / "discreet", "serve", "--model", f"census={folder / 'served.json'}", "--listen", f"127.0.0.1:{PORT}"], stderr=subprocess.DEVNULL)


def start_mlserver(folder, size, python):
    import peer

    home = folder / "mlserver"
    home.mkdir(exist_ok=True)
    frame, features, y = peer.read(folder / "replace-one.yaml", folder / f"train-{size}.parquet")
    np.savez(home / "numbers.npz", x=peer.ordinal(frame, features), y=y)
    subprocess.run([python, __file__, "fit", home / "model.joblib", home / "numbers.npz"], check=True)
    (home / "settings.json").write_text(json.dumps({"http_port": PORT, "host": "127.0.0.1", "debug": False, "grpc_port": PORT + 1, "metrics_port": PORT + 2}))
    (home / "model-settings.json").write_text(json.dumps(
        {"name": "census", "implementation": "mlserver_sklearn.SKLearnModel", "parameters": {"uri": "./model.joblib"}}))
    return subprocess.Popen([pathlib.Path(python).parent / "mlserver", "start", "."], cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def body(folder, server, size, rows):
    """A request with the first rows of the held-out table that have no missing cell."""
    if server == "discreet serve":
        inputs = json.loads(ask("/v2/models/census")[1])["inputs"]
        with open(folder / f"held-out-{size}.csv", newline="") as f:
            chosen = [r for r in csv.DictReader(f) if "?" not in (c.strip() for c in r.values())][:rows]
        return {"inputs": [{"name": i["name"], "datatype": i["datatype"], "shape": [len(chosen), 1],
                            "data": [float(r[i["name"]]) if i["datatype"] == "FP64" else r[i["name"]].strip() for r in chosen]} for i in inputs]}
    import peer

    frame, features, _ = peer.read(folder / "replace-one.yaml", folder / f"held-out-{size}.parquet")
    x = peer.ordinal(frame.dropna()[:rows], features)
    return {"inputs": [{"name": "predict", "datatype": "FP64", "shape": list(x.shape), "data": x.ravel().tolist()}],
            "outputs": [{"name": "predict_proba"}]}


def measure(server, pid, rows, text, seconds):
    c = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)

    def once():
        c.request("POST", "/v2/models/census/infer", text, {"Content-Type": "application/json"})
        answer = c.getresponse()
        said = answer.read()
        if answer.status != 200:
            sys.exit(f"{server}: {answer.status}: {said.decode()}")

    for _ in range(20):
        once()
    before, _ = used(pid)
    times, began = [], time.monotonic()
    while time.monotonic() - began < seconds:
        start = time.monotonic()
        once()
        times.append(time.monotonic() - start)
    processor, megabytes = used(pid)
    return {"name": server, "what": "serve", "rows_each": rows, "requests": len(times), "seconds": round(sum(times), 3),
            "median_ms": round(1e3 * float(np.median(times)), 3), "most_ms_of_99_%": round(1e3 * float(np.quantile(times, 0.99)), 3),
            "processor_ms_each": round(1e3 * (processor - before) / len(times), 4), "megabytes": round(megabytes, 1), "load": os.getloadavg()[0]}


def main():
    folder, records, seconds, size, python = pathlib.Path(sys.argv[1]), sys.argv[2], float(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
    with open(records) as f:
        done = {(r["name"], r["rows_each"]) for r in map(json.loads, f) if r["what"] == "serve"}
    for name in SERVERS:
        if all((name, rows) in done for rows in ROWS):
            continue
        server = start_discreet(folder, size) if name == "discreet serve" else start_mlserver(folder, size, python)
        try:
            wait_ready(server)
            for rows in ROWS:
                if (name, rows) in done:
                    continue
                line = json.dumps(measure(name, server.pid, rows, json.dumps(body(folder, name, size, rows)), seconds))
                with open(records, "a") as f:
                    f.write(line + "\n")
                print(line, file=sys.stderr)
        finally:
            server.terminate()
            server.wait()


def fit(model, numbers):
    import joblib
    from sklearn.linear_model import LogisticRegression

    with np.load(numbers) as f:
        joblib.dump(LogisticRegression(max_iter=100).fit(f["x"], f["y"]), model)


if __name__ == "__main__":
    fit(*sys.argv[2:]) if sys.argv[1] == "fit" else main()
