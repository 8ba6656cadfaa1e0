#!/usr/bin/env python3
"""Writes docs/DEPENDENCIES.md: every direct dependency, its reason from Cargo.toml, and what crates.io tells of it.

Dates and numbers of releases are those of cargo's own copy of the index, which `cargo fetch` brings up to date.
"""

import datetime
import json
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def cargo(*words):
    return subprocess.run(["cargo", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def reasons():
    """The comment above each dependency, by section and name."""
    found, section, comment = {}, "", []
    for line in (ROOT / "Cargo.toml").read_text().splitlines():
        if line.startswith("["):
            section, comment = line.strip("[]"), []
        elif line.startswith("#"):
            comment.append(line.lstrip("# "))
        elif match := re.match(r"([a-z][\w-]*) = ", line):
            if "dependencies" in section:
                # A second one under the same comment shares it.
                found[section, match[1]] = " ".join(comment) or found.get((section, "last"), "")
                found[section, "last"] = found[section, match[1]]
            comment = []
    return found


def releases(name):
    """Version to day, of all releases that were not taken back."""
    below = {1: "1", 2: "2", 3: f"3/{name[0]}"}.get(len(name), f"{name[:2]}/{name[2:4]}")
    home = pathlib.Path.home() / ".cargo/registry/index"
    for file in home.glob(f"*/.cache/{below}/{name}"):
        entries = [json.loads(part) for part in file.read_bytes().split(b"\0") if part.startswith(b"{")]
        return {entry["vers"]: entry.get("pubtime", "")[:10] for entry in entries if not entry["yanked"]}
    return {}


def main():
    metadata = json.loads(cargo("metadata", "--locked", "--format-version", "1", "--all-features"))
    own = next(package for package in metadata["packages"] if package["name"] == "accsim")
    node = next(node for node in metadata["resolve"]["nodes"] if node["id"] == own["id"])
    packages = {package["id"]: package for package in metadata["packages"]}
    why = reasons()
    tables = {"dependencies": [], "dev-dependencies": []}
    for dep in node["deps"]:
        package = packages[dep["pkg"]]
        declared = [entry for entry in own["dependencies"] if entry["name"] == package["name"]]
        for entry in declared:
            section = "dev-dependencies" if entry["kind"] == "dev" else "dependencies"
            days = releases(package["name"])
            known = sorted(day for day in days.values() if day)
            owner = re.sub(r"https?://[^/]+/([^/]+)/.*", r"\1", (package["repository"] or "?") + "/")
            reason = why.get((section, entry["rename"] or package["name"]), "")
            optional = " (optional)" if entry["optional"] else ""
            tables[section].append(
                f"| `{package['name']}`{optional} | {reason} | {package['license']} | {package['version']} | "
                f"{days.get(package['version']) or '?'} | {known[0] if known else '?'} | {len(days)} | "
                f"{known[-1] if known else '?'} | {owner} |"
            )
    page = (ROOT / "docs/DEPENDENCIES.md").read_text().split("\n## In the program\n")[0]
    heading = (
        "| crate | why | licence | version | of | first release | releases | newest of | kept at |\n"
        "|---|---|---|---|---|---|---|---|---|\n"
    )
    crates = sum(1 for package in metadata["packages"] if package["source"])
    with (ROOT / "docs/DEPENDENCIES.md").open("w") as out:
        out.write(page)
        out.write("\n## In the program\n\n" + heading + "\n".join(sorted(set(tables["dependencies"]))) + "\n")
        out.write("\n## In its tests and benches\n\n" + heading + "\n".join(sorted(set(tables["dev-dependencies"]))) + "\n")
        out.write(f"\nWritten on {datetime.date.today()} from {crates} locked crates of all systems and features.\n")


if __name__ == "__main__":
    main()
