# SPDX-License-Identifier: Apache-2.0
"""Messages of the command line in the words of this package: no flags, no temporary files, rows counted from 0."""

from __future__ import annotations

import re
from typing import Mapping

#: Flags that are parameters of the same name; all others are a learner's options.
_PARAMETERS = {"schema", "epsilon", "delta", "learner", "ledger", "dataset", "job", "cohorts", "rows", "persons", "costs",
               "role", "codebook"}

_PHRASES = [(re.compile(pattern), words) for pattern, words in (
    (r"^(error|hint|spent): ", ""),
    (r"^(see discreet .* --help|is the delimiter right\?)$", ""),
    (r"\bcells:-", "X"),
    (r"^dataset: X: must", "X must"),
    (r" \(all files together\)", ""),
    (r"^(\w+): (?=\1 )", ""),  # epsilon: epsilon must
    (r'\bcolumn "((?:[^"\\]|\\.)*)": ', r'column "\1" '),
    (r"only --exceed-max-epsilon, .*", "lower epsilon and delta, or raise the limits max_epsilon and max_delta of the schema"),
    (r"the same command with --job (\S+) writes (it|the result)", r"the same call with job='\1' returns \2"),
    (r"with --job (\S+) the same command is", r"with job='\1' the same call is"),
    (r"may be inf only together with (--)?not-private", "must be finite"),
    (r'(?<![\w"-])(?:--)?not-private\b(?!"| must not be given: this learner)', "epsilon=inf"),
    (r"--simulate", "simulate=True"),
    (r"costs must be FP:FN, two costs above 0", "costs must be two numbers above 0"),
    (r"^in JSON a codebook is .* with the keys ", "the keys are "),
    (r"one entry per column of the file, in file order, the label among them", "one entry per column of X, and the label"),
    (r"discreet schema init writes a template", "draft_schema writes a template"),
    (r"\bdiscreet budget init (creates|declares) it", r"Ledger.declare \1 it"),
    (r"^dataset: table: header must name each column once, and field (\d+) of line 1 is what a row has .*",
     r"column \1, counted from 1, must have a name that no cell could be (not a number, a date or a sign for a missing cell) and no "
     "other column has: rename it"),
    (r"^give --no-header .*", ""),
    (r": the same command with --request PURPOSE", " with discreet train"),
)]

#: A flag, and its value if that is a number or a placeholder; or a quoted text, which is left as it is.
_FLAG = re.compile(r'"(?:[^"\\]|\\.)*"|--([a-z][a-z0-9-]*)(?:[ =]([0-9.]*[0-9]|[A-Z]+)\b)?')


def in_python(text: str, names: Mapping[str, str] | None = None) -> str:
    """The text of the program, with names for its files."""
    for path, name in sorted((names or {}).items(), key=lambda item: -len(item[0])):
        text = re.sub(re.escape(path) + r"(?!\d)", lambda _: name, text)
    return "\n".join(line for line in map(_of_line, text.splitlines()) if line)


def _of_line(line: str) -> str:
    for pattern, words in _PHRASES:
        line = pattern.sub(words, line)
    line = re.sub(r"^dataset: row (\d+): ", lambda m: f"row {int(m[1]) - 1}: ", line)
    line = re.sub(r"^row (\d+): ", r"row \1, counted from 0: ", line.removeprefix("dataset: "))
    return _FLAG.sub(_of_flag, line)


def _of_flag(flag: re.Match[str]) -> str:
    name, value = flag[1], flag[2] or ""
    if not name:
        return flag[0]
    return f"{name}={value}" if name in _PARAMETERS else f'options["{name}"]' + (f" = {value}" if value else "")
