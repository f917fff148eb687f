# SPDX-License-Identifier: Apache-2.0
"""A Flower app: a message is one call of the coordinator, its reply the site's answer."""
from flwr.app import ConfigRecord, Message, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import ServerApp

from .relay import call_site, coordinate

client = ClientApp()
server = ServerApp()


@client.query()
def answer(message, context):
    call, here = message.content["call"], context.node_config
    if call["path"] == "name":
        reply = {"status": 200, "body": here["site"].encode()}
    else:
        status, body = call_site(here, call["path"], call["body"])
        reply = {"status": status, "body": body}
    return Message(RecordDict({"answer": ConfigRecord(reply)}), reply_to=message)


@server.main()
def main(grid, context):
    def ask(node, path, body=b""):
        content = RecordDict({"call": ConfigRecord({"path": path, "body": body})})
        [reply] = grid.send_and_receive([Message(content, node, "query")])
        return reply.content["answer"]["status"], reply.content["answer"]["body"]

    nodes = {}
    while len(nodes) < context.run_config["nodes"]:
        nodes.update({ask(n, "name")[1].decode(): n for n in grid.get_node_ids() if n not in nodes.values()})
    coordinate(context.run_config, lambda site, path, body: ask(nodes[site], path, body))
