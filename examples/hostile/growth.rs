//! Time against size: eight times the input may take little more than eight times the time.

use std::fmt;
use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::commands::{Command, Output};
use crate::format::Format;
use crate::pack::{gzip, tar, zip};
use crate::run::{Given, Runner};
use crate::seeds::LAUNCHER;

/// Sizes of an input, in units of the smallest.
const SIZES: [usize; 4] = [1, 2, 4, 8];

/// More than this for eight times the input is not linear: between 8 and the 64 of a square, on the side of the square, because
/// other programs run on the same processors.
const MOST: f64 = 24.0;

/// Below this, starting the program is what is measured.
const FLOOR: Duration = Duration::from_millis(30);

/// How often a family is measured before it counts as not linear; each time the faster one counts.
const TRIES: usize = 4;

/// Inputs of one shape.
struct Family {
    name: &'static str,
    format: Format,
    file: &'static str,
    /// The input of so many units.
    input: fn(usize) -> Vec<u8>,
    /// Units of the smallest input.
    units: usize,
    command: &'static str,
}

const DECODE: &str = "[2026-10-12 01:02:03 TP0] Decode batch, #running-req: 16, #token: 793, token usage: 0.05, accept len: 3.52, accept rate: 0.50, cuda graph: True, gen throughput (token/s): 585.98, #queue-req: 0\n";

const VLLM: &str = "(APIServer pid=1) INFO 10-12 01:02:03 [metrics.py:101] SpecDecoding metrics: Mean acceptance length: 3.51, Accepted throughput: 251.00 tokens/s, Drafted throughput: 500.00 tokens/s, Accepted: 2510 tokens, Drafted: 5000 tokens, Per-position acceptance rate: 0.900, 0.800, 0.500, 0.200, 0.110, Avg Draft acceptance rate: 50.2%\n";

const TRTLLM: &str = " global_rank = 0, rank = 0, currank_total_requests = 3/4, elapsed_time = 0.0125s, timestamp = 2025-04-28 09:56:44, states = {'num_ctx_requests': 0, 'num_ctx_tokens': 0, 'num_generation_tokens': 16}\n";

const ATOM: &str = "[MTP Stats Interval] Average toks/fwd: 3.51, Accepted/Total Draft tokens: 251/500, Acceptance rate: 50.20%, Accepted tokens distribution: {0: '10.00%', 1: '20.00%', 2: '70.00%'}\n";

const SERVER: &str = "export SGLANG_SIMULATE_ACC_LEN=2.99\npython3 -m sglang.launch_server --speculative-algorithm EAGLE --speculative-num-steps 3\n";

const RECIPE: &str = "base:\n  name: x\n  model: {path: zai-org/GLM-5.2}\n  backend:\n    type: vllm\n    vllm_config:\n      aggregated:\n        speculative-config: '{\"method\": \"mtp\", \"num_speculative_tokens\": 3}'\n";

const AUDIT: &str = "audit FILE --accept-length 3.51 --max-accept-length 6";
const RECORDS: &str =
    "records FILE --kind decode,prefill,setting,rejected,spec,iter,interval,counters,request";
const CHECK: &str = "recipe check FILE --model glm5.2 --no-config";
const PARETO: &str = "throughput pareto FILE --x x --y y";

const fn family(
    name: &'static str,
    format: Format,
    file: &'static str,
    command: &'static str,
    units: usize,
    input: fn(usize) -> Vec<u8>,
) -> Family {
    Family { name, format, file, input, units, command }
}

fn repeated(begin: &str, unit: &str, times: usize, end: &str) -> Vec<u8> {
    [begin, &unit.repeat(times), end].concat().into_bytes()
}

fn numbered(begin: &str, times: usize, unit: impl Fn(usize) -> String) -> Vec<u8> {
    let units: String = (0..times).map(unit).collect();
    (begin.to_owned() + &units).into_bytes()
}

const FAMILIES: [Family; 41] = [
    family("decode lines", Format::Sglang, "a.log", AUDIT, 50_000, |n| repeated("", DECODE, n, "")),
    family("decode lines, each with another value", Format::Sglang, "a.log", AUDIT, 4_000, |n| {
        numbered("", n, |line| DECODE.replace("3.52", &format!("{}.{:02}", 1 + line / 100 % 5, line % 100)))
    }),
    family("decode lines, each of another rank", Format::Sglang, "a.log", AUDIT, 4_000, |n| {
        numbered("", n, |line| DECODE.replace("TP0", &format!("DP{line} TP{line}")))
    }),
    family("decode lines, each of another batch", Format::Sglang, "a.log", AUDIT, 4_000, |n| {
        numbered("", n, |line| DECODE.replace("req: 16", &format!("req: {line}")))
    }),
    family("decode lines, each of another batch that stays", Format::Sglang, "a.log", AUDIT, 4_000, |n| {
        numbered("", n, |line| DECODE.replace("req: 16", &format!("req: {}", line / 2)))
    }),
    family("decode lines without an end of line", Format::Sglang, "a.log", AUDIT, 200_000, |n| {
        repeated("", "Decode batch, accept len: 3.5, ", n, "")
    }),
    family("cut decode lines", Format::Sglang, "a.log", RECORDS, 50_000, |n| {
        repeated("", "[2026-10-12 01:02:03 TP0] Decode batch, #running-req: 16, #to\n", n, "")
    }),
    family("terminal escapes", Format::Sglang, "a.log", RECORDS, 200_000, |n| {
        repeated("", "\x1b[31mDecode batch\x1b[0m \x1b", n, "")
    }),
    family("server arguments", Format::Sglang, "a.log", AUDIT, 200_000, |n| {
        repeated("server_args=ServerArgs(", "a='x', ", n, "")
    }),
    family("starts of a server", Format::Sglang, "a.log", AUDIT, 4_000, |n| {
        repeated("", "[2026-10-12 01:02:03] server_args=ServerArgs(model_path='m', random_seed=7)\n", n, "")
    }),
    family("halves of a runtime's lines", Format::Sglang, "a.log", RECORDS, 40_000, |n| {
        repeated("", "2026-06-01T10:00:02.0Z stdout P [2026-10-12 01:02:03] Decode batch, #ru\n", n, "")
    }),
    family("lines of vLLM", Format::Vllm, "a.log", AUDIT, 10_000, |n| {
        numbered("", n, |line| {
            VLLM.replace(
                "01:02:03",
                &format!("{:02}:{:02}:{:02}", line / 3600 % 24, line / 60 % 60, line % 60),
            )
        })
    }),
    family("lines of TensorRT-LLM", Format::Trtllm, "a.log", AUDIT, 20_000, |n| repeated("", TRTLLM, n, "")),
    family("lines of ATOM", Format::Atom, "a.log", AUDIT, 10_000, |n| repeated("", ATOM, n, "")),
    family("a calibration", Format::Sglang, "a.log", "throughput calibrate FILE", 4_000, |n| {
        numbered("", n, |line| {
            DECODE.replace(
                "01:02:03",
                &format!("{:02}:{:02}:{:02}", line / 3600 % 24, line / 60 % 60, line % 60),
            )
        })
    }),
    family("gzip members", Format::Packed, "a.gz", AUDIT, 20_000, |n| gzip(b"a line\n").repeat(n)),
    family("entries of a tar archive", Format::Packed, "a.tar", AUDIT, 2_000, |n| {
        tar(&vec![("a.log", DECODE.as_bytes()); n])
    }),
    family("entries of a zip archive", Format::Packed, "a.zip", AUDIT, 2_000, |n| {
        let names: Vec<String> = (0..n).map(|entry| format!("{entry}.log")).collect();
        let entries: Vec<_> = names.iter().map(|name| (name.as_str(), DECODE.as_bytes())).collect();
        zip(&entries, ::zip::CompressionMethod::Deflated)
    }),
    family("samples of one counter", Format::Counters, "a.prom", RECORDS, 40_000, |n| {
        repeated("", "vllm:spec_decode_num_drafts_total{engine=\"0\"} 5\n", n, "")
    }),
    family("series of a counter", Format::Counters, "a.prom", RECORDS, 10_000, |n| {
        numbered("", n, |series| format!("vllm:spec_decode_num_drafts_total{{engine=\"{series}\"}} 5\n"))
    }),
    family("requests, JSON lines", Format::Export, "a.jsonl", RECORDS, 10_000, |n| {
        numbered("", n, |id| {
            format!(
                "{{\"text\": \"x\", \"meta_info\": {{\"id\": \"{id}\", \"completion_tokens\": 64, \"spec_verify_ct\": 20}}}}\n"
            )
        })
    }),
    family("a JSON list", Format::Export, "a.json", RECORDS, 100_000, |n| {
        repeated("{\"metrics\": [", "{\"a\": [1, 2.5]}, ", n, "{}]}")
    }),
    family("keys of a curve file", Format::Curve, "a.yaml", "curves check FILE", 2_000, |n| {
        numbered("", n, |key| format!("key{key}: [1, 2]\n"))
    }),
    family("a list in YAML", Format::Curve, "a.yaml", "curves check FILE", 4_000, |n| {
        repeated("a:\n", "- {b: 1, c: 'd'}\n", n, "")
    }),
    family("variants of a recipe", Format::Recipe, "a.yaml", CHECK, 100, |n| {
        numbered(RECIPE, n, |variant| {
            format!(
                "override_v{variant}:\n  backend: {{vllm_config: {{aggregated: {{max-num-seqs: {variant}}}}}}}\n"
            )
        })
    }),
    family("assignments of a launcher", Format::Launcher, "a.sh", CHECK, 2_000, |n| {
        repeated("", "export A=\"${B:-x}\"\n", n, SERVER)
    }),
    family("conditions of a launcher", Format::Launcher, "a.sh", CHECK, 500, |n| {
        numbered("", n, |number| format!("if [ \"$X{number}\" = 1 ]; then A=1; else A=2; fi\n"))
    }),
    family("tests of a launcher that change nothing", Format::Launcher, "a.sh", CHECK, 1_000, |n| {
        numbered("", n, |number| format!("[ -f f{number} ] && true\n"))
    }),
    family("arms of a case", Format::Launcher, "a.sh", CHECK, 500, |n| {
        let arms = (0..n).map(|arm| format!("m{arm}) A={arm} ;;\n"));
        let arms: String = arms.collect();
        format!("case \"$MODEL_PREFIX\" in\n{arms}esac\n{SERVER}").into_bytes()
    }),
    family("variables of a launcher, each with a command", Format::Launcher, "a.sh", CHECK, 1_000, |n| {
        let lines = numbered("", n, |number| format!("A{number}=1\nX=1 ls | cat\n"));
        [&lines, SERVER.as_bytes()].concat()
    }),
    family("a launcher on one line", Format::Launcher, "a.sh", CHECK, 2_000, |n| {
        repeated("", "A=1; ", n, SERVER)
    }),
    family("words that a launcher collects", Format::Launcher, "a.sh", CHECK, 250, |n| {
        repeated("", "args+=(--a \"$B\"); T+=\" --b\"\n", n, SERVER)
    }),
    family("scripts in words of a launcher", Format::Launcher, "a.sh", CHECK, 50, |n| {
        repeated(
            "",
            "srun --export=ALL,SGLANG_SIMULATE_ACC_LEN=2.9 bash -c 'python3 -m sglang.launch_server --speculative-num-steps 3'\n",
            n,
            "",
        )
    }),
    family("servers of a launcher", Format::Launcher, "a.sh", CHECK, 50, |n| SERVER.repeat(n).into_bytes()),
    family("launchers one after the other", Format::Launcher, "a.sh", CHECK, 40, |n| {
        LAUNCHER.repeat(n).into_bytes()
    }),
    family("an environment", Format::Settings, "a.env", "simulate --env FILE --json", 20_000, |n| {
        numbered("SGLANG_SIMULATE_ACC_LEN=3.51\n", n, |number| format!("NAME_{number}=value\n"))
    }),
    family("rows of a manifest", Format::Manifest, "a.csv", "audit --manifest FILE --json", 2_000, |n| {
        numbered("path,accept_length,max_accept_length\n", n, |row| format!("none{row}.log,3.5,6\n"))
    }),
    family("points in a row", Format::Table, "a.csv", PARETO, 10_000, |n| {
        repeated("x,y\n", "1.5,2.5\n", n, "")
    }),
    family("points on a frontier", Format::Table, "a.csv", PARETO, 5_000, |n| {
        numbered("x,y\n", n, |point| format!("{point},{point}\n"))
    }),
    family(
        "requests of a trace",
        Format::Table,
        "a.csv",
        "throughput simulate tests/data/throughput/h200_k3_k5.json --accept-length 2 --draft-length 3 --trace FILE",
        250,
        |n| numbered("arrival_s,isl,osl\n", n, |request| format!("{request},64,16\n")),
    ),
    family(
        "keys of a profile",
        Format::Profile,
        "a.toml",
        "signoff launch-diff tests/data/h200/base.log tests/data/h200/base.log --profile FILE",
        20_000,
        |n| numbered("", n, |key| format!("key{key} = 1\n")),
    ),
];

pub(crate) struct Growth {
    rows: Vec<(&'static str, [Duration; SIZES.len()])>,
}

/// Writes the input of a family in one of the sizes: the second process does.
pub(crate) fn make(folder: &Path, family: usize, size: usize) {
    let family = &FAMILIES[family];
    fs::write(folder.join(family.file), (family.input)(family.units * size)).unwrap();
}

/// Measures all families, one after the other: nothing of this program runs beside them.
pub(crate) fn measure(runner: &Runner, folder: &Path, write: &dyn Fn(&Path, usize, usize)) -> Growth {
    let rows = FAMILIES.iter().enumerate().map(|(index, family)| {
        let given = SIZES.map(|size| {
            let below = folder.join("growth").join(format!("{index}-{size}"));
            fs::create_dir_all(&below).unwrap();
            write(&below, index, size);
            let path = below.join(family.file);
            Given { number: index, path, format: family.format, damage: "grown".to_owned() }
        });
        let mut times = [Duration::MAX; SIZES.len()];
        for _ in 0..TRIES {
            for (time, given) in times.iter_mut().zip(&given) {
                *time = (*time).min(run(runner, family, given));
            }
            if ratio(&times) <= MOST {
                break;
            }
        }
        for given in &given {
            fs::remove_dir_all(given.path.parent().unwrap()).unwrap();
        }
        (family.name, times)
    });
    Growth { rows: rows.collect() }
}

fn run(runner: &Runner, family: &Family, given: &Given) -> Duration {
    let file = given.path.to_str().unwrap();
    let words = family.command.split(' ').map(|word| word.replace("FILE", file)).collect();
    let output = if family.command.ends_with("--json") { Output::Json } else { Output::Text };
    let outcome = runner.run(given, &Command { name: "grown", words, output });
    assert!(outcome.fault.is_none(), "{}: {}", family.name, outcome.fault.unwrap());
    outcome.time
}

fn ratio(times: &[Duration]) -> f64 {
    let [small, .., large] = times else { return 0.0 };
    (*large).max(FLOOR).as_secs_f64() / (*small).max(FLOOR).as_secs_f64()
}

impl Growth {
    pub(crate) fn holds(&self) -> bool {
        self.rows.iter().all(|(_, times)| ratio(times) <= MOST)
    }
}

impl fmt::Display for Growth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "\nProcessor time in ms for an input and for one 2, 4 and 8 times as long, and the last over the first, where neither \
             counts as less than {} ms (linear: 8; a square: 64; at most {MOST}):\n",
            FLOOR.as_millis()
        )?;
        writeln!(f, "| input | 1 | 2 | 4 | 8 | ratio |\n|---|---|---|---|---|---|")?;
        for (name, times) in &self.rows {
            let [one, two, four, eight] = times.map(|time| time.as_millis());
            writeln!(f, "| {name} | {one} | {two} | {four} | {eight} | {:.1} |", ratio(times))?;
        }
        Ok(())
    }
}
