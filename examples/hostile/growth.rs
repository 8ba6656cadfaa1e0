//! Time against size: four times the input may take little more than four times the time.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use crate::commands::{Command, Output};
use crate::corpus::{File, Kind};
use crate::run::Runner;

/// Four times the input; linear is 4, quadratic 16.
const TIMES: usize = 4;

/// More than this for four times the input is not linear.
const MOST: f64 = 8.0;

/// Below this, starting the program is what is measured.
const FLOOR: Duration = Duration::from_millis(40);

struct Family {
    name: &'static str,
    kind: Kind,
    file: &'static str,
    begin: &'static str,
    unit: &'static str,
    units: usize,
    command: &'static [&'static str],
}

const DECODE: &str = "[2026-10-12 01:02:03 TP0] Decode batch, #running-req: 16, #token: 793, token usage: 0.05, accept len: 3.52, accept rate: 0.50, cuda graph: True, gen throughput (token/s): 585.98, #queue-req: 0\n";

const FAMILIES: [Family; 10] = [
    Family {
        name: "decode lines",
        kind: Kind::Log,
        file: "a.log",
        begin: "",
        unit: DECODE,
        units: 400_000,
        command: &["audit"],
    },
    Family {
        name: "decode lines without an end of line",
        kind: Kind::Log,
        file: "a.log",
        begin: "",
        unit: "Decode batch, accept len: 3.5, ",
        units: 1_600_000,
        command: &["audit"],
    },
    Family {
        name: "cut decode lines",
        kind: Kind::Log,
        file: "a.log",
        begin: "",
        unit: "[2026-10-12 01:02:03 TP0] Decode batch, #running-req: 16, #to\n",
        units: 400_000,
        command: &["records"],
    },
    Family {
        name: "terminal escapes",
        kind: Kind::Log,
        file: "a.log",
        begin: "",
        unit: "\x1b[31mDecode batch\x1b[0m \x1b",
        units: 1_600_000,
        command: &["records"],
    },
    Family {
        name: "server arguments",
        kind: Kind::Log,
        file: "a.log",
        begin: "server_args=ServerArgs(",
        unit: "a='x', ",
        units: 3_200_000,
        command: &["audit"],
    },
    Family {
        name: "YAML keys",
        kind: Kind::Yaml,
        file: "a.yaml",
        begin: "",
        unit: "key: [1, 2]\n",
        units: 20_000,
        command: &["curves", "check"],
    },
    Family {
        name: "YAML list",
        kind: Kind::Yaml,
        file: "a.yaml",
        begin: "a:\n",
        unit: "- {b: 1, c: 'd'}\n",
        units: 40_000,
        command: &["curves", "check"],
    },
    Family {
        name: "CSV rows",
        kind: Kind::Csv,
        file: "a.csv",
        begin: "x,y\n",
        unit: "1.5,2.5\n",
        units: 100_000,
        command: &["throughput", "pareto", "--x", "x", "--y", "y"],
    },
    Family {
        name: "assignments in shell text",
        kind: Kind::Text,
        file: "a.sh",
        begin: "",
        unit: "export A=\"${B:-x}\"\n",
        units: 20_000,
        command: &["recipe", "check"],
    },
    Family {
        name: "counter samples",
        kind: Kind::Text,
        file: "a.prom",
        begin: "",
        unit: "vllm:spec_decode_num_drafts_total{engine=\"0\"} 5\n",
        units: 100_000,
        command: &["records"],
    },
];

pub(crate) struct Growth {
    rows: Vec<(&'static str, Duration, Duration)>,
}

/// Measures all families, one after the other.
pub(crate) fn measure(runner: &Runner, scratch: &Path) -> Growth {
    let rows = FAMILIES.iter().map(|family| {
        let time = |times| {
            let bytes = (family.begin.to_owned() + &family.unit.repeat(family.units * times)).into_bytes();
            let file = File { name: family.file.to_owned(), bytes, kind: family.kind, damage: "grown" };
            let folder = scratch.join("growth");
            std::fs::create_dir_all(&folder).unwrap();
            let path = folder.join(&file.name);
            std::fs::write(&path, &file.bytes).unwrap();
            let words = family.command.iter().copied().chain([path.to_str().unwrap()]);
            let command = Command { words: words.map(str::to_owned).collect(), output: Output::Text };
            // The fastest of three: what else the machine does only adds.
            (0..3).map(|_| runner.run(&file, &command, &folder).time).min().unwrap()
        };
        (family.name, time(1), time(TIMES))
    });
    Growth { rows: rows.collect() }
}

fn ratio(small: Duration, large: Duration) -> f64 {
    large.max(FLOOR).as_secs_f64() / small.max(FLOOR).as_secs_f64()
}

impl Growth {
    pub(crate) fn holds(&self) -> bool {
        self.rows.iter().all(|(_, small, large)| ratio(*small, *large) <= MOST)
    }
}

impl fmt::Display for Growth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "\nProcessor time for an input and for one {TIMES} times as long (linear: {TIMES}; at most {MOST}):\n"
        )?;
        writeln!(f, "| input | ms | ms | ratio |\n|---|---|---|---|")?;
        for (name, small, large) in &self.rows {
            writeln!(
                f,
                "| {name} | {} | {} | {:.1} |",
                small.as_millis(),
                large.as_millis(),
                ratio(*small, *large)
            )?;
        }
        Ok(())
    }
}
