"""Every crate in Cargo.lock must have a permissive licence.

Reads ``cargo metadata`` (or the same JSON from the file named as first argument) and evaluates each
package's SPDX expression against a list: an OR needs one side, an AND both. Exits 1 and names the
packages that fail.
"""

from __future__ import annotations

import json
import pathlib
import re
import subprocess
import sys

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


def main() -> int:
    """Check all packages; print the failing ones."""
    if len(sys.argv) > 1:
        text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    else:
        command = ["cargo", "metadata", "--format-version", "1", "--locked"]
        text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    packages = json.loads(text)["packages"]
    failing = [package for package in packages if not permissive(package["license"] or "")]
    for package in failing:
        print(f"licence: {package['name']} {package['version']}: {package['license']!r}", file=sys.stderr)
    print(f"licences: {len(packages)} packages, {len(failing)} not permissive", file=sys.stderr)
    return 1 if failing else 0


if __name__ == "__main__":
    sys.exit(main())
