#!/usr/bin/env bash
# Builds the release twice, with nothing in common but the sources of the commit, the lock file and the compiler: two folders of
# unlike names, two homes of Cargo, two target folders. Ends with 1 where the programs differ in a byte.
# The crates are those that Cargo's home holds already (`cargo fetch --locked`).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
home="${CARGO_HOME:-$HOME/.cargo}"
cargo fetch --locked

# built NAME: the hash of the program, from sources and crates in folders of this name.
built() {
    local sources="$scratch/$1/sources" crates="$scratch/$1/crates"
    mkdir -p "$sources" "$crates"
    git archive HEAD | tar -x -C "$sources"
    cp -R "$home/registry" "$crates/"
    [ ! -e "$home/config.toml" ] || cp "$home/config.toml" "$crates/"
    CARGO_HOME="$crates" CARGO_TARGET_DIR="$scratch/$1/target" CARGO_NET_OFFLINE=true bash "$sources/.ci/release" >&2
    sha256sum "$scratch/$1/target/release/accsim" | cut -d ' ' -f 1
    rm -rf "${scratch:?}/$1"
}

first="$(built one)"
second="$(built another-folder)"
printf '%s\n%s\n' "$first" "$second"
if [ "$first" != "$second" ]; then
    echo 'the programs differ' >&2
    exit 1
fi
