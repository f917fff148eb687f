# SPDX-License-Identifier: Apache-2.0
"""Compositions priced by Google's dp_accounting, as cases for accounting.

usage: grid.py OUT.json

A case lists mechanisms with their number of uses and, for each delta, the
optimistic and the pessimistic epsilon of dp_accounting's privacy-loss
distributions; then the same for delta at the pessimistic epsilons. Pessimistic
estimates connect the dots, optimistic ones round down: there dp_accounting has
nothing else. Prices are whole nano-units of epsilon and pico-units of rho, so
that both sides start from the same numbers.
"""

import json
import logging
import math
import sys
import time
import warnings
from importlib.metadata import version

from dp_accounting.pld import privacy_loss_distribution as pld

DELTAS = [1e-4, 1e-6, 1e-9]
NANO, PICO = 10**9, 10**12


def distribution(use, pessimistic, interval):
    """One mechanism as a privacy-loss distribution."""
    how = {"pessimistic_estimate": pessimistic, "value_discretization_interval": interval}
    dots = {**how, "use_connect_dots": pessimistic}
    kind, eps = use["kind"], use.get("epsilon_nano", 0) / NANO
    if kind == "gaussian":
        return pld.from_gaussian_mechanism(1 / math.sqrt(2 * use["rho_pico"] / PICO), **dots)
    if kind == "poisson gaussian":
        return pld.from_gaussian_mechanism(
            1 / math.sqrt(2 * use["rho_pico"] / PICO), sampling_prob=use["taken"] / use["of"], **dots)
    if kind == "laplace":
        return pld.from_laplace_mechanism(1 / eps, **dots)
    if kind == "discrete laplace":
        return pld.from_discrete_laplace_mechanism(1 / use["scale"], sensitivity=use["sensitivity"], **dots)
    if kind == "discrete gaussian":
        return pld.from_discrete_gaussian_mechanism(use["scale"], sensitivity=use["sensitivity"], **dots)
    if kind == "pure":
        true, false = -math.log1p(math.exp(-eps)), -math.log1p(math.exp(eps))
        return pld.from_two_probability_mass_functions(
            {0: false, 1: true}, {0: true, 1: false}, symmetric=True, **how)
    if kind == "randomised response":
        k = use["answers"]  # told the truth e^eps times as often as each other
        return pld.from_randomized_response(k / (math.exp(eps) + k - 1), k, **how)
    raise ValueError(kind)


def composed(uses, pessimistic, interval):
    if len(uses) == 1 and uses[0]["kind"] in ("pure", "randomised response"):
        # Two or three losses: a grid that holds them, on the proper side of
        # rounding, makes both estimates sharp.
        eps = uses[0]["epsilon_nano"] / NANO
        interval = eps / math.ceil(eps / interval) * (1 + (1e-11 if pessimistic else -1e-11))
    total = None
    for use in uses:
        part = distribution(use, pessimistic, interval).self_compose(use["times"])
        total = part if total is None else total.compose(part)
    return total


def grid():
    """The published grid: families of one mechanism, then mixes."""
    for times in [1, 10, 100, 1000, 10_000]:
        interval = 1e-4 if times < 1000 else 1e-5
        for rho in [0.005, 0.5, 5]:  # of all uses together
            yield interval, [{"kind": "gaussian", "rho_pico": round(rho * PICO / times), "times": times}]
        root = math.sqrt(times)
        for all_ in [0.3, 2]:  # epsilon of one use times the root of their number
            eps = round(all_ / root * NANO)
            yield interval, [{"kind": "laplace", "epsilon_nano": eps, "times": times}]
            yield interval, [{"kind": "pure", "epsilon_nano": eps, "times": times}]
            yield interval, [{"kind": "randomised response", "epsilon_nano": eps, "answers": 4, "times": times}]
            yield interval, [{"kind": "discrete laplace", "sensitivity": 3, "scale": 3 / (eps / NANO), "times": times}]
            yield interval, [{"kind": "discrete gaussian", "sensitivity": 2, "scale": max(2.0, round(2 / (eps / NANO), 3)), "times": times}]
    for taken, of, rho, times in [(1, 100, 0.5, 1000), (1, 100, 0.5, 10_000), (1, 10, 0.125, 100), (1, 1000, 0.78125, 10_000)]:
        yield 1e-4 if times < 10_000 else 1e-5, [{"kind": "poisson gaussian", "taken": taken, "of": of, "rho_pico": round(rho * PICO), "times": times}]
    for times in [10, 1000]:
        yield 1e-5, [
            {"kind": "gaussian", "rho_pico": round(0.2 * PICO / times), "times": times},
            {"kind": "laplace", "epsilon_nano": round(0.3 / math.sqrt(times) * NANO), "times": times},
            {"kind": "pure", "epsilon_nano": NANO // 10, "times": 5},
        ]


def main():
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    cases = []
    for interval, uses in grid():
        start = time.time()
        high = composed(uses, True, interval)
        seconds = time.time() - start
        low = composed(uses, False, interval)
        case = {"uses": uses, "interval": interval, "seconds": round(seconds, 4), "epsilons": [], "deltas": []}
        for delta in DELTAS:
            eps = float(high.get_epsilon_for_delta(delta))
            case["epsilons"].append({"at": delta, "low": max(float(low.get_epsilon_for_delta(delta)), 0), "high": eps})
            if 0 < eps < math.inf:
                case["deltas"].append({"at": eps, "low": float(low.get_delta_for_epsilon(eps)), "high": float(high.get_delta_for_epsilon(eps))})
        cases.append(case)
        print(len(cases), uses[0]["kind"], uses[0]["times"], f"{seconds:.2f}s", file=sys.stderr)
    made = {"dp_accounting": version("dp-accounting"), "cases": cases}
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        json.dump(made, out, indent=1)
        out.write("\n")


main()
