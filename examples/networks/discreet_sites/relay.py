# SPDX-License-Identifier: Apache-2.0
"""The two ends of a network that carries calls from a coordinator's discreet-net to those of its sites.

Each institution keeps its own certificate authority. At the coordinator a Gateway stands for the sites;
at a site the relay calls the site's own discreet-net, which holds policy, ledger, rows and keys. The
network sees masked sums with noise only, as a coordinator does.
"""
import http.client
import http.server
import ssl
import subprocess
import threading
from pathlib import Path


def tls(certs, caller, server):
    """A context with a caller's certificate, as discreet-net certs writes it, that wants one of the other end."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.load_verify_locations(Path(certs, "authority.crt"))
    name = caller.replace("/", "-")
    context.load_cert_chain(Path(certs, name + ".crt"), Path(certs, name + ".key"))
    context.verify_mode = ssl.CERT_REQUIRED
    return context


def call_site(config, path, body):
    """Passes a call on to the site's own discreet-net, and returns its status and answer."""
    c = http.client.HTTPSConnection(config["address"], timeout=600, context=tls(config["certs"], config["caller"], False))
    try:
        c.request("POST", path, body, {"Content-Type": "text/plain"})
        answer = c.getresponse()
        return answer.status, answer.read()
    finally:
        c.close()


class Gateway:
    """Stands for sites at the coordinator: what its discreet-net asks, send(site, path, body) answers."""

    def __init__(self, certs, sites, send):
        self.servers = []
        self.lines = []
        for site, key in sites.items():
            server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler(site, send))
            server.socket = tls(certs, "party/" + site, True).wrap_socket(server.socket, server_side=True)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            self.servers.append(server)
            self.lines.append(f"https://127.0.0.1:{server.server_port} {key} {site}\n")

    def close(self):
        for server in self.servers:
            server.shutdown()
            server.server_close()


def handler(site, send):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            try:
                status, answer = send(site, self.path, body)
            except Exception as e:  # the coordinator tries again
                status, answer = 503, repr(e).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    return Handler


def coordinate(config, send):
    """Runs the coordinator's discreet-net with the given arguments; config["sites"] is the list of sites that everybody has."""
    lines = [line.split() for line in Path(config["sites"]).read_text().splitlines()]
    gateway = Gateway(config["certs"], {name: key for _, key, name in filter(None, lines)}, send)
    try:
        sites = Path(config["folder"], "gateway.txt")
        sites.write_text("".join(gateway.lines))
        subprocess.run([config["program"], "site", "train", "--certs", config["certs"], "--as", config["caller"],
                        "--sites", str(sites), *config["arguments"].split()], cwd=config["folder"], check=True)
    finally:
        gateway.close()
