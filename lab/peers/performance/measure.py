# SPDX-License-Identifier: Apache-2.0
"""Times whole processes of ours and of other people's classifiers, in turns.

usage: measure.py FOLDER RECORDS.jsonl REPEATS SIZE ...

FOLDER is what prepare.py has written. One line of RECORDS is one process. This
one imports no library: a process' most memory is at least that of who starts it.
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
    elif name == READS[0]:
        yield "read", [discreet, "schema", "check", folder / "replace-one.yaml", "--data", train]
    else:
        yield "read", [*peer, "read", folder / "replace-one.yaml", train]


def main():
    folder, records, repeats, sizes = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), [int(s) for s in sys.argv[4:]]
    with open(records, "w") as f:
        for size in sizes:
            for repeat in range(repeats):
                for name in [*READS, *OURS, *RIVALS]:
                    for what, command in commands(folder, name, size, 1000 + repeat):
                        line = {"rows": size, "repeat": repeat, "name": name, "what": what, "load": os.getloadavg()[0], **run(command)}
                        if what == "predict":
                            said = subprocess.run([sys.executable, HERE / "peer.py", "judge", folder / "replace-one.yaml", folder / "predicted.parquet"],
                                                  check=True, capture_output=True, text=True).stdout.split()
                            assert int(said[0]) == size, (name, said)
                            line["auc"] = round(float(said[1]), 4)
                        f.write(json.dumps(line) + "\n")
                        f.flush()
                        print(line, file=sys.stderr)


if __name__ == "__main__":
    main()
