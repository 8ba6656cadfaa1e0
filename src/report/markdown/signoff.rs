//! A sign-off to paste: one line an item, tables and quotes folded.

use std::io::{self, Write};

use super::escape::{code, prose};
use crate::report::SignoffRun;
use crate::signoff::{Evidence, Item, Status};

/// Quotes shown of one item; the JSON has them all.
const MOST_QUOTES: usize = 16;

/// Writes the report. Its heading is at the third level, to stand below those of a pull request.
pub fn write_signoff(run: &SignoffRun<'_>, out: &mut dyn Write) -> io::Result<()> {
    let signoff = run.signoff;
    writeln!(out, "### Sign-off by profile {}: {}\n", prose(&signoff.profile), signoff.status().name())?;
    writeln!(
        out,
        "{} of {} items hold, {} fail, {} cannot be decided.\n",
        signoff.count(Status::Holds),
        signoff.items.len(),
        signoff.count(Status::Fails),
        signoff.count(Status::CannotDecide)
    )?;
    for item in &signoff.items {
        write_item(out, item)?;
    }
    for error in run.errors {
        writeln!(out, "- **not read to its end**: {}", prose(error))?;
    }
    for note in run.notes {
        writeln!(out, "- note: {}", prose(note))?;
    }
    for item in signoff.items.iter().filter(|item| !item.table.is_empty()) {
        fold(out, &item.title, |out| table(out, &item.table))?;
    }
    fold(out, "evidence", |out| quotes(out, &signoff.items))?;
    fold(out, "what was found", |out| {
        if signoff.points.is_empty() {
            writeln!(out, "- no point")?;
        }
        for point in &signoff.points {
            writeln!(out, "- point {}", prose(point))?;
        }
        for evaluation in &signoff.evaluations {
            writeln!(out, "- evaluation {}", prose(evaluation))?;
        }
        Ok(())
    })
}

/// Writes the comparison of two launches: one line an item, and the differences as a table in the open.
pub fn write_launch_diff(run: &SignoffRun<'_>, out: &mut dyn Write) -> io::Result<()> {
    let signoff = run.signoff;
    writeln!(
        out,
        "### Launches compared by profile {}: {}\n",
        prose(&signoff.profile),
        signoff.status().name()
    )?;
    for side in &signoff.points {
        writeln!(out, "- {}", prose(side))?;
    }
    for item in &signoff.items {
        write_item(out, item)?;
    }
    for note in run.notes {
        writeln!(out, "- note: {}", prose(note))?;
    }
    for item in signoff.items.iter().filter(|item| !item.table.is_empty()) {
        writeln!(out, "\n{}:\n", prose(&item.title))?;
        table(out, &item.table)?;
    }
    fold(out, "evidence", |out| quotes(out, &signoff.items))
}

fn write_item(out: &mut dyn Write, item: &Item) -> io::Result<()> {
    let status = match item.status {
        Status::Holds => item.status.name().to_owned(),
        Status::Fails | Status::CannotDecide => format!("**{}**", item.status.name()),
    };
    writeln!(out, "- {status} `{}` {}: {}", item.id, prose(&item.title), prose(&item.message))
}

fn fold(
    out: &mut dyn Write,
    summary: &str,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    writeln!(out, "\n<details><summary>{}</summary>\n", prose(summary))?;
    write(out)?;
    writeln!(out, "\n</details>")
}

fn table(out: &mut dyn Write, rows: &[Vec<String>]) -> io::Result<()> {
    for (index, row) in rows.iter().enumerate() {
        let cells: Vec<String> = row.iter().map(|cell| prose(cell)).collect();
        writeln!(out, "| {} |", cells.join(" | "))?;
        if index == 0 {
            writeln!(out, "|{}", "---|".repeat(row.len()))?;
        }
    }
    Ok(())
}

fn quotes(out: &mut dyn Write, items: &[Item]) -> io::Result<()> {
    for item in items.iter().filter(|item| !item.evidence.is_empty()) {
        writeln!(out, "- `{}`", item.id)?;
        for evidence in item.evidence.iter().take(MOST_QUOTES) {
            writeln!(out, "  - {}: {}", code(&place(evidence)), code(&evidence.value))?;
        }
        let more = item.evidence.len().saturating_sub(MOST_QUOTES);
        if more > 0 {
            writeln!(out, "  - {more} more")?;
        }
    }
    Ok(())
}

fn place(evidence: &Evidence) -> String {
    match evidence.line {
        Some(line) => format!("{}:{line}", evidence.file),
        None => evidence.file.clone(),
    }
}
