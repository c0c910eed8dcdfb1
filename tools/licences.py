"""Every crate in Cargo.lock must have a permissive licence, and its text goes with what is shipped.

Reads ``cargo metadata`` and evaluates each package's SPDX expression against a list: an OR needs one
side, an AND both. Exits 1 and names the packages that fail.

``licences.py --texts PACKAGE`` prints the licence texts and notices of what is linked into PACKAGE, each
text once with the crates that it is of, and those of the report's page.
"""

from __future__ import annotations

import json
import pathlib
import re
import subprocess
import sys
from typing import Any

ROOT = pathlib.Path(__file__).parent.parent

# Crates under Apache-2.0 whose package lacks the text.
WITHOUT_TEXT = {"flatbuffers"}

ALLOWED = {
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unicode-DFS-2016",
    "Unlicense",
    "Zlib",
}


def permissive(expression: str) -> bool:
    """Whether an SPDX expression can be met with licences of the list alone.

    >>> permissive("MIT OR GPL-3.0-only")
    True
    >>> permissive("MIT AND GPL-3.0-only")
    False
    >>> permissive("(MIT OR GPL-2.0-only) AND Unicode-3.0")
    True
    >>> permissive("Apache-2.0 WITH LLVM-exception/MPL-2.0")
    True
    """
    tokens = re.findall(r"\(|\)|[^\s()]+", expression.replace("/", " OR "))
    position = 0

    def peek() -> str | None:
        return tokens[position] if position < len(tokens) else None

    def take() -> str:
        nonlocal position
        position += 1
        return tokens[position - 1]

    def either() -> bool:
        met = both()
        while peek() == "OR":
            take()
            met = both() or met
        return met

    def both() -> bool:
        met = one()
        while peek() == "AND":
            take()
            met = one() and met
        return met

    def one() -> bool:
        if peek() is None:
            return False
        name = take()
        if name == "(":
            met = either()
            if peek() == ")":
                take()
            return met
        if peek() == "WITH":
            take()
            name = f"{name} WITH {take()}" if peek() is not None else name
        return name in ALLOWED

    met = either()
    return met and position == len(tokens)


def metadata(*options: str) -> dict[str, Any]:
    """What cargo knows of the workspace and all that it is made of."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", *options]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT).stdout
    answer: dict[str, Any] = json.loads(text)
    return answer


def linked(known: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """The packages of others that are linked into the package of this name, by name and version.

    What only builds or tests use is not linked.

    >>> node = lambda id, *used: {"id": id, "deps": [{"pkg": p, "dep_kinds": [{"kind": k}]} for p, k in used]}
    >>> nodes = [node("a", ("b", None), ("c", "dev")), node("b", ("d", None)), node("c"), node("d", ("e", "build"))]
    >>> packages = [{"id": i, "name": i, "version": "1", "source": None if i == "a" else "registry"} for i in "abcde"]
    >>> [package["name"] for package in linked({"packages": packages, "resolve": {"nodes": nodes}}, "a")]
    ['b', 'd']
    """
    packages = {package["id"]: package for package in known["packages"]}
    nodes = {node["id"]: node for node in known["resolve"]["nodes"]}
    waiting = [package["id"] for package in known["packages"] if package["name"] == name]
    found: set[str] = set()
    while waiting:
        package = waiting.pop()
        if package not in found:
            found.add(package)
            used = nodes[package]["deps"]
            waiting += [one["pkg"] for one in used if any(kind["kind"] is None for kind in one["dep_kinds"])]
    others = (packages[package] for package in found if packages[package]["source"])
    return sorted(others, key=lambda package: (package["name"], package["version"]))


def texts_of(package: dict[str, Any]) -> list[str]:
    """The licence texts and notices in a package, of the sources of others in it, too."""
    if package["name"] in WITHOUT_TEXT:
        return [(ROOT / "LICENSE-APACHE").read_text(encoding="utf-8")]
    folder = pathlib.Path(package["manifest_path"]).parent
    named = re.compile(r"(licen[cs]e|copying|copyright|notice|unlicense)[^/]*", re.IGNORECASE)
    files = [file for file in sorted(folder.rglob("*")) if named.fullmatch(file.name) and file.is_file()]
    # A choice between licences is made for the permissive one (zstd: BSD, not GPL).
    texts = [file.read_text(encoding="utf-8") for file in files if file.suffix not in {".rs", ".py"}]
    return [text for text in texts if "GNU GENERAL PUBLIC LICENSE" not in text]


def third_parties(name: str) -> str:
    """All licence texts of what is linked into a package, each text once."""
    packages = linked(metadata("--filter-platform", "x86_64-unknown-linux-gnu"), name)
    of: dict[str, tuple[str, list[str]]] = {}
    without = []
    for package in packages:
        texts = texts_of(package)
        if not texts:
            without.append(package["name"])
        title = f"{package['name']} {package['version']} ({package['license']})"
        for text in texts:
            _, titles = of.setdefault(" ".join(text.split()), (text.strip("\n"), []))
            if title not in titles:
                titles.append(title)
    if without:
        raise SystemExit(f"licences: no text in {', '.join(without)}")
    apache = (ROOT / "LICENSE-APACHE").read_text(encoding="utf-8")
    _, titles = of.setdefault(" ".join(apache.split()), (apache.strip("\n"), []))
    titles.append("Rust standard library (MIT OR Apache-2.0)")
    page = (ROOT / "web/LICENSE-THIRD-PARTY").read_text(encoding="utf-8").strip("\n")
    rule = "-" * 80
    parts = [f"{rule}\n" + "\n".join(titles) + f"\n{rule}\n\n{text}\n" for text, titles in of.values()]
    parts.append(f"{rule}\nThe page of the report\n{rule}\n\n{page}\n")
    return "Tautwire contains the following, under the licences that are given with each.\n\n" + "\n".join(parts)


def main() -> int:
    """Check all packages and print the failing ones; or print texts."""
    if sys.argv[1:2] == ["--texts"]:
        sys.stdout.write(third_parties(sys.argv[2]))
        return 0
    packages = metadata()["packages"]
    failing = [package for package in packages if not permissive(package["license"] or "")]
    for package in failing:
        print(f"licence: {package['name']} {package['version']}: {package['license']!r}", file=sys.stderr)
    print(f"licences: {len(packages)} packages, {len(failing)} not permissive", file=sys.stderr)
    return 1 if failing else 0


if __name__ == "__main__":
    sys.exit(main())
