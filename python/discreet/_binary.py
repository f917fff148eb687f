# SPDX-License-Identifier: Apache-2.0
"""Finds and runs the program that the wheel carries."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import threading
import weakref
from pathlib import Path
from typing import IO, Any, Sequence


_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)


class DiscreetError(RuntimeError):
    """The program failed. Its message never holds a private cell."""


class UsageError(DiscreetError, ValueError):
    """The request is not possible."""


class BudgetError(DiscreetError):
    """A privacy budget refuses the price. Nothing was charged."""


def find_binary() -> str:
    """The program's path: DISCREET_BIN, the one that was installed with this package, or PATH's."""
    name = "discreet.exe" if sys.platform == "win32" else "discreet"
    asked = os.environ.get("DISCREET_BIN")
    if asked:
        return asked
    user = "nt_user" if os.name == "nt" else "posix_user"
    for scheme in (sysconfig.get_default_scheme(), user):
        path = Path(sysconfig.get_path("scripts", scheme), name)
        if path.is_file():
            return str(path)
    found = shutil.which(name)
    if found is None:
        raise FileNotFoundError("the program discreet is not installed; pip install discreet")
    return found


def run(args: Sequence[str], data: bytes | None = None, folder: str | None = None) -> bytes:
    """Runs the program on data and returns what it prints. Messages do not name the temporary folder."""
    done = subprocess.run([find_binary(), *args], input=data if data is not None else b"",
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode == 0:
        return done.stdout
    text = done.stderr.decode("utf-8", "replace").strip()
    # Errors are lines that begin so; what stands before them is progress.
    lines = [line for line in text.splitlines() if line.startswith(("error: ", "hint: "))]
    message = "\n".join(lines) or text
    if folder is not None:
        message = message.replace(os.path.join(folder, ""), "")
    kind = {2: UsageError, 3: BudgetError}.get(done.returncode, DiscreetError)
    raise kind(message)


def version() -> str:
    """The program's name and version."""
    return run(["version"]).decode().strip()


class RowServer:
    """A child process that scores rows. Threads take turns; a fork must make its own."""

    def __init__(self, model: str) -> None:
        self._process = subprocess.Popen([find_binary(), "predict-rows", "--model", model],
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        assert self._process.stdin is not None and self._process.stdout is not None
        self._in: IO[bytes] = self._process.stdin
        self._out: IO[bytes] = self._process.stdout
        self._lock = threading.Lock()
        self.pid = os.getpid()
        hello = self._read()
        # With the estimator goes its child, and all go with the interpreter.
        self._end = weakref.finalize(self, _close, self._process, self.pid)
        self.columns: list[str] = hello["columns"]
        self.rules: list[tuple[str, Any]] = []  # of each column, how its cells are spelt
        self.classes: list[str] = hello["classes"]
        self.positive: int = hello["positive"]
        self.width: int = hello["width"]

    def _read(self) -> dict[str, Any]:
        got = self._out.read(1 << 16)  # as a rule the whole frame
        while len(got) < 4 or len(got) < 4 + int.from_bytes(got[:4], "little"):
            more = self._out.read(1 << 20)
            if not more:
                raise DiscreetError("the program ended unexpectedly")
            got += more
        answer: dict[str, Any] = json.loads(got[4:])
        return answer

    def score(self, rows: list[list[Any]]) -> list[float]:
        """Scores of rows, width numbers each."""
        out: list[float] = []
        for start in range(0, len(rows), 4096) or (0,):  # a frame has its limit
            text = _ENCODER.encode({"rows": rows[start:start + 4096]}).encode()
            with self._lock:
                self._write(len(text).to_bytes(4, "little") + text)
                answer = self._read()
            if "error" in answer:
                raise UsageError(answer["error"])
            out += answer["scores"]
        return out

    def _write(self, frame: bytes) -> None:
        written = self._in.write(frame)
        while written < len(frame):
            written += self._in.write(frame[written:])

    def close(self) -> None:
        """Ends the child process."""
        self._end()


def _close(process: subprocess.Popen[bytes], owner: int) -> None:
    if owner != os.getpid():  # a fork's copy: the child is the parent's
        return
    assert process.stdin is not None and process.stdout is not None
    try:
        process.stdin.close()
        process.wait()
        process.stdout.close()
    except OSError:
        pass
