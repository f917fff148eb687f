# SPDX-License-Identifier: Apache-2.0
"""Builds the documentation as a site and checks its links: python site/build.py.

Pages stay where readers of the repository find them. They are copied into out/site-source; a link
to what is no page, such as source code, becomes plain text there. mkdocs fails on a link or an
anchor that leads nowhere. In the end every link of the built pages is followed, and search.js asks the
site's own search what people ask.
"""

import html
import html.parser
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

import python_reference

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE, SITE = ROOT / "out" / "site-source", ROOT / "out" / "site"
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")
FENCE = re.compile(r"(^```.*?^```$)", re.M | re.S)

# Words by which people look for a page whose title has others.
WORDS = {
    "README.md": ["install", "quick start"],
    "docs/tutorial.md": ["train a model", "how the ledger works"],
    "docs/faq.md": ["how to choose epsilon", "delta"],
    "docs/schema.md": ["declare a schema", "bounds", "levels"],
    "docs/cohorts.md": ["ledger", "cohorts", "approve"],
    "docs/verifying.md": ["verify a release", "sign"],
    "docs/sites.md": ["sites", "hospitals", "federated"],
    "docs/operators-guide.md": ["federated", "federation"],
    "docs/parties.md": ["federated", "parties"],
    "docs/serving.md": ["serve", "predict over HTTP"],
    "docs/export.md": ["export", "onnx", "pmml"],
    "docs/scale.md": ["large tables", "spark"],
    "docs/impact-assessment.md": ["dpia", "data protection"],
    "docs/threat-model.md": ["what is not protected", "attack"],
}
# Pages for those who check the claims, or change the program, come after the users' own.
LAST = re.compile(r"^(evidence/|docs/(model-file|protocol|sites-protocol|stability)\.md|[A-Z]+\.md)")


def tracked():
    """The files of the site: pages, and what they show or lead to."""
    names = subprocess.check_output(
        ["git", "ls-files", "*.md", "docs", "evidence", "examples/*.yaml"], cwd=ROOT, text=True
    ).split("\n")
    keep = re.compile(r"^(docs|evidence)/.*\.(md|svg|png|webp|html)$|^examples/[^/]+\.(yaml|md)$|^[A-Z]+\.md$")
    return {n for n in names if keep.match(n)}


def lay_out(files):
    shutil.rmtree(SOURCE, ignore_errors=True)
    for name in sorted(files):
        to = SOURCE / name
        to.parent.mkdir(parents=True, exist_ok=True)
        if not name.endswith(".md"):
            shutil.copyfile(ROOT / name, to)
            continue

        def follow(m):
            label, target = m.groups()
            path, _, anchor = target.partition("#")
            if re.match(r"[a-z]+:", target) or not path:
                return m.group(0)
            at = os.path.normpath(os.path.join(os.path.dirname(name), path))
            if at not in files and at + "/README.md" in files:
                path = path.rstrip("/") + "/README.md"
            elif at not in files:
                return label  # source code, or a folder of it
            return f"[{label}]({path}{'#' + anchor if anchor else ''})"

        parts = FENCE.split((ROOT / name).read_text())
        parts[::2] = [LINK.sub(follow, p) for p in parts[::2]]
        to.write_text(describe(name) + "".join(parts))
    shutil.copyfile(ROOT / "site" / "site.css", SOURCE / "site.css")


def describe(name):
    """What the search is told of a page."""
    boost = 0.02 if LAST.match(name) and name != "README.md" else 1
    return f"---\nsearch: {{boost: {boost}}}\ntags: {WORDS.get(name, [])}\n---\n"


def lay_explorer():
    """The explorer as a playground on the invented census: a table belongs on its owner's machine."""
    shutil.copytree(ROOT / "out" / "explorer", SOURCE / "explorer")
    (SOURCE / "explorer" / "counted.js").write_text("export const counted = false, files = false;\n")


SESSION = re.compile(r"<code>((?:(?!</code>).)*<span class=\"gp\">.*?)</code>", re.S)


def finish(page):
    """A block of a session is copied as commands, without prompts and without what they print. What is
    scrolled can be reached by keyboard, and the search has a name."""

    def name_commands(m):
        lines = html.unescape(re.sub(r"<[^>]*>", "", m[1])).split("\n")
        commands, goes_on = [], False
        for line in lines:
            if goes_on or line.startswith("$ "):
                commands.append(line if goes_on else line[2:])
                goes_on = line.endswith("\\")
        copied = html.escape("\n".join(commands))
        return f'<code data-copy="{copied}">{m[1]}</code>'

    text = SESSION.sub(name_commands, page.read_text())
    # The theme takes a tabindex of the block itself away.
    text = re.sub(r"(<pre><span></span><code[^>]*>)(.*?)(</code>)", r'\1<span tabindex="0">\2</span>\3', text, flags=re.S)
    text = text.replace("<table>", '<table tabindex="0">')
    page.write_text(text.replace('role="dialog"', 'role="dialog" aria-label="Search"', 1))


def ask_search():
    """Asks the built search; only node can run it here."""
    if not shutil.which("node"):
        print("site: search is not asked, there is no node here")
        return True
    return subprocess.run(["node", ROOT / "site" / "search.mjs", SITE]).returncode == 0


class Page(html.parser.HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.ids = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for key, value in attrs:
            if key in ("id", "name") and value:
                self.ids.add(value)
            if key in ("href", "src") and value:
                self.links.append((tag, value))


def check_links():
    """Follows every link of every built page; what it loads from elsewhere is a fault, too."""
    pages = {p: Page(p.read_text()) for p in SITE.rglob("*.html")}
    faults, followed = [], 0
    for path, page in pages.items():
        for tag, link in page.links:
            at = urllib.parse.urlsplit(link)
            if at.scheme or at.netloc:
                if tag in ("script", "img", "link") and at.scheme != "data":
                    faults.append(f"{path.relative_to(SITE)}: loads {link}")
                continue
            followed += 1
            to = (path.parent / urllib.parse.unquote(at.path)).resolve() if at.path else path
            if to.is_dir():
                to /= "index.html"
            if path.name == "404.html":
                continue  # its links begin at the site's root
            if not to.exists():
                faults.append(f"{path.relative_to(SITE)}: {link} leads nowhere")
            elif at.fragment and to in pages and urllib.parse.unquote(at.fragment) not in pages[to].ids:
                faults.append(f"{path.relative_to(SITE)}: {link} has no such anchor")
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"site: {len(pages)} pages, {followed} links followed, {len(faults)} faults")
    return not faults


lay_out(tracked())
lay_explorer()
(SOURCE / "docs" / "python-reference.md").write_text(python_reference.reference(ROOT / "python" / "discreet"))
mkdocs = pathlib.Path(sys.executable).with_name("mkdocs")
environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
subprocess.run([mkdocs, "build", "--strict", "--quiet", "-f", ROOT / "site" / "mkdocs.yml"], check=True, env=environment)
for page in SITE.rglob("*.html"):
    finish(page)
sys.exit(0 if check_links() & ask_search() else 1)
