# SPDX-License-Identifier: Apache-2.0
"""Asks one server through somebody else's client: it must say what `predict` wrote.

    clients.py ADDRESS MODEL CSV triton|kserve|mlserver

CSV is what discreet predict wrote: the cells of rows, then label and score.
"""

import asyncio
import csv
import sys

import numpy as np

ADDRESS, MODEL, PATH, CLIENT = sys.argv[1:]


def read_rows(inputs):
    with open(PATH, newline="") as f:
        rows = list(csv.DictReader(f))
    columns = {}
    for name, datatype in inputs:
        cells = [row[name].strip() for row in rows]
        if datatype == "FP64":
            columns[name] = np.array([float(c) if c not in ("", "?") else np.nan for c in cells]).reshape(-1, 1)
        else:
            columns[name] = np.array(cells, dtype=object).reshape(-1, 1)
    return columns, [r["label"] for r in rows], np.array([float(r["score"]) for r in rows])


def check(who, labels, scores, want_labels, want_scores):
    labels = [x.decode() if isinstance(x, bytes) else x for x in labels]
    assert labels == want_labels, f"{who}: other labels"
    assert np.array_equal(np.asarray(scores, dtype=float).ravel(), want_scores), f"{who}: other scores"
    print(f"{who}: {len(labels)} rows, the same to the last bit")


def triton():
    import tritonclient.grpc as g
    import tritonclient.http as h
    from tritonclient.utils import InferenceServerException

    client = h.InferenceServerClient(ADDRESS)
    assert client.is_server_live() and client.is_server_ready() and client.is_model_ready(MODEL)
    inputs = [(i["name"], i["datatype"]) for i in client.get_model_metadata(MODEL)["inputs"]]
    columns, labels, scores = read_rows(inputs)
    for binary in (True, False):
        asked = []
        for name, datatype in inputs:
            one = h.InferInput(name, columns[name].shape, datatype)
            one.set_data_from_numpy(columns[name], binary_data=binary)
            asked.append(one)
        outputs = [h.InferRequestedOutput(o, binary_data=binary) for o in ("label", "score")]
        for given in (outputs, None):
            if given is None and not binary and any(np.isnan(c).any() for c in columns.values() if c.dtype == float):
                continue
            answer = client.infer(MODEL, asked, outputs=given)
            check(f"tritonclient http, binary_data={binary}, outputs {'asked for' if given else 'by default'}",
                  answer.as_numpy("label"), answer.as_numpy("score"), labels, scores)
    try:
        client.infer("stranger", asked)
        raise AssertionError("a stranger answered")
    except InferenceServerException as e:
        assert "served" in str(e), e

    client = g.InferenceServerClient(ADDRESS)
    assert client.is_server_live() and client.is_server_ready() and client.is_model_ready(MODEL)
    assert [i.name for i in client.get_model_metadata(MODEL).inputs] == [n for n, _ in inputs]
    asked = []
    for name, datatype in inputs:
        one = g.InferInput(name, columns[name].shape, datatype)
        one.set_data_from_numpy(columns[name])
        asked.append(one)
    answer = client.infer(MODEL, asked, outputs=[g.InferRequestedOutput("label"), g.InferRequestedOutput("score")])
    check("tritonclient grpc", answer.as_numpy("label"), answer.as_numpy("score"), labels, scores)
    try:
        client.infer("stranger", asked)
        raise AssertionError("a stranger answered")
    except InferenceServerException as e:
        assert "NOT_FOUND" in str(e.status()), e


def kserve():
    from kserve import InferInput, InferRequest, InferenceGRPCClient, InferenceRESTClient
    from kserve.inference_client import RESTConfig

    async def ask():
        rest = InferenceRESTClient(RESTConfig(protocol="v2", retries=1))
        base = "http://" + ADDRESS
        assert await rest.is_server_ready(base) and await rest.is_model_ready(base, MODEL)
        import tritonclient.http as h

        inputs = [(i["name"], i["datatype"]) for i in h.InferenceServerClient(ADDRESS).get_model_metadata(MODEL)["inputs"]]
        columns, labels, scores = read_rows(inputs)
        for binary in (False, True):
            asked = []
            for name, datatype in inputs:
                one = InferInput(name, list(columns[name].shape), datatype)
                one.set_data_from_numpy(columns[name], binary_data=binary)
                asked.append(one)
            answer = await rest.infer(base, InferRequest(MODEL, asked), model_name=MODEL)
            got = {o.name: o.as_numpy() for o in answer.outputs}
            check(f"kserve REST, binary_data={binary}", list(got["label"]), got["score"], labels, scores)
        async with InferenceGRPCClient(ADDRESS) as client:
            assert await client.is_server_ready() and await client.is_model_ready(MODEL)
            answer = await client.infer(InferRequest(MODEL, asked))
            got = {o.name: o.as_numpy() for o in answer.outputs}
            check("kserve gRPC", list(got["label"]), got["score"], labels, scores)

    asyncio.run(ask())


def mlserver():
    import json
    import urllib.request

    from mlserver.codecs import NumpyCodec, StringCodec
    from mlserver.types import InferenceRequest, InferenceResponse

    base = f"http://{ADDRESS}/v2/models/{MODEL}"
    meta = json.load(urllib.request.urlopen(base))
    inputs = [(i["name"], i["datatype"]) for i in meta["inputs"]]
    columns, labels, scores = read_rows(inputs)
    asked = InferenceRequest(inputs=[
        NumpyCodec.encode_input(n, columns[n]) if kind == "FP64" else StringCodec.encode_input(n, list(columns[n].ravel()))
        for n, kind in inputs
    ])
    body = asked.model_dump_json()
    request = urllib.request.Request(base + "/infer", body.encode(), {"Content-Type": "application/json"})
    answer = InferenceResponse.model_validate_json(urllib.request.urlopen(request).read())
    got = {o.name: o for o in answer.outputs}
    check("mlserver's codecs", StringCodec.decode_output(got["label"]), NumpyCodec.decode_output(got["score"]), labels,
          scores)


{"triton": triton, "kserve": kserve, "mlserver": mlserver}[CLIENT]()
