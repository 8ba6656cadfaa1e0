//! `simulate --env` and `--recipe` for people: what injected settings make a log show, and what it would show had they met
//! another fate.

use std::io::{self, Write};

use crate::simulate::{Check, Expected, Holds};

use super::prediction;
use super::simulate::value;
use super::style::{BOLD, GREEN, RED, RESET, YELLOW};
use super::{Align, Table};

/// Writes one check after the other.
pub fn checks(out: &mut dyn Write, file: &str, checks: &[Check]) -> io::Result<()> {
    for (index, check) in checks.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        write(out, file, check)?;
    }
    Ok(())
}

fn write(out: &mut dyn Write, file: &str, check: &Check) -> io::Result<()> {
    let role = check.role.as_ref().map_or_else(String::new, |role| format!("{role}: "));
    let verdict = prediction::verdict(check.server.engine, &check.prediction.outcome, check.wanted());
    writeln!(out, "{BOLD}{role}{} {verdict}{RESET}", prediction::server(&check.server))?;
    for setting in &check.settings {
        fact(out, "setting", &format!("{}={} ({file}:{})", setting.name, setting.value, setting.line))?;
    }
    if let Some(asked) = check.prediction.asked {
        let golden = check.golden.map_or_else(String::new, |golden| format!("; the target is {golden:.2}"));
        fact(out, "asks for", &format!("{asked:.2} tokens a step, of at most {}{golden}", check.max))?;
    }
    for (label, text) in prediction::facts(&check.server, &check.prediction) {
        fact(out, label, &text)?;
    }
    let (color, text) = match check.holds {
        Holds::Yes => (GREEN, "yes"),
        Holds::No => (RED, "no"),
        Holds::Undecided => (YELLOW, "cannot be said"),
    };
    fact(out, "holds", &format!("{color}{text}{RESET}"))?;
    if check.expected.is_none() && check.instead.is_empty() {
        return Ok(());
    }
    let load =
        check.expected.as_ref().or_else(|| check.instead.iter().find_map(|other| other.expected.as_ref()));
    if let Some(Expected { load, .. }) = load {
        writeln!(out, "\n  {} lines of {} steps, batch {}:", load.lines, load.interval, load.batch)?;
    }
    table(check).write(out)
}

fn fact(out: &mut dyn Write, label: &str, text: &str) -> io::Result<()> {
    writeln!(out, "  {label:<11} {text}")
}

fn table(check: &Check) -> Table {
    let columns =
        ["  IF THE SETTINGS ARE", "MEAN", "ITS MEAN (95 %)", "SD A LINE", "ALL LINES (95 %)", "TOLD BY"];
    let align = |(index, name)| (name, if index == 0 { Align::Left } else { Align::Right });
    let mut table = Table::new(columns.into_iter().enumerate().map(align));
    if let Some(expected) = &check.expected {
        table.row(row("  obeyed as this server does".to_owned(), expected, "-".to_owned()));
    }
    for other in &check.instead {
        let name = format!("  {}", other.fault.meaning());
        if let Some(expected) = &other.expected {
            let told = match other.lines_to_tell {
                Some(1) => "1 line".to_owned(),
                Some(lines) => format!("{lines} lines"),
                None => "-".to_owned(),
            };
            table.row(row(name, expected, told));
        } else {
            let [mean, lines] = [format!("1 to {}", check.max), "any value".to_owned()];
            let dash = || "-".to_owned();
            table.row([name, mean, "the head's own".to_owned(), dash(), lines, dash()]);
        }
    }
    table
}

fn row(name: String, expected: &Expected, told: String) -> [String; 6] {
    let (low, high) = expected.lines_within;
    [
        name,
        format!("{:.3}", expected.mean),
        format!("{:.3} - {:.3}", expected.mean_low, expected.mean_high),
        format!("{:.3}", expected.line_sd),
        format!("{} - {}", value(low), value(high)),
        told,
    ]
}
