# SPDX-License-Identifier: Apache-2.0
"""Finds and runs the program that the wheel carries."""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
import warnings
import weakref
from collections import Counter
from pathlib import Path
from typing import IO, Any, Dict, Iterable, Iterator, Mapping, NamedTuple, Sequence

import numpy as np

from ._table import BLOCK, Column, one_row, stream
from ._words import in_python

#: What the program says while it works. A wait for a ledger that another process uses is a warning.
logger = logging.getLogger("discreet")


class DiscreetError(RuntimeError):
    """The program failed. Its message never holds a private cell."""


class UsageError(DiscreetError, ValueError):
    """The request is not possible."""


class BudgetError(DiscreetError):
    """A privacy budget refuses the price. Nothing was charged."""


class DiscreetWarning(UserWarning):
    """A result that may not be what was wanted."""


class PrivacyWarning(DiscreetWarning):
    """A guarantee that promises little, or something beside the estimator that learns from private rows."""


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
        raise FileNotFoundError("the program discreet is not installed: install the wheel of a release, whose SHA256SUMS "
                                "has its checksum, or set DISCREET_BIN to the program's path")
    return found


class Output(NamedTuple):
    """What a run of the program printed."""

    out: bytes
    said: list[str]  # lines beside the result, as it works
    job: str  # the charged job; "" without a ledger
    from_ledger: str  # that the result is an earlier run's; "" if it is not

    def read_json(self) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self.out)
        return answer


def run(args: Sequence[str], data: Iterable[bytes] = (), names: Mapping[str, str] | None = None, wrong: bool = False,
        found: int = 0) -> Output:
    """Runs the program on data. In its messages, names says what files are called; if wrong, a failure is a UsageError.
    found is an exit code that is none.

    An interrupt ends the program, and has a note of what the ledger says is spent.
    """
    with _start(args, stderr=subprocess.PIPE) as process:
        said: list[str] = []
        out: list[bytes] = []
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        readers = [threading.Thread(target=_read_messages, args=(process.stderr, said, names), daemon=True),
                   threading.Thread(target=lambda stream: out.append(stream.read()), args=(process.stdout,), daemon=True)]
        for reader in readers:
            reader.start()
        try:
            try:
                for piece in data:
                    rest = memoryview(piece)
                    while rest:
                        rest = rest[os.write(process.stdin.fileno(), rest):]
                process.stdin.close()
            except OSError:  # it ended without reading all
                pass
            for reader in readers:
                while reader.is_alive():  # a wait without end would not see an interrupt everywhere
                    reader.join(0.2)
            process.wait()
        except BaseException as interrupt:
            _interrupt(process)
            for reader in readers:
                reader.join(10)
            if isinstance(interrupt, KeyboardInterrupt):
                _note(interrupt, _describe_interrupt(said, process.returncode == 0, names))
            raise
    if process.returncode not in (0, found):
        raise _failure(process.returncode, said, names, wrong)
    stored = [in_python(line, names) for line in said if line.startswith("from the ledger: ")]
    return Output(out[0], said, _job_of(said), stored[0] if stored else "")


def _start(args: Sequence[str], **how: Any) -> subprocess.Popen[bytes]:
    # An interrupt is for Python, which passes it on once: a second one would end the program at once.
    group: dict[str, Any] = {"creationflags": 0x200} if sys.platform == "win32" else {"start_new_session": True}
    return subprocess.Popen([find_binary(), *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, **group, **how)


def _read_messages(stream: IO[bytes], said: list[str], names: Mapping[str, str] | None) -> None:
    for raw in stream:
        line = raw.decode("utf-8", "replace").strip()
        said.append(line)
        if line.startswith("waiting for ledger "):
            logger.warning("%s", line)
        elif not line.startswith(("error: ", "hint: ", "spent: ", "TOO FEW: ", "question: ", "from the ledger: ", "wrote ")):
            logger.info("%s", in_python(line, names))


def _interrupt(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        try:
            process.send_signal(getattr(signal, "CTRL_BREAK_EVENT", signal.SIGINT))  # the first is of Windows
            process.wait(30)
        except BaseException:  # it takes too long, or there is a second interrupt
            process.kill()
            process.wait()


def _describe_interrupt(said: Sequence[str], done: bool, names: Mapping[str, str] | None) -> str:
    lines = [line for line in said if line.startswith(("spent: ", "hint: "))]
    if any(line.startswith("spent: ") for line in lines):
        return in_python("\n".join(lines), names)
    job = _job_of(said)
    if not job:
        return ""
    if "error: interrupted" in said:
        return "nothing was charged"
    if done:
        return f"job {job} was done and is charged: job={job!r} returns its result and costs nothing"
    return f"job {job} may be charged: spent() says so, and job={job!r} returns its result if there is one"


def _job_of(said: Sequence[str]) -> str:
    found = re.search(r'^(?:to be charged to data set ".*" as|from the ledger:) job (\S+)', "\n".join(said), re.MULTILINE)
    return found[1] if found else ""


def _note(error: BaseException, text: str) -> None:
    if not text:
        return
    if hasattr(error, "add_note"):
        error.add_note(text)
    else:  # before Python 3.11
        error.args = (*error.args, text)


def _failure(code: int, said: Sequence[str], names: Mapping[str, str] | None, wrong: bool) -> DiscreetError:
    lines = [line for line in said if line.startswith(("error: ", "hint: "))]
    message = in_python("\n".join(lines) or "\n".join(said), names)
    spent = in_python("\n".join(line for line in said if line.startswith("spent: ")), names)
    kind: type[DiscreetError] = {2: UsageError, 3: BudgetError}.get(code, DiscreetError)
    if kind is DiscreetError and not spent and (wrong or _WRONG.search("\n".join(lines))):
        kind = UsageError
    error = kind(message)
    _note(error, spent)
    return error


#: Failures that say what is wrong with an argument or with the table, and not with the machine.
_WRONG = re.compile(r'^error: (schema|dataset: |ledger: data set ".*": job |(ledger|train|plan|evaluate|card|explain|export): .*\bmust\b)', re.MULTILINE)


def version() -> str:
    """The program's name and version."""
    return run(["version"]).out.decode().strip()


Floats = np.ndarray[Any, np.dtype[np.float64]]

#: How many cells of each column are not as the model's schema declares, by what they are.
Odd = Dict[str, "Counter[str]"]


def _blocks(names: Sequence[str], columns: Sequence[Column]) -> Iterator[bytes]:
    """A stream of its own for each block of rows."""
    rows = max((c.size for c in columns), default=0)
    for start in range(0, rows, BLOCK) or (0,):
        yield b"".join(stream(names, columns, start, min(start + BLOCK, rows)))


class RowServer:
    """A child process that scores rows. Threads take turns; a fork must make its own."""

    def __init__(self, model: str) -> None:
        self._process = _start(["predict-rows", "--model", model], stderr=subprocess.DEVNULL, bufsize=0)
        assert self._process.stdin is not None and self._process.stdout is not None
        self._in: IO[bytes] = self._process.stdin
        self._out: IO[bytes] = self._process.stdout
        self._lock = threading.Lock()
        self.pid = os.getpid()
        if sys.platform == "linux":
            import fcntl

            try:  # fewer and longer writes
                fcntl.fcntl(self._in.fileno(), 1031, 1 << 20)  # F_SETPIPE_SZ
            except OSError:  # more than this user may have
                pass
        hello = json.loads(self._take(int.from_bytes(self._take(4), "little")))
        # With the estimator goes its child, and all go with the interpreter.
        self._end = weakref.finalize(self, _close, self._process, self.pid)
        self.columns: list[str] = hello["columns"]
        self.classes: list[str] = hello["classes"]
        self.positive: int = hello["positive"]
        self.width: int = hello["width"]
        self.threshold: float = hello["threshold"]
        # How a row alone begins, whose cells have no dtype.
        self._any = next(stream(self.columns, [Column("a", None, 0, lambda start, stop: [])] * len(self.columns)))

    def score(self, columns: Sequence[Column]) -> Floats:
        """Scores of the rows of columns, width numbers each."""
        scores, odd = self._ask(b"r", _blocks(self.columns, columns))
        _warn_of_cells(odd, len(scores) // self.width)
        return scores

    def score_row(self, values: Sequence[Any]) -> list[float]:
        """The scores of one row."""
        found, odd = self._ask(b"r", (one_row(self._any, values),))
        _warn_of_cells(odd, 1)
        scores: list[float] = found.tolist()
        return scores

    def read_labels(self, name: str, labels: Column) -> Floats:
        """Of each label the index of its class, as a fit reads it."""
        return self._ask(b"l", _blocks([name], [labels]))[0]

    def _ask(self, what: bytes, texts: Iterable[bytes]) -> tuple[Floats, Odd]:
        out: list[Floats] = []
        odd: Odd = {}
        asked = 0
        with self._lock:
            try:
                for text in texts:  # each is made while the child answers the one before
                    if asked:
                        out.append(self._receive(asked - 1, odd))
                    self._send(what, text)
                    asked += 1
                out.append(self._receive(asked - 1, odd))
            except UsageError:  # which was the answer
                raise
            except BaseException:  # an answer may come that nobody waits for
                self.close()
                raise
        return np.concatenate(out), odd

    def _send(self, what: bytes, text: bytes) -> None:
        for piece in (what + len(text).to_bytes(8, "little"), text):
            rest = memoryview(piece)
            while rest:
                rest = rest[self._in.write(rest):]

    def _receive(self, block: int, odd: Odd) -> Floats:
        """The answer about a block of rows, whose undeclared cells are added to odd."""
        head = self._take(5)
        size = int.from_bytes(head[1:], "little")
        if head[:1] == b"-":
            text = self._take(size).decode("utf-8", "replace")
            raise UsageError(in_python(re.sub(r"\brow (\d+)", lambda m: f"row {int(m[1]) + block * BLOCK}", text)))
        body = self._take(4 + 8 * size)
        counted = int.from_bytes(body[:4], "little")
        for counts in json.loads(self._take(counted)) if counted else ():
            odd.setdefault(counts.pop("column"), Counter()).update(counts)
        return np.frombuffer(body, "<f8", offset=4)

    def _take(self, size: int) -> bytearray:
        out = bytearray(size)
        rest = memoryview(out)
        while rest:
            n = self._out.readinto(rest)  # type: ignore[attr-defined]
            if not n:
                raise DiscreetError("the program ended unexpectedly")
            rest = rest[n:]
        return out

    def serves(self) -> bool:
        """Whether this process may ask it."""
        return self.pid == os.getpid() and self._end.alive and self._process.poll() is None

    def close(self) -> None:
        """Ends the child process."""
        self._end()


def _warn_of_cells(odd: Odd, rows: int) -> None:
    if not odd:
        return
    frame, level = sys._getframe(), 1  # the caller's, outside this package
    while frame.f_back and os.path.dirname(frame.f_code.co_filename) == os.path.dirname(__file__):
        frame, level = frame.f_back, level + 1
    said = (f"{name!r}: " + ", ".join(f"{n} of {rows} {what}" for what, n in counts.items()) for name, counts in odd.items())
    warnings.warn("cells are not as the model's schema declares, in column " + "; ".join(said), DiscreetWarning, stacklevel=level)


def _close(process: subprocess.Popen[bytes], owner: int) -> None:
    if owner != os.getpid():  # a fork's copy: the child is the parent's
        return
    assert process.stdin is not None and process.stdout is not None
    try:
        process.stdin.close()
        process.stdout.close()
        process.wait()
    except OSError:
        pass
