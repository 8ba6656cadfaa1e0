//! What recipes and launchers pin.

use crate::golden::Severity;
use crate::recipe::FindingCode;
use crate::signoff::facts::Run;
use crate::signoff::item::{Evidence, Outcome, Weighing, counted};

pub(in crate::signoff) fn recipe_pins(run: &Run) -> Outcome {
    let mut weighing = Weighing::default();
    if run.pins.is_empty() {
        weighing.miss("no recipe and no launcher that starts a server was found; give --recipe FILE");
    }
    let mut remarks = 0_u64;
    for (file, judged) in &run.pins {
        for finding in &judged.findings {
            let line = u64::try_from(finding.at.line).ok();
            let value =
                finding.pinned.map_or_else(|| finding.code.to_string(), |pinned| format!("pinned {pinned}"));
            let evidence = Evidence { file: run.file(*file).to_owned(), line, value };
            let what = format!("{}: {}: {}", finding.role, finding.code, finding.message);
            match finding.severity {
                Severity::Error
                    if finding.code == FindingCode::NoGoldenCurve && run.stated.target.is_none() =>
                {
                    weighing.miss(what);
                }
                Severity::Error => weighing.fail(what, [evidence]),
                Severity::Warning | Severity::Note => {
                    remarks += 1;
                    weighing.show(evidence);
                }
            }
        }
    }
    let remarks = match remarks {
        0 => String::new(),
        count => {
            format!(", {} (a value that is injected at launch stands in no recipe)", counted(count, "remark"))
        }
    };
    weighing.conclude(format!(
        "no fault in {}{remarks}",
        match run.pins.len() {
            1 => "1 recipe or launcher".to_owned(),
            count => format!("{count} recipes and launchers"),
        }
    ))
}
