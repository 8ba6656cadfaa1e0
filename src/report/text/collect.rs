//! What `collect` measured, for people.

use std::io::{self, Write};

use crate::collect::Measured;

/// The accept length, and the sums behind it.
pub fn write(out: &mut dyn Write, measured: &Measured) -> io::Result<()> {
    let difference = &measured.difference;
    let counts = &difference.counts;
    let Measured { accepted, drafts, accept_length, .. } = measured;
    writeln!(out, "Accept length  {accept_length:.4} = 1 + {accepted} / {drafts}")?;
    let model = difference.model.as_deref().map(|model| format!(", {}", crate::evidence::escaped(model)));
    writeln!(
        out,
        "Counters       {}{}, {} series",
        difference.exporter.name(),
        model.unwrap_or_default(),
        difference.series
    )?;
    if let (Some(drafted), Some(rate)) = (counts.drafted, counts.draft_accept_rate()) {
        let length = counts.draft_length().map(|length| format!(", {length} a step")).unwrap_or_default();
        writeln!(out, "Drafted        {drafted} tokens{length}; {:.1} % accepted", 100.0 * rate)?;
    }
    let rates: Vec<String> = counts.rates().iter().map(|rate| format!("{rate:.3}")).collect();
    if !rates.is_empty() {
        writeln!(out, "By position    {}", rates.join(", "))?;
    }
    if !counts.histogram.is_empty() {
        let bins: Vec<String> =
            counts.histogram.iter().map(|(accepted, steps)| format!("{accepted}: {steps}")).collect();
        writeln!(out, "Accepted       {} (drafts: steps)", bins.join(", "))?;
    }
    Ok(())
}
