# SPDX-License-Identifier: Apache-2.0
"""The ledger that fits charge."""

from __future__ import annotations

import os

from ._account import check_number, digits
from ._binary import run
from ._report import Report, of_budgets


class Ledger:
    """A ledger, which adds up what trainings on each data set cost: a file, or an address ``postgres://user@host/database``.

    An estimator takes it as ``ledger=``, as it takes the path.

    Examples
    --------
    >>> ledger = Ledger("people.db")
    >>> ledger.declare("people", epsilon=4.0)
    >>> ledger.show("people")["left"]
    4
    """

    def __init__(self, address: str | os.PathLike[str]) -> None:
        self.address = os.fspath(address)

    def __fspath__(self) -> str:
        return self.address

    def __repr__(self) -> str:
        return f"Ledger({self.address!r})"

    def declare(self, dataset: str, epsilon: float, delta: float = 0.0, *, unit: str | None = None, note: str | None = None,
                cohort_by: str | None = None) -> None:
        """Declares a data set and the most that all trainings on it may cost, as ``discreet budget init`` does.

        It makes the file if there is none. Neither a second declaration nor a change is possible: it would break the
        promise to the people in the table.

        Parameters
        ----------
        epsilon, delta : float
            The total; a delta of 0 allows pure mechanisms only.
        unit : str
            The unit of privacy that schemas must declare; None is that of the first training.
        note : str
            Who decided on the total, and why.
        cohort_by : str
            The public column whose months or levels are cohorts, each with the total.

        Raises
        ------
        DiscreetError
            The data set has a budget.
        """
        flags = ["--epsilon", digits(check_number("epsilon", epsilon)), "--delta", digits(check_number("delta", delta))]
        for name, value in (("--unit", unit), ("--note", note), ("--cohort-by", cohort_by)):
            if value is not None:
                flags += [name, value]
        run(["budget", "init", "--ledger", self.address, "--dataset", dataset, *flags])

    def show(self, dataset: str | None = None) -> Report:
        """What is spent, reserved and left of one data set, or of all, as ``discreet budget show --json`` prints it.

        ``frame`` has a row for each data set.
        """
        return of_budgets(run(["budget", "show", "--ledger", self.address, "--json",
                               *(["--dataset", dataset] if dataset is not None else [])]).read_json())
