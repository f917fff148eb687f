# SPDX-License-Identifier: Apache-2.0
"""An NVFlare job: a task is one call of the coordinator, its result the site's answer."""
import json
from pathlib import Path

from nvflare.apis.controller_spec import Task
from nvflare.apis.executor import Executor
from nvflare.apis.impl.controller import Controller
from nvflare.apis.shareable import Shareable, make_reply
from nvflare.apis.fl_constant import ReturnCode

from .relay import call_site, coordinate


class Coordinator(Controller):
    """Runs the coordinator's discreet-net, whose calls become tasks of one client each."""

    def __init__(self, config):
        super().__init__()
        self.config = json.loads(Path(config).read_text())

    def start_controller(self, fl_ctx):
        pass

    def stop_controller(self, fl_ctx):
        pass

    def control_flow(self, abort_signal, fl_ctx):
        def send(site, path, body):
            results = []
            task = Task("call", Shareable({"path": path, "body": body}),
                        result_received_cb=lambda client_task, fl_ctx: results.append(client_task.result))
            self.send_and_wait(task, fl_ctx, targets=[site], abort_signal=abort_signal)
            return results[0]["status"], results[0]["body"]

        coordinate(self.config, send)

    def process_result_of_unknown_task(self, client, task_name, client_task_id, result, fl_ctx):
        pass


class Site(Executor):
    """Passes calls on to the discreet-net of its site, as its configuration has it by the site's name."""

    def __init__(self, config):
        super().__init__()
        self.config = json.loads(Path(config).read_text())

    def execute(self, task_name, shareable, fl_ctx, abort_signal):
        status, body = call_site(self.config[fl_ctx.get_identity_name()], shareable["path"], shareable["body"])
        reply = make_reply(ReturnCode.OK)
        reply["status"], reply["body"] = status, body
        return reply
