//! Golden curves and cells for people.

use std::collections::BTreeSet;
use std::io::{self, Write};

use crate::golden::{
    CellDifference, CellValue, Checked, Curve, FileIssue, Header, Provenance, Sampling, Severity, Status,
};

use super::{Align, Table};

/// `curves list`: one line a curve.
pub fn list<'a>(out: &mut dyn Write, curves: impl IntoIterator<Item = &'a Curve>) -> io::Result<()> {
    let columns = ["CURVE", "MODEL", "METHOD", "STATUS", "DRAFT LENGTHS"];
    let mut table = Table::new(columns.map(|heading| (heading, Align::Left)));
    for curve in curves {
        let modes = curve.modes.keys().map(|mode| format!("{mode} {}", curve.draft_lengths(*mode)));
        table.row([
            curve.name.clone(),
            curve.model.clone(),
            curve.method.clone().unwrap_or_else(|| "-".to_owned()),
            curve.status().map_or("-", Status::name).to_owned(),
            modes.collect::<Vec<_>>().join("; "),
        ]);
    }
    table.write(out)
}

/// `curves show`: what is known about a curve, then its cells.
pub fn show(out: &mut dyn Write, curve: &Curve, file: &str) -> io::Result<()> {
    writeln!(out, "{}", curve.name)?;
    let facts = match &curve.provenance {
        Some(provenance) => provenance_facts(provenance),
        None => header_facts(&curve.header),
    };
    let mut all = vec![("model", curve.model.clone())];
    all.extend(curve.method.clone().map(|method| ("method", method)));
    all.extend(curve.status().map(|status| ("status", status.name().to_owned())));
    all.push(("source", curve.source(file)));
    all.extend(facts);
    for (name, value) in all {
        writeln!(out, "  {name:<20}  {value}")?;
    }
    writeln!(out)?;
    cells(out, curve)
}

fn cells(out: &mut dyn Write, curve: &Curve) -> io::Result<()> {
    let modes = curve.modes.keys().map(|mode| mode.key());
    let mut table = Table::new(["draft length"].into_iter().chain(modes).map(|name| (name, Align::Right)));
    let lengths: BTreeSet<u32> = curve.modes.values().flat_map(|cells| cells.keys().copied()).collect();
    for draft_length in lengths {
        let values =
            curve.modes.values().map(|cells| match cells.get(&draft_length).map(|cell| &cell.value) {
                Some(CellValue::Measured(value)) => value.to_string(),
                Some(CellValue::Unmeasured) => "unmeasured".to_owned(),
                Some(CellValue::Refused(_)) => "refused".to_owned(),
                None => "-".to_owned(),
            });
        table.row(std::iter::once(draft_length.to_string()).chain(values));
    }
    table.write(out)
}

fn provenance_facts(provenance: &Provenance) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("measured on", provenance.measured_on.clone()),
        ("dataset", provenance.dataset.clone()),
        ("output length", format!("{} tokens", provenance.output_len)),
    ];
    for (scope, parameters) in &provenance.sampling {
        let scope = match scope {
            crate::golden::SamplingScope::All => "",
            crate::golden::SamplingScope::ThinkingOn => " (thinking_on)",
            crate::golden::SamplingScope::ThinkingOff => " (thinking_off)",
        };
        facts.push(("sampling", format!("{}{scope}", sampling(parameters))));
    }
    for (mode, arguments) in &provenance.chat_template_kwargs {
        let arguments = serde_json::to_string(arguments).unwrap_or_default();
        facts.push(("chat template", format!("{arguments} ({mode})")));
    }
    facts.extend(provenance.draft_model.clone().map(|model| ("draft model", model)));
    facts.extend(provenance.draft_sample_method.map(|sampler| {
        let note = provenance.draft_sample_method_note.as_ref();
        ("draft sampling", note.map_or_else(|| sampler.to_string(), |note| format!("{sampler} ({note})")))
    }));
    facts.extend(provenance.rejection_sample_method.clone().map(|method| ("rejection", method)));
    facts.extend(provenance.image.clone().map(|image| ("image", image)));
    facts.push(("read from", format!("{} ({})", provenance.source.repository, provenance.source.place)));
    facts.extend(provenance.source.pull_request.clone().map(|pull| ("pull request", pull)));
    facts.extend(provenance.source.first_commit.clone().map(|commit| ("first commit", commit)));
    for (mode, lengths) in &provenance.attestation.cells {
        let lengths = crate::golden::DraftLengths(lengths.clone());
        let by = provenance.attestation.by.join("; ");
        facts.push(("attested", format!("{mode} {lengths} by {by}")));
    }
    facts.extend(provenance.attestation.internal_check.clone().map(|check| ("checked", check)));
    facts.extend(provenance.note.clone().map(|note| ("note", note)));
    facts
}

fn header_facts(header: &Header) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    facts.extend(header.measured_on.as_ref().map(|measured| {
        let server = measured.server.join(", ");
        ("measured on", format!("{} ({server})", measured.model))
    }));
    facts.extend(header.dataset.clone().map(|dataset| ("dataset", dataset)));
    facts.extend(header.output_len.map(|tokens| ("output length", format!("{tokens} tokens"))));
    if !header.sampling.is_empty() {
        facts.push(("sampling", sampling(&header.sampling)));
    }
    for (mode, said) in &header.modes {
        if !said.sampling.is_empty() {
            facts.push(("sampling", format!("{} ({mode})", sampling(&said.sampling))));
        }
        if let Some(arguments) = &said.chat_template_kwargs {
            let arguments = serde_json::to_string(arguments).unwrap_or_default();
            facts.push(("chat template", format!("{arguments} ({mode})")));
        }
    }
    facts.extend(header.draft_model.clone().map(|model| ("draft model", model)));
    facts.extend(header.draft_sample_method.clone().map(|method| ("draft sampling", method)));
    facts.extend(header.rejection_sample_method.clone().map(|method| ("rejection", method)));
    facts.extend(header.image.clone().map(|image| ("image", image)));
    facts
}

fn sampling(sampling: &Sampling) -> String {
    let named = |name: &str, value: Option<String>| value.map(|value| format!("{name} {value}"));
    let number = |value: Option<f64>| value.map(|value| format!("{value:?}"));
    [
        named("temperature", number(sampling.temperature)),
        named("top_p", number(sampling.top_p)),
        named("top_k", sampling.top_k.map(|value| value.to_string())),
        named("presence_penalty", number(sampling.presence_penalty)),
    ]
    .into_iter()
    .flatten()
    .collect::<Vec<_>>()
    .join(", ")
}

/// `curves check`: `file:line:column: severity[code]: message`, then the sum.
pub fn check(out: &mut dyn Write, checked: &Checked) -> io::Result<()> {
    for FileIssue { file, issue } in &checked.findings {
        let place = issue.at.map_or_else(String::new, |at| format!(":{}:{}", at.line, at.column));
        writeln!(out, "{file}{place}: {}[{}]: {}", issue.severity(), issue.code(), issue.kind)?;
    }
    let count = |severity, one: &str, many: &str| {
        let count = checked.count(severity);
        format!("{count} {}", if count == 1 { one } else { many })
    };
    writeln!(
        out,
        "{} {} checked: {}, {}, {}",
        checked.files,
        if checked.files == 1 { "file" } else { "files" },
        count(Severity::Error, "error", "errors"),
        count(Severity::Warning, "warning", "warnings"),
        count(Severity::Note, "note", "notes"),
    )
}

/// `curves diff`: one line a cell that differs.
pub fn diff(out: &mut dyn Write, a: &str, b: &str, differences: &[CellDifference]) -> io::Result<()> {
    if differences.is_empty() {
        return writeln!(out, "{a} and {b} agree on every cell");
    }
    let columns = [("thinking", Align::Left), ("draft length", Align::Right), (a, Align::Right)];
    let more = [(b, Align::Right), ("difference", Align::Right)];
    let mut table = Table::new(columns.into_iter().chain(more));
    for cell in differences {
        let shown = |value: Option<crate::golden::AcceptLength>| {
            value.map_or_else(|| "-".to_owned(), |value| value.to_string())
        };
        table.row([
            cell.thinking.to_string(),
            cell.draft_length.to_string(),
            shown(cell.left),
            shown(cell.right),
            cell.difference().map_or_else(|| "-".to_owned(), |difference| format!("{difference:+.2}")),
        ]);
    }
    table.write(out)
}
