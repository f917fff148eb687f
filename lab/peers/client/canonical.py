# SPDX-License-Identifier: Apache-2.0
"""Canonical JSON (docs/protocol.md, Bytes): read, write again, compare."""
import decimal
import json


def spell(x, schema):
    """The shortest decimal of a double, as schemas or as all else has it."""
    minus, digits, power = decimal.Decimal(repr(x)).as_tuple()
    sign, digits = "-" if minus else "", "".join(map(str, digits))
    if x == 0:
        return sign + "0"
    power, digits = power + len(digits) - 1, digits.rstrip("0")  # of the first digit
    low, high = (-4, 6) if schema else (-6, 21)
    if not low <= power < high:
        head, tail = digits[0], digits[1:]
        exponent = f"{abs(power):02d}" if schema else f"{abs(power)}"
        return f"{sign}{head}{'.' if tail else ''}{tail}e{'-' if power < 0 else '+'}{exponent}"
    if power < 0:
        return f"{sign}0.{'0' * (-power - 1)}{digits}"
    whole, rest = digits[: power + 1].ljust(power + 1, "0"), digits[power + 1 :]
    return f"{sign}{whole}{'.' if rest else ''}{rest}"


def text(s):
    return json.dumps(s, ensure_ascii=False).replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def write(v, schema=False):
    """The line, without its line break."""
    if v is True or v is False:
        return "true" if v else "false"
    if isinstance(v, (int, float)):
        return spell(float(v), schema)
    if isinstance(v, str):
        return text(v)
    if isinstance(v, list):
        return "[" + ",".join(write(x, schema) for x in v) + "]"
    return "{" + ",".join(text(k) + ":" + write(x, schema or k == "schema") for k, x in v.items()) + "}"


# What a message holds: str, int, float or bool; [form]; a tuple of forms, one of which it has;
# or keys in their order, those with a ? left out where they say nothing. ANY is not looked at.
ANY = object()


def fits(form, v):
    if form is ANY:
        return True
    if isinstance(form, tuple):
        return any(fits(f, v) for f in form)
    if isinstance(form, list):
        return isinstance(v, list) and all(fits(form[0], x) for x in v)
    if isinstance(form, dict):
        if not isinstance(v, dict) or [k for k in map(plain, form) if k in v] != list(v):
            return False
        for key, f in form.items():
            if plain(key) not in v and key.endswith("?"):
                continue
            if plain(key) not in v or not fits(f, v[plain(key)]) or key.endswith("?") and v[plain(key)] in ("", [], {}):
                return False
        return True
    if form is float:
        return isinstance(v, (int, float)) and not isinstance(v, bool)
    return type(v) is form


def plain(key):
    return key.removesuffix("?")


def pairs(items):
    keys = [k for k, _ in items]
    if len(set(keys)) != len(keys):
        raise ValueError("a key comes twice")
    return dict(items)


def number(text):
    return -0.0 if text == "-0" else int(text)


def refuse(name):
    raise ValueError(name)


def read(line, form):
    """Reads one canonical line of a form."""
    v = json.loads(line.decode("utf-8"), object_pairs_hook=pairs, parse_int=number, parse_constant=refuse)
    if not fits(form, v) or (write(v) + "\n").encode("utf-8") != line:
        raise ValueError("not in canonical form")
    return v
