# SPDX-License-Identifier: Apache-2.0
"""What the program finds: its JSON, and a table of it for pandas."""

from __future__ import annotations

from typing import Any, Mapping, Sequence


class Report(dict[str, Any]):
    """A dict of what the program prints with ``--json``.

    Attributes
    ----------
    frame : pandas.DataFrame
        Its table. A notebook shows it. It needs pandas.
    """

    def __init__(self, found: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], index: Sequence[str]) -> None:
        super().__init__(found)
        self._rows, self._index = rows, list(index)

    @property
    def frame(self) -> Any:
        import pandas as pd

        return pd.DataFrame(list(self._rows)).set_index(self._index) if self._rows else pd.DataFrame(index=self._index)

    def _repr_html_(self) -> str | None:
        try:
            return str(self.frame.to_html())
        except ImportError:
            return None


def of_check(found: Mapping[str, Any]) -> Report:
    """A row for each column."""
    return Report(found, found["columns"], ["column"])


def of_plan(found: Mapping[str, Any]) -> Report:
    """A row for each release of the bill."""
    return Report(found, [{"release": e["release"], "mechanism": e["mechanism"], "epsilon": e["epsilon_nano"] / 1e9,
                           "delta": e.get("delta_femto", 0) / 1e15} for e in found["bill"]], ["release"])


def of_evaluation(found: Mapping[str, Any]) -> Report:
    """A row for each number, of all rows and of each group. Of a group that is too small to tell, numbers are missing."""
    groups = found.get("groups", [])
    of_groups = [name for g in groups for name in g if name + "_interval" in g]
    rows = []
    for group in [found, *groups]:
        for name in dict.fromkeys(name for name in found if name + "_interval" in found) if group is found else dict.fromkeys(of_groups):
            low, high = group.get(name + "_interval", (None, None))
            rows.append({**({"group": group.get("group", "")} if groups else {}), "number": name, "value": group.get(name),
                         "low": low, "high": high})
    return Report(found, rows, ["group", "number"] if groups else ["number"])


def of_budgets(found: Mapping[str, Any]) -> Report:
    """A row for each data set."""
    sets = found["datasets"] if "datasets" in found else [found]
    return Report(found, [{"dataset": d["dataset"], **{f"epsilon_{what}": nano / 1e9 for what, nano in d["epsilon_nano"].items()},
                           **{f"delta_{what}": femto / 1e15 for what, femto in d["delta_femto"].items()}} for d in sets], ["dataset"])
