#!/bin/sh
# Writes the two 2 GB logs that the reader is measured on, always the same bytes:
#   DIR/decode25.log  a quarter of the lines are decode lines
#   DIR/decode85.log  most are
# and says how fast they were written. A DIR in memory (/dev/shm/...) measures the emitter; give THREADS=1 and start it
# under `taskset -c 0` for one core. The binary is target/release/accsim, or ACCSIM.
set -eu

if [ $# -ne 1 ]; then
    echo "usage: $0 DIR" >&2
    exit 2
fi
dir=$1
here=$(cd "$(dirname "$0")/.." && pwd)
accsim=${ACCSIM:-$here/target/release/accsim}
threads=${THREADS:-2}
mkdir -p "$dir"

if [ ! -x "$accsim" ]; then
    cargo build --release --manifest-path "$here/Cargo.toml"
fi

# make NAME SHARE LINES: a steady load of four long requests, so that few prefill lines stand between.
make() {
    begin=$(date +%s%N)
    "$accsim" --threads "$threads" --quiet simulate --accept-length 3.51 --max-accept-length 6 \
        --engine sglang --engine-version 0.5.18 --seed 1 --steps 40 \
        --running-req 4 --input-tokens 1024-8192 --output-tokens 8192 \
        --decode-share "$2" --lines "$3" --emit-log "$dir/$1" >/dev/null
    end=$(date +%s%N)
    bytes=$(wc -c <"$dir/$1")
    echo "$dir/$1 $bytes $begin $end" |
        awk '{ seconds = ($4 - $3) / 1e9; printf "%s: %d bytes in %.2f s, %.2f GB/s\n", $1, $2, seconds, $2 / seconds / 1e9 }'
}

make decode25.log 25 3960000
make decode85.log 85 9460000
