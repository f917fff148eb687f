# SPDX-License-Identifier: Apache-2.0
"""Times whole processes of ours and of other people's classifiers, in turns.

usage: measure.py FOLDER RECORDS.jsonl REPEATS SIZE ...

FOLDER is what prepare.py has written. One line of RECORDS is one process; what is there is not measured
again. This one imports no library: a process' most memory is at least that of who starts it.
"""

import json
import os
import pathlib
import subprocess
import sys
import time

EPSILON = 1
HERE = pathlib.Path(__file__).parent
# Name on the page, learner, relation.
OURS = {"`additive`": ("additive", "add-remove"), "`auto`": ("auto", "add-remove"), "`brc`": ("brc", "replace-one"), "`erm`": ("erm", "replace-one")}
READS = ["discreet, reads only", "Python, reads only"]
# Name on the page, beside what it stands.
FILES = {
    "discreet, reads CSV": "polars, reads CSV",
    "discreet, reads CSV and trains `brc`": "polars, reads CSV",
    "discreet, predicts CSV to CSV": "polars, reads and writes CSV",
    "discreet, predicts Parquet to Parquet": "polars, reads and writes Parquet",
}
# Name on the page, learner of peer.py.
RIVALS = {
    "diffprivlib, logistic": "private logistic",
    "diffprivlib, Bayes": "private Bayes",
    "diffprivlib, forest": "private forest",
    "interpret, DP-EBM": "DP-EBM",
    "scikit-learn, logistic": "logistic",
    "scikit-learn, histogram boosting": "histogram boosting",
}


def busy():
    """Seconds that the machine's processors have worked: user, nice, system, irq and softirq."""
    with open("/proc/stat") as f:
        t = f.readline().split()[1:]
    return sum(int(t[i]) for i in (0, 1, 2, 5, 6)) / os.sysconf("SC_CLK_TCK")


def run(command):
    """Runs a process to its end; what it took, and what others took of the processors meanwhile."""
    before, start = busy(), time.monotonic()
    p = subprocess.Popen([str(c) for c in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = p.stderr.read()
    _, status, used = os.wait4(p.pid, 0)
    seconds = time.monotonic() - start
    p.returncode = os.waitstatus_to_exitcode(status)
    if p.returncode != 0:
        sys.exit(f"{command}: exit {p.returncode}: {said.decode()}")
    processor = used.ru_utime + used.ru_stime
    return {"seconds": round(seconds, 3), "processor": round(processor, 3), "megabytes": round(used.ru_maxrss * 1024 / 1e6, 1),
            "others": round(max(0.0, busy() - before - processor) / (seconds * os.cpu_count()), 3)}


def commands(folder, name, size, seed):
    """What fits and what predicts, or only reads."""
    train, test = folder / f"train-{size}.parquet", folder / f"held-out-{size}.parquet"
    model, out, discreet = folder / "model", folder / "predicted.parquet", folder / "discreet"
    peer = [sys.executable, HERE / "peer.py"]
    if name in OURS:
        learner, relation = OURS[name]
        declared = ["--declared-rows", size] if relation == "add-remove" else []
        yield "fit", [discreet, "train", "--data", train, "--schema", folder / f"{relation}.yaml", "--learner", learner,
                      "--epsilon", EPSILON, "--model", model, *declared]
        yield "predict", [discreet, "predict", "--model", model, "--data", test, "--out", out]
    elif name in RIVALS:
        schema = folder / "replace-one.yaml"
        yield "fit", [*peer, "fit", RIVALS[name], schema, train, model, seed]
        yield "predict", [*peer, "predict", RIVALS[name], schema, test, model, out]
    elif name in [*FILES, *FILES.values()]:
        yield "file", file_command(folder, name, size, train.with_suffix(".csv"), test)
    elif name == READS[0]:
        yield "read", [discreet, "schema", "check", folder / "replace-one.yaml", "--data", train]
    else:
        yield "read", [*peer, "read", folder / "replace-one.yaml", train]


def file_command(folder, name, size, train, test):
    """What reads a file, or reads and writes one."""
    discreet, schema, model = folder / "discreet", folder / "replace-one.yaml", folder / f"model-{size}"
    if name.startswith("polars"):
        code = {"polars, reads CSV": "read_csv(sys.argv[1], null_values='?')",
                "polars, reads and writes CSV": "read_csv(sys.argv[1], null_values='?').write_csv(sys.argv[2])",
                "polars, reads and writes Parquet": "read_parquet(sys.argv[1]).write_parquet(sys.argv[2])"}[name]
        read = test if name.endswith("Parquet") else test.with_suffix(".csv") if "writes" in name else train
        return [sys.executable, "-c", "import sys, polars; polars." + code, read, folder / ("copy" + read.suffix)]
    if name.endswith("reads CSV"):
        return [discreet, "schema", "check", schema, "--data", train]
    if "trains" in name:
        return [discreet, "train", "--data", train, "--schema", schema, "--learner", "brc", "--epsilon", EPSILON, "--model", model]
    if not model.exists():
        subprocess.run([discreet, "train", "--data", train, "--schema", folder / "add-remove.yaml", "--learner", "additive", "--epsilon", str(EPSILON),
                        "--declared-rows", str(size), "--model", model], check=True, capture_output=True)
    read = test if "Parquet" in name else test.with_suffix(".csv")
    return [discreet, "predict", "--model", model, "--data", read, "--out", folder / ("predicted" + read.suffix)]


def main():
    folder, records, repeats, sizes = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), [int(s) for s in sys.argv[4:]]
    done = set()
    if os.path.exists(records):
        with open(records) as f:
            done = {(r["rows"], r["repeat"], r["name"]) for r in map(json.loads, f) if r["what"] != "serve"}
    with open(records, "a") as f:
        for size in sizes:
            for repeat in range(repeats):
                for name in [*READS, *OURS, *RIVALS, *FILES, *dict.fromkeys(FILES.values())]:
                    if (size, repeat, name) in done:
                        continue
                    lines = []
                    for what, command in commands(folder, name, size, 1000 + repeat):
                        line = {"rows": size, "repeat": repeat, "name": name, "what": what, "load": os.getloadavg()[0], **run(command)}
                        if what == "predict":
                            said = subprocess.run([sys.executable, HERE / "peer.py", "judge", folder / "replace-one.yaml", folder / "predicted.parquet"],
                                                  check=True, capture_output=True, text=True).stdout.split()
                            assert int(said[0]) == size, (name, said)
                            line["auc"] = round(float(said[1]), 4)
                        lines.append(json.dumps(line) + "\n")
                        print(line, file=sys.stderr)
                    f.writelines(lines)  # together: whoever goes on finds all of them, or none
                    f.flush()


if __name__ == "__main__":
    main()
