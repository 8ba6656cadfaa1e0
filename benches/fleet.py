#!/usr/bin/env python3
"""What fleets cost: writes so many small logs and a manifest, audits them in the ways that docs/FLEET.md names, each in a
process of its own, and prints wall time and peak memory as a table.

    ./benches/fleet.py target/release/accsim FOLDER 1000 10000
"""

import os
import pathlib
import subprocess
import sys
import time

LINES = 80  # decode lines of a log, as a benchmark's point of a few minutes has


def run(words):
    """Seconds, and peak memory in MB, of one command."""
    began = time.monotonic()
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in (0, 1, 3), (words, code)
    return time.monotonic() - began, usage.ru_maxrss / 1000, usage.ru_utime + usage.ru_stime


def main(accsim, folder, counts):
    folder = pathlib.Path(folder)
    print("| points | what | seconds | CPU seconds | points a CPU second | peak MB | result, MB |")
    print("|---:|---|---:|---:|---:|---:|---:|")
    for points in counts:
        here = folder / str(points)
        here.mkdir(parents=True)
        size = 0
        with open(here / "m.csv", "w") as manifest:
            manifest.write("path,accept_length,max_accept_length,label_seed\n")
            for number in range(points):
                (here / str(number)).mkdir()  # a folder a run, as benchmarks keep them
                log = here / str(number) / "decode.log"
                words = f"simulate --accept-length 3.5 --max-accept-length 6 --seed {number} --lines {LINES}"
                subprocess.run([accsim, *words.split(), "--emit-log", log], check=True, capture_output=True)
                size += log.stat().st_size
                manifest.write(f"{number}/decode.log,3.5,6,{number}\n")
        # The same logs, all in one folder.
        flat = here / "flat"
        flat.mkdir()
        for number in range(points):
            os.link(here / str(number) / "decode.log", flat / f"{number}.log")
        rows = "".join(f"flat/{number}.log,3.5,6\n" for number in range(points))
        (here / "flat.csv").write_text("path,accept_length,max_accept_length\n" + rows)
        print(f"| {points} | the logs, {LINES} decode lines each | | | | | {size / 1e6:.1f} |")
        audit = [accsim, "audit", "--manifest", here / "m.csv"]
        resumed = [*audit, "--journal", here / "j", "--format", "parquet", "-o", here / "t.parquet"]
        for what, words, result in [
            ("audit, one thread, CSV", [*audit, "--threads", "1", "--format", "csv", "-o", here / "t.csv"], "t.csv"),
            ("audit, all threads, CSV", [*audit, "--format", "csv", "-o", here / "t.csv"], "t.csv"),
            ("audit, all threads, CSV, all logs in one folder", [accsim, "audit", "--manifest", here / "flat.csv", "--format", "csv", "-o", here / "f.csv"], "f.csv"),
            ("audit, all threads, journal, Parquet", resumed, "t.parquet"),
            ("the same again: every row was done before", resumed, "j"),
            ("parts, all threads", [*audit, "--partial", "-o", here / "p.json"], "p.json"),
            ("merge of the parts, CSV", [accsim, "merge", here / "p.json", "--format", "csv", "-o", here / "u.csv"], "u.csv"),
        ]:
            seconds, peak, cpu = run(words)
            bytes_ = (here / result).stat().st_size
            print(f"| {points} | {what} | {seconds:.2f} | {cpu:.2f} | {points / cpu:.0f} | {peak:.0f} | {bytes_ / 1e6:.1f} |", flush=True)
        assert (here / "t.csv").read_bytes() == (here / "u.csv").read_bytes(), "parts say what the audit says"


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], [int(count) for count in sys.argv[3:]])
