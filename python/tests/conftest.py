# SPDX-License-Identifier: Apache-2.0
"""What the tests' processes remember of their ledgers goes with the tests."""

import pytest


@pytest.fixture(autouse=True, scope="session")
def state(tmp_path_factory):
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield
