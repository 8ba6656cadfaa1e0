#!/bin/sh
# Times an audit of the two 2 GB logs of make_logs.sh, whole process and warm cache, with its anchors in the same run:
#   rg -c -F 'Decode batch'    the text search that finds the same lines
#   wc -l                      reading and counting, nothing else
#   scan                       examples/scan.rs: the same reading, nothing added up
# and prints the ratios that docs/PERFORMANCE.md quotes, with the peak memory. Needs ripgrep, hyperfine and GNU time.
# DIR defaults to a folder in memory; logs that are there already are used as they are.
# RUNS is how often each is run (10); the best of them counts, as all else that a machine does only adds time.
set -eu

dir=${1:-/dev/shm/accsim-logs}
runs=${RUNS:-10}
here=$(cd "$(dirname "$0")/.." && pwd)
accsim=${ACCSIM:-$here/target/release/accsim}
scan=${SCAN:-$here/target/release/examples/scan}
for tool in rg hyperfine /usr/bin/time; do
    if ! command -v "$tool" >/dev/null; then
        echo "$0: $tool is needed and not there" >&2
        exit 2
    fi
done
if [ ! -x "$accsim" ]; then
    cargo build --release --manifest-path "$here/Cargo.toml"
fi
if [ ! -x "$scan" ]; then
    cargo build --release --manifest-path "$here/Cargo.toml" --example scan
fi
if [ ! -e "$dir/decode25.log" ] || [ ! -e "$dir/decode85.log" ]; then
    ACCSIM=$accsim "$here/benches/make_logs.sh" "$dir"
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# audit THREADS LOG: what is measured.
audit() {
    echo "$accsim --threads $1 audit $2 --accept-length 3.51 --max-accept-length 6"
}

# peak COMMAND: megabytes that it takes at most.
peak() {
    /usr/bin/time -f %M -o "$scratch/peak" sh -c "exec $1" >/dev/null
    awk '{ printf "%.1f", $1 / 1024 }' "$scratch/peak"
}

for share in 25 85; do
    log=$dir/decode$share.log
    # One run each before the measured ones warms the cache.
    hyperfine --warmup 1 --runs "$runs" --style none --ignore-failure --export-csv "$scratch/times" \
        --command-name 'audit, 1 thread' "$(audit 1 "$log")" \
        --command-name 'audit, 2 threads' "$(audit 2 "$log")" \
        --command-name 'scan, 1 thread' "$scan $log" \
        --command-name 'rg -c -F' "rg -c -F 'Decode batch' $log" \
        --command-name 'wc -l' "wc -l $log" >/dev/null
    echo "$log: best of $runs"
    # hyperfine's columns: command, mean, stddev, median, user, system, min, max; a command's name may hold a comma.
    sed 's/^"\([^"]*\), \([^"]*\)"/\1; \2/' "$scratch/times" |
        awk -F, 'NR > 1 { sub(";", ",", $1); name[NR] = $1; best[NR] = $7; user[NR] = $5; kernel[NR] = $6; n = NR }
            END {
                rg = best[n - 1]; wc = best[n]; audit = best[2]; scan = best[4]
                printf "%-18s %8s %8s %8s %10s %10s\n", "", "s", "user s", "system s", "to rg", "to wc"
                for (i = 2; i <= n; i++)
                    printf "%-18s %8.3f %8.3f %8.3f %10.2f %10.2f\n", name[i], best[i], user[i], kernel[i], best[i] / rg, best[i] / wc
                printf "statistics: %.1f %% of the scan\n", 100 * (audit - scan) / scan
            }'
    printf 'peak memory, MiB: %s with 1 thread, %s with 2\n\n' \
        "$(peak "$(audit 1 "$log")")" "$(peak "$(audit 2 "$log")")"
done
