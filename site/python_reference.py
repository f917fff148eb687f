# SPDX-License-Identifier: Apache-2.0
"""The Python reference as Markdown, from signatures and docstrings. The package is parsed, not imported."""

import ast
import inspect
import re

SECTION = re.compile(r"^(\w[\w ]*)\n-+\n", re.M)


def reference(package):
    """A page of the names in the package's ``__all__``; one without a docstring is refused."""
    defined, names = {}, []
    for path in sorted(package.glob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                defined[node.name] = node
            elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
                names = ast.literal_eval(node.value)
    page = ["# Python reference\n\nGenerated from the docstrings of the package. [Python](python.md) is the guide.\n"]
    for name in names:
        node = defined[name]
        page.append(describe(node, name, 2))
        for member in node.body if isinstance(node, ast.ClassDef) else []:
            if isinstance(member, ast.FunctionDef) and not member.name.startswith("_"):
                page.append(describe(member, f"{name}.{member.name}", 3))
    return "\n".join(page)


def describe(node, name, level):
    text = ast.get_docstring(node)
    if not text:
        raise SystemExit(f"{name} has no docstring")
    of = node
    if isinstance(node, ast.ClassDef):
        of = next((m for m in node.body if isinstance(m, ast.FunctionDef) and m.name == "__init__"), None)
    decorators = {ast.unparse(d) for d in node.decorator_list}
    signature = name
    if of is not None and "property" not in decorators:
        arguments = re.sub(r"^(self|cls)(, )?", "", ast.unparse(of.args))
        signature += f"({arguments})" + (f" -> {ast.unparse(of.returns)}" if of is node and of.returns else "")
    # Parameters are lines "name : type" with an indented text below.
    text = SECTION.sub(r"**\1**\n", text)
    text = re.sub(r"^(\w[\w, ]*) : (.*)\n((?:    .*\n?)+)",
                  lambda m: f"- `{m[1]}` ({m[2]}): {' '.join(inspect.cleandoc(m[3]).split())}\n", text, flags=re.M)
    text = re.sub(r"\*\*\n(?=- )", "**\n\n", text).replace("``", "`")
    return f"{'#' * level} {name}\n\n```python\n{signature}\n```\n\n{text}\n"
