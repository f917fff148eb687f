# SPDX-License-Identifier: Apache-2.0
"""expand_message_xmd of RFC 9380."""
import hashlib


def expand(message, label):
    """64 bytes, by SHA-512."""
    label += bytes([len(label)])
    first = hashlib.sha512(bytes(128) + message + b"\0\x40" + b"\0" + label).digest()
    return hashlib.sha512(first + b"\1" + label).digest()
