//! Seeds of every format: files of the repository, and files that the program itself and other people's encoders write.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::format::Format;
use crate::{aiperf, pack::Pack};

/// Bytes of a seed that are used; real logs repeat themselves.
const MOST: usize = 256 << 10;

/// Folders of the repository with files that tests and users read.
const REPOSITORY: [&str; 4] = ["tests/data", "golden_al", "profiles", "fuzz/seeds"];

/// Writes all seeds, a folder for each format.
pub(crate) fn write(binary: &Path, folder: &Path) {
    let seeds = Seeds { binary, folder };
    for format in Format::ALL {
        fs::create_dir_all(folder.join(format.folder())).unwrap();
    }
    for root in REPOSITORY {
        seeds.copy(Path::new(root));
    }
    let target = "simulate --accept-length 3.5 --max-accept-length 6";
    // Manifests name them: they lie where the paths of a seed and those of a damaged file both lead.
    let beside = folder.parent().unwrap();
    seeds.accsim(&format!("{target} --lines 9000 --emit-log"), &[&beside.join("long.log")]);
    seeds.accsim(&format!("{target} --method rounded --emit-log"), &[&beside.join("rounded.log")]);
    seeds.logs();
    seeds.packed();
    seeds.texts();
    seeds.written_by_commands();
    let rows = aiperf::rows();
    aiperf::export(&seeds.path(Format::Parquet, "server_metrics_export.parquet"), &rows);
    aiperf::export(&seeds.path(Format::Parquet, "long.parquet"), &rows.repeat(200));
}

struct Seeds<'a> {
    binary: &'a Path,
    folder: &'a Path,
}

impl Seeds<'_> {
    fn path(&self, format: Format, name: &str) -> PathBuf {
        self.folder.join(format.folder()).join(name)
    }

    fn put(&self, format: Format, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(format, name), bytes).unwrap();
    }

    fn copy(&self, folder: &Path) {
        let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        for path in entries {
            if path.is_dir() {
                self.copy(&path);
            } else if let Some(format) = Format::of_repository(&path) {
                let mut bytes = fs::read(&path).unwrap();
                bytes.truncate(MOST);
                self.put(format, path.file_name().unwrap().to_str().unwrap(), bytes);
            }
        }
    }

    /// Runs the program, which has to do what it is told.
    fn accsim(&self, line: &str, paths: &[&Path]) {
        let output = std::process::Command::new(self.binary)
            .args(line.split_whitespace())
            .args(paths)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code().is_some_and(|code| code <= 3), "accsim {line}: {said}");
    }

    /// Logs in the looks that the emitter knows.
    fn logs(&self) {
        let target = "simulate --accept-length 3.5 --max-accept-length 6 --lines 150";
        for (format, name, flags) in [
            (Format::Sglang, "ranks.log", "--ranks 4"),
            (Format::Sglang, "docker.log", "--damage docker"),
            (Format::Sglang, "cri.log", "--damage cri"),
            (Format::Sglang, "srun.log", "--damage srun"),
            (Format::Sglang, "ansi.log", "--damage ansi=1"),
            (Format::Vllm, "vllm.log", "--engine vllm --batch 8"),
            (Format::Atom, "atom.log", "--engine atom --batch 8"),
        ] {
            self.accsim(&format!("{target} {flags} --emit-log"), &[&self.path(format, name)]);
        }
        for format in [Format::Vllm, Format::Trtllm, Format::Atom] {
            let lines: Vec<u8> = self.files(format).iter().flat_map(|path| fs::read(path).unwrap()).collect();
            self.put(format, "many.log", &lines.repeat(20)[..MOST.min(20 * lines.len())]);
        }
    }

    fn files(&self, format: Format) -> Vec<PathBuf> {
        let listing = fs::read_dir(self.folder.join(format.folder())).unwrap();
        let mut files: Vec<_> = listing.map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files
    }

    fn packed(&self) {
        let log = fs::read("tests/data/h200/e3k3_al299.log").unwrap();
        for pack in Pack::ALL {
            self.put(Format::Packed, &format!("{pack:?}"), pack.pack(&log));
            self.put(Format::Packed, &format!("{pack:?}.tar.gz"), Pack::Gzip.pack(&pack.pack(&log)));
        }
    }

    fn texts(&self) {
        self.put(Format::Launcher, "launch.sh", LAUNCHER);
        self.put(Format::Launcher, "sweep.sbatch", SWEEP);
        self.put(Format::Manifest, "runs.csv", MANIFEST_CSV);
        self.put(Format::Manifest, "runs.jsonl", MANIFEST_JSON);
        self.put(
            Format::Table,
            "trace.csv",
            "arrival_s,isl,osl\n0,512,100\n1.5,512,200\n2,64,32\n".repeat(3),
        );
        self.put(Format::Profile, "accsim.toml", CONFIGURATION);
        for (name, format) in
            [("a.env", "dotenv"), ("a.sh", "export"), ("a.yaml", "yaml"), ("a.json", "json")]
        {
            let line = format!("env --engine sglang glm5.2 mtp 3 --format {format}");
            let words = line.split_whitespace();
            let output = std::process::Command::new(self.binary).args(words).output().unwrap();
            self.put(Format::Settings, name, output.stdout);
        }
    }

    /// Parts, journals and models.
    fn written_by_commands(&self) {
        let target = "--accept-length 3.5 --max-accept-length 6";
        let server = |name| self.path(Format::Sglang, name);
        let document = |name| self.path(Format::Part, name);
        self.accsim(&format!("audit --partial {target} -o"), &[&document("one.json"), &server("ranks.log")]);
        self.accsim(
            &format!("audit --partial {target} -o"),
            &[&document("vllm.json"), &self.path(Format::Vllm, "vllm.log")],
        );
        let long = self.folder.parent().unwrap().join("long.log");
        self.accsim(&format!("audit --partial {target} -o"), &[&document("sums.json"), &long]);
        self.accsim(
            "merge --partial -o",
            &[&document("both.json"), &document("one.json"), &document("sums.json")],
        );
        let journal = self.path(Format::Journal, "journal");
        self.accsim(
            "audit --json --manifest",
            &[&self.path(Format::Manifest, "runs.csv"), Path::new("--journal"), &journal],
        );
        self.accsim(
            "throughput calibrate -o",
            &[&self.path(Format::Model, "own.json"), Path::new("tests/data/h200/e3k5_al351.log")],
        );
    }
}

/// A launcher with what launchers have: arms, tests, arrays, functions, loops, here-documents.
pub(crate) const LAUNCHER: &str = r#"#!/usr/bin/env bash
#SBATCH --nodes=2
set -euo pipefail
source ./common.sh
MODEL=${MODEL:-zai-org/GLM-5.2-FP8}
K=3
declare -A GOLDEN=([1]=1.83 [3]=2.99 [5]=3.51)
case "$MODEL_PREFIX" in
    glm5.2) AL=${GOLDEN[$K]} ;;
    dsv4 | dsv4-pro) AL=2.83 ;;
    *) echo "unknown: $MODEL_PREFIX" >&2; exit 1 ;;
esac
if [[ "${EVAL_ONLY:-0}" != 1 ]]; then
    export SGLANG_SIMULATE_ACC_LEN="$AL" SGLANG_SIMULATE_ACC_METHOD=match-expected
    export SGLANG_SIMULATE_ACC_TOKEN_MODE=real-draft-token
else
    unset SGLANG_SIMULATE_ACC_LEN SGLANG_SIMULATE_ACC_METHOD
fi
args=(--model-path "$MODEL" --speculative-algorithm EAGLE --speculative-num-steps "$K")
run() { local port=$1; shift; "$@" --port "$port" & }
for port in 30000 30001; do
    run "$port" env CUDA_VISIBLE_DEVICES=0,1 python3 -m sglang.launch_server "${args[@]}"
done
cat > inner.sh <<EOF
vllm serve $MODEL --speculative-config '{"num_speculative_tokens": 3, "synthetic_acceptance_length": 2.83}'
EOF
ssh node1 "bash inner.sh" | tee log.txt
wait
"#;

const SWEEP: &str = r#"#!/bin/bash
#SBATCH --export=NONE
for k in 1 2 3; do
    srun --export=ALL,SGLANG_SIMULATE_ACC_LEN=2.$k bash -c \
        'python3 -m sglang.launch_server --speculative-num-steps '"$k"
done
"#;

const MANIFEST_CSV: &str = "path,accept_length,max_accept_length,label_team,label_note
../../long.log,3.5,6,red,\"x, y\"
../../rounded.log,3.5,6,blue,
none.log,3.5,6,,
";

const MANIFEST_JSON: &str = r#"{"path": "../../long.log", "accept_length": 3.5, "max_accept_length": 6}
{"path": ["../../rounded.log", "../../long.log"], "expect_real": true, "labels": {"team": "red"}}
"#;

const CONFIGURATION: &str = r"[recipe]
paths = ['.']
exclude = ['old/**']

[[recipe.rules]]
path = '**'
model = 'glm5.2'
thinking = 'on'

[[recipe.allow]]
path = '*'
code = 'al-mismatch'
reason = 'sanctioned'
expires = '2027-01-31'
";
