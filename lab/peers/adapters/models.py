# SPDX-License-Identifier: Apache-2.0
"""Makes an invented auxiliary table, ten parties' tables and four parties' models in the folder given."""
import os
import sys

import joblib
import numpy as np
import onnx
import pandas as pd
from onnx import TensorProto, helper
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier

SCHEMA = """name: invented
unit: one visit
relation: replace-one
file: {delimiter: ",", quote: '"', header: true, trim: false, missing: []}
columns:
  - {name: a, role: %(role)s, number: {lower: -3, upper: 3, default: 0}}
  - {name: b, role: %(role)s, number: {lower: -3, upper: 3, default: 0}}
  - {name: y, role: public, label: {levels: ["no", "yes"], positive: "yes"}}
"""


def rows(rng, n):
    x = pd.DataFrame(rng.normal(size=(n, 2)).round(3), columns=["a", "b"])
    y = np.where(x.a + x.b / 2 + 0.5 * rng.normal(size=n) > 0, "yes", "no")
    return x, y


def main(out):
    rng = np.random.default_rng(1)
    for role, name in (("public", "aux"), ("private", "mine")):
        with open(os.path.join(out, name + ".yaml"), "w") as f:
            f.write(SCHEMA % {"role": role})
    rows(rng, 800)[0].to_csv(os.path.join(out, "aux.csv"), index=False)
    x, y = rows(rng, 1000)
    x.assign(y=y).to_csv(os.path.join(out, "test.csv"), index=False)
    models = {1: RandomForestClassifier(20, random_state=1), 2: GradientBoostingClassifier(n_estimators=20), 3: KNeighborsClassifier(7)}
    for party in range(1, 11):
        x, y = rows(rng, 200)
        x.assign(y=y).to_csv(os.path.join(out, f"party{party}.csv"), index=False)
        if party in models:
            joblib.dump(models[party].fit(x, y), os.path.join(out, f"party{party}.joblib"))
        if party == 4:  # least squares, as a matrix and a softmax
            w, *_ = np.linalg.lstsq(x.to_numpy(), np.where(y == "yes", 1.0, -1.0), rcond=None)
            both = np.stack([-w, w], axis=1).astype(np.float32)
            g = helper.make_graph(
                [helper.make_node("MatMul", ["x", "w"], ["z"]), helper.make_node("Softmax", ["z"], ["p"], axis=1)], "party4",
                [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 2])],
                [helper.make_tensor_value_info("p", TensorProto.FLOAT, [None, 2])],
                [helper.make_tensor("w", TensorProto.FLOAT, both.shape, both.flatten())])
            m = helper.make_model(g, opset_imports=[helper.make_opsetid("", 13)])
            m.ir_version = 8
            onnx.save(m, os.path.join(out, "party4.onnx"))


if __name__ == "__main__":
    main(sys.argv[1])
