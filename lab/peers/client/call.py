# SPDX-License-Identifier: Apache-2.0
"""Calls over mutual TLS, in Connect's JSON (docs/protocol.md, Transport and Refusals)."""
import base64
import datetime
import http.client
import json
import ssl
import time
import urllib.parse

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

PROBLEMS = {  # name: status, code, whether to try again
    "malformed": (400, "invalid_argument", False),
    "out-of-range": (422, "invalid_argument", False),
    "bad-signature": (401, "unauthenticated", False),
    "forbidden": (403, "permission_denied", False),
    "reconnect": (503, "unavailable", True),
    "unknown-task": (404, "not_found", False),
    "unknown-owner": (403, "permission_denied", False),
    "too-many-owners": (403, "permission_denied", False),
    "task-closed": (410, "failed_precondition", False),
    "unsafe-task": (422, "invalid_argument", False),
    "infeasible": (422, "invalid_argument", False),
    "wrong-group": (409, "failed_precondition", False),
    "wrong-round": (409, "failed_precondition", False),
    "too-early": (425, "failed_precondition", True),
    "too-late": (410, "failed_precondition", False),
    "replayed": (409, "already_exists", False),
    "opened": (409, "already_exists", False),
    "forgot": (410, "failed_precondition", False),
    "not-allowed": (403, "permission_denied", False),
    "unknown-table": (404, "not_found", False),
    "spent": (409, "resource_exhausted", False),
    "unable": (422, "failed_precondition", False),
    "unknown-call": (404, "unimplemented", False),
    "wrong-method": (405, "unimplemented", False),
    "unknown-type": (415, "unimplemented", False),
    "timeout": (504, "deadline_exceeded", True),
    "too-large": (413, "resource_exhausted", False),
    "too-many": (429, "resource_exhausted", True),
    "overloaded": (503, "unavailable", True),
    "storage": (507, "unavailable", True),
    "internal": (500, "internal", False),
}
URN = "urn:discreet:problem:"


class Refused(Exception):
    """A problem of RFC 9457."""

    def __init__(self, name, detail, http=0):
        super().__init__(f"{name}: {detail}")
        self.name, self.detail, self.http = name, detail, http
        self.status, self.code, self.again = PROBLEMS.get(name, PROBLEMS["internal"])


class Identity:
    """A certificate, its key and the authority: as certs trial writes them."""

    def __init__(self, folder, caller):
        self.caller = caller
        stem = f"{folder}/{caller.replace('/', '-')}"
        self.files = f"{stem}.crt", f"{stem}.key"
        self.authority_file = f"{folder}/authority.crt"
        self.authority = x509.load_pem_x509_certificate(open(self.authority_file, "rb").read())

    def context(self, server):
        c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT)
        c.minimum_version = ssl.TLSVersion.TLSv1_3
        c.load_verify_locations(self.authority_file)
        c.load_cert_chain(*self.files)
        c.verify_mode = ssl.CERT_REQUIRED
        return c

    def verify(self, purpose, message, certificate, signature):
        """Who signed a message, by a certificate of this authority that is valid now."""
        cert = x509.load_der_x509_certificate(certificate)
        cert.verify_directly_issued_by(self.authority)
        now = datetime.datetime.now(datetime.timezone.utc)
        for c in (cert, self.authority):
            if not c.not_valid_before_utc <= now <= c.not_valid_after_utc:
                raise ValueError("the certificate is not valid now")
        usage = cert.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
        if x509.ExtendedKeyUsageOID.CLIENT_AUTH not in usage:
            raise ValueError("the certificate is not a caller's")
        signed = f"{len(purpose)}:{purpose}:".encode() + message
        try:
            cert.public_key().verify(signature, signed, ec.ECDSA(hashes.SHA256()))
        except InvalidSignature:
            raise ValueError("the signature is not of this message") from None
        names = cert.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        return caller_of(names.get_values_for_type(x509.UniformResourceIdentifier))


def caller_of(uris):
    ours = [u for u in uris if u.startswith("discreet://")]
    if len(ours) != 1:
        raise ValueError("a certificate names exactly one caller")
    return ours[0].removeprefix("discreet://")


def peer_of(socket):
    """ROLE/NAME of the other end of a TLS connection."""
    return caller_of([v for kind, v in socket.getpeercert()["subjectAltName"] if kind == "URI"])


class Client:
    """Calls one server: wanted is a ROLE or a ROLE/NAME."""

    def __init__(self, identity, address, wanted):
        self.context, self.wanted = identity.context(server=False), wanted
        self.host = urllib.parse.urlsplit(address)
        self.connection = None

    def connect(self):
        c = http.client.HTTPSConnection(self.host.hostname, self.host.port, context=self.context, timeout=30)
        c.connect()
        who = peer_of(c.sock)
        if self.wanted not in (who, who.split("/")[0]):
            c.close()
            raise ValueError(f"the server is {who}, want {self.wanted}")
        return c

    def once(self, method, message):
        """message is JSON, or bytes to be sent as they are, or a size that is announced and not sent."""
        try:
            self.connection = c = self.connection or self.connect()
            if isinstance(message, int):
                c.putrequest("POST", f"/discreet.v1.{method}")
                c.putheader("Content-Type", "application/json")
                c.putheader("Content-Length", message)
                c.endheaders()
            else:
                body = message if isinstance(message, bytes) else json.dumps(message)
                c.request("POST", f"/discreet.v1.{method}", body, {"Content-Type": "application/json"})
            answer = self.connection.getresponse()
            body = answer.read()
        except (OSError, http.client.HTTPException):
            self.close()
            raise
        if answer.status == 200:
            return json.loads(body)
        for d in json.loads(body).get("details", []):
            if d["type"] == "discreet.v1.Problem":
                p = fields(unbase64(d["value"]))
                name = p[1][0].decode().removeprefix(URN)
                raise Refused(name, p.get(4, [b""])[0].decode(), answer.status)
        raise Refused("internal", f"HTTP {answer.status}", answer.status)

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def call(self, method, message, until=None):
        """Until it is answered: everything may be called twice."""
        wait, until = 0.1, until or time.monotonic() + 120
        while True:
            try:
                return self.once(method, message)
            except Refused as r:
                if not r.again or time.monotonic() > until:
                    raise
            except (OSError, http.client.HTTPException):
                if time.monotonic() > until:
                    raise
            time.sleep(wait)
            wait = min(2 * wait, 5)


def base64of(b):
    return base64.b64encode(b).decode()


def unbase64(text):
    return base64.b64decode(text + "=" * (-len(text) % 4))


# Protobuf, as far as it is needed: numbers and bytes.


def varint(b, at):
    n = shift = 0
    while True:
        n, shift, at = n | (b[at] & 127) << shift, shift + 7, at + 1
        if b[at - 1] < 128:
            return n, at


def fields(b):
    """Field number to the values it has, bytes or numbers."""
    out, at = {}, 0
    while at < len(b):
        key, at = varint(b, at)
        if key & 7 == 0:
            v, at = varint(b, at)
        elif key & 7 == 2:
            n, at = varint(b, at)
            v, at = b[at : at + n], at + n
            if len(v) != n:
                raise ValueError("a message breaks off")
        else:
            raise ValueError("a field of a kind that is not used here")
        out.setdefault(key >> 3, []).append(v)
    return out


def field(number, value):
    """One field, of a number or bytes."""
    if isinstance(value, int):
        return bytes([number << 3]) + length(value)
    return bytes([number << 3 | 2]) + length(len(value)) + value


def length(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])
