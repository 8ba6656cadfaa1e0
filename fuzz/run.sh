#!/usr/bin/env bash
# Runs fuzz targets one after the other, each for some seconds: all of them, or those that are named.
#
#   fuzz/run.sh [--plain] SECONDS [TARGET...]
#
# Needs `cargo fuzz` (cargo install cargo-fuzz). Sanitizers want a nightly compiler; where there is none, RUSTC_BOOTSTRAP lets the
# stable one pass for it. With --plain neither is needed: the stable compiler builds the targets as the dev profile has them, with
# checked arithmetic and coverage, without a sanitizer; nothing is kept. Otherwise what is found lands in fuzz/corpus. What fails
# is in fuzz/artifacts. Prints a table of what was run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

plain=
if [ "${1:-}" = --plain ]; then
    plain=1
    shift
fi
seconds=${1:?seconds for each target}
shift
targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(sed -n 's/^name = "\(.*\)"$/\1/p' fuzz/Cargo.toml | tail -n +2)

if [ -n "$plain" ]; then
    host=$(rustc -vV | sed -n 's/^host: //p')
    built=$(realpath -m "${CARGO_TARGET_DIR:-fuzz/target}")
    # As cargo-fuzz has them. With a target of its own, so that build scripts are spared.
    coverage="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters"
    coverage+=" -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares"
    RUSTFLAGS="--cfg fuzzing $coverage" cargo build --locked --manifest-path fuzz/Cargo.toml --target "$host" --target-dir "$built"
    kept=$(mktemp -d)
    trap 'rm -rf "$kept"' EXIT
    mkdir -p fuzz/artifacts
else
    rustup toolchain list 2>/dev/null | grep -q nightly && toolchain=(+nightly) || { toolchain=(); export RUSTC_BOOTSTRAP=1; }
    kept=fuzz/corpus
fi
# Runs the target at hand.
run() {
    if [ -n "$plain" ]; then
        "$built/$host/debug/$target" "-artifact_prefix=fuzz/artifacts/$target-" "${folders[@]}" "${flags[@]}"
    else
        cargo "${toolchain[@]}" fuzz run "$target" "${folders[@]}" -- "${flags[@]}"
    fi
}

# Inputs that the tests use anyway, beside the seeds that are here for fuzzing alone.
declare -A data=([archive]=tests/data/packed [exposition]=tests/data/counters [documents]=tests/data/counters [recipe]=tests/data/recipes)
failed=()
rows=()
for target in "${targets[@]}"; do
    corpus=$kept/$target
    mkdir -p "$corpus"
    folders=("$corpus")
    [ ! -d "fuzz/seeds/$target" ] || folders+=("fuzz/seeds/$target")
    [ -z "${data[$target]:-}" ] || folders+=("${data[$target]}")
    flags=("-max_total_time=$seconds" -rss_limit_mb=1024 -timeout=20 -max_len=16384 -print_final_stats=1)
    [ ! -f "fuzz/dictionaries/$target.dict" ] || flags+=("-dict=fuzz/dictionaries/$target.dict")
    log=$(mktemp)
    run >"$log" 2>&1 || { failed+=("$target"); tail -n 60 "$log"; }
    executions=$(sed -n 's/^stat::number_of_executed_units: //p' "$log")
    covered=$(grep -o 'cov: [0-9]*' "$log" | tail -n 1 | cut -d' ' -f2)
    ran=$(sed -n 's/^Done [0-9]* runs in \([0-9]*\) second.*/\1/p' "$log")
    rows+=("| \`$target\` | $(date -u +%F) | ${executions:-?} | ${ran:-?} | ${covered:-?} | $(ls "$corpus" | wc -l) |")
    printf '%s\n' "${rows[-1]}"
    rm -f "$log"
done
printf '\n| target | date | executions | seconds | edges covered | inputs kept |\n|---|---|---|---|---|---|\n'
printf '%s\n' "${rows[@]}"
[ ${#failed[@]} -eq 0 ] || { printf 'failed: %s\n' "${failed[*]}" >&2; exit 1; }
