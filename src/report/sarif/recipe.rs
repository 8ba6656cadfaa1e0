//! Findings of `recipe check`.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::golden::Severity;
use crate::recipe::{Finding, FindingCode};
use crate::report::excerpt::printable;
use crate::report::recipe::CheckRun;
use crate::report::text::recipe::subject;

/// Results that GitHub takes in one run; the gravest come first.
const MOST_RESULTS: usize = 25_000;
/// Levels of the format.
const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// Writes one run with every rule, and a result for each finding; sanctioned ones are results with a suppression.
pub fn write_check(run: &CheckRun, out: &mut dyn Write) -> io::Result<()> {
    let rules: Vec<Value> = FindingCode::ALL.iter().map(|code| rule(*code)).collect();
    let mut findings: Vec<&Finding> = run.findings.iter().collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let mut results: Vec<Value> =
        findings.into_iter().take(MOST_RESULTS).map(|finding| result(finding, None)).collect();
    let room = MOST_RESULTS.saturating_sub(results.len());
    results.extend(
        run.allowed.iter().take(room).map(|(finding, allowed)| result(finding, Some(&allowed.reason))),
    );
    let notifications: Vec<Value> = run
        .errors
        .iter()
        .map(|error| json!({"level": "error", "message": {"text": printable(error)}}))
        .collect();
    let document = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "accsim",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": run.errors.is_empty(),
                "toolExecutionNotifications": notifications,
            }],
            "results": results,
        }],
    });
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

fn rule(code: FindingCode) -> Value {
    json!({
        "id": code.name(),
        "name": camel(code.name()),
        "shortDescription": {"text": code.meaning()},
        "fullDescription": {"text": code.meaning()},
        "help": {"text": format!("{} See docs/recipes.md of accsim.", code.meaning())},
        "defaultConfiguration": {"level": "error"},
    })
}

/// `al-mismatch` as `AlMismatch`.
fn camel(name: &str) -> String {
    let part = |part: &str| {
        let (head, tail) = part.split_at_checked(1).unwrap_or((part, ""));
        head.to_ascii_uppercase() + tail
    };
    name.split('-').map(part).collect()
}

fn result(finding: &Finding, reason: Option<&str>) -> Value {
    let index = FindingCode::ALL.iter().position(|code| *code == finding.code).unwrap_or_default();
    let related: Vec<Value> = finding
        .evidence
        .iter()
        .enumerate()
        .map(|(id, evidence)| {
            let file = evidence.file.as_deref().unwrap_or(&finding.file);
            json!({
                "id": id,
                "message": {"text": printable(&format!("{}: {}", evidence.part, evidence.value))},
                "physicalLocation": physical(file, evidence.at),
            })
        })
        .collect();
    let mut result = json!({
        "ruleId": finding.code.name(),
        "ruleIndex": index,
        "level": level(finding.severity),
        "message": {"text": format!("{}{}", subject(finding), printable(&finding.message))},
        "locations": [{"physicalLocation": physical(&finding.file, finding.at)}],
        "relatedLocations": related,
        // The line may move; what is wrong stays the same.
        "partialFingerprints": {"accsim/v1": fingerprint(finding)},
        "properties": {
            "variant": finding.variant,
            "role": finding.role.name(),
            "engine": finding.engine.map(crate::engine::Engine::name),
            "draft_length": finding.draft_length,
            "curve": finding.curve,
            "thinking": finding.thinking.key(),
            "pinned": finding.pinned,
            "expected": finding.expected,
        },
    });
    if let Some(reason) = reason {
        let suppression =
            json!([{"kind": "external", "status": "accepted", "justification": printable(reason)}]);
        if let Some(result) = result.as_object_mut() {
            result.insert("suppressions".to_owned(), suppression);
        }
    }
    result
}

/// Where it stands: relative to the repository, or as a whole where it is in none.
fn physical(file: &str, at: crate::yaml::Position) -> Value {
    let artifact = if is_whole(file) {
        let slash = if file.starts_with('/') { "" } else { "/" };
        json!({"uri": format!("file://{slash}{}", uri(file))})
    } else {
        json!({"uri": uri(file), "uriBaseId": "%SRCROOT%"})
    };
    json!({
        "artifactLocation": artifact,
        "region": {"startLine": at.line, "startColumn": at.column},
    })
}

/// `/a/b`, `C:/a/b`.
fn is_whole(file: &str) -> bool {
    file.starts_with('/') || file.get(1..3) == Some(":/")
}

/// A path as a URI reference: what a URI cannot hold is escaped.
fn uri(file: &str) -> String {
    let mut out = String::with_capacity(file.len());
    for byte in file.trim_start_matches("./").bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            _ => {
                use std::fmt::Write as _;
                // Writing to a String cannot fail.
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

/// FNV-1a over what a finding is about.
fn fingerprint(finding: &Finding) -> String {
    let text = format!(
        "{}\0{}\0{}\0{}",
        finding.file,
        finding.variant.as_deref().unwrap_or_default(),
        finding.role,
        finding.code
    );
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in text.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    format!("{hash:016x}")
}
