//! A file against the golden curves: one finding a fault.

mod draft;
mod role;
mod words;

use std::collections::HashSet;
use std::sync::Arc;

use crate::golden::{Catalogue, Severity, Thinking};
use crate::yaml::Position;

use super::context::{Golden, Resolved, generation, golden, model_prefix};
use super::master::{Master, MasterPin, pins_for};
use super::model::{Document, Kind, Variant};
use super::resolve::{Pin, pin_in, pin_of};
use super::thinking::{Declared, declared, is_passed_by};
use super::unique::Unique;
use super::{Finding, FindingCode, Note, Scenario, Selector};

/// What the caller knows about a file.
#[derive(Clone, Debug, Default)]
pub struct Options<'a> {
    /// The model prefix; else it is read from the file.
    pub model: Option<&'a str>,
    /// The thinking mode; else it is read from the file, else `on`.
    pub thinking: Option<Thinking>,
    /// Master configurations that may pin a recipe.
    pub masters: &'a [Master],
    /// The scenario that the file is run in; else it is read from the file.
    pub scenario: Option<Scenario>,
    /// The variants to judge; none means all.
    pub selector: Option<&'a Selector>,
}

/// What a file has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judged {
    /// Its faults, in the order of variants, roles and codes.
    pub findings: Vec<Finding>,
    /// What else there is to know.
    pub notes: Vec<Note>,
    /// Whether the file could not be followed to its end: what was found may not be all.
    pub is_undecided: bool,
}

/// Everything that one variant's roles are judged by.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
struct Case<'a> {
    file: &'a Arc<str>,
    kind: Kind,
    variant: &'a Variant,
    options: &'a Options<'a>,
    is_agentic: bool,
    is_evaluation: bool,
    has_prefix: bool,
    mode: Thinking,
    declared: Option<Declared>,
    /// The generation role's pin, as it reaches the server.
    generation: Option<(super::Role, f64)>,
    /// Whether some role has a pin of its own.
    is_pinned: bool,
    masters: Vec<(&'a Master, &'a MasterPin)>,
}

/// Judges one file. `file` is its name, as findings shall show it.
///
/// ```
/// use accsim::golden::Catalogue;
/// use accsim::recipe::{FindingCode, Options, judge, read};
///
/// let script = "export SGLANG_SIMULATE_ACC_LEN=2.49 SGLANG_SIMULATE_ACC_METHOD=match-expected\n\
///               export SGLANG_SIMULATE_ACC_TOKEN_MODE=real-draft-token\n\
///               python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V4-Pro \\\n\
///               \x20 --speculative-algorithm EAGLE --speculative-num-steps 4\n";
/// let document = read("run.sh", script)?.unwrap();
/// let judged = judge(&document, "run.sh", &Catalogue::builtin(), &Options::default());
/// assert_eq!(judged.findings[0].code, FindingCode::AlMismatch); // the value of 3 steps
/// assert_eq!((judged.findings[0].pinned, judged.findings[0].expected), (Some(2.49), Some(2.54)));
/// # Ok::<(), accsim::recipe::ReadError>(())
/// ```
#[must_use]
pub fn judge(document: &Document, file: &str, catalogue: &Catalogue, options: &Options<'_>) -> Judged {
    let file: Arc<str> = Arc::from(file);
    let mut judged = Judged::default();
    let note = |(at, message): &(Position, String)| Note {
        file: Arc::clone(&file),
        at: *at,
        message: message.clone(),
    };
    judged.notes.extend(document.notes.iter().map(note));
    let masters = if document.kind == Kind::Recipe { pins_for(options.masters, &file) } else { Vec::new() };
    // A launcher that knows the model in question is judged for it; one that does not is judged as it is.
    let is_passed_by = |variant: &Variant| is_passed_by(variant, options.model, options.thinking);
    let is_known = document.variants.iter().any(|variant| !is_passed_by(variant));
    for variant in document.variants.iter().filter(|variant| !is_known || !is_passed_by(variant)) {
        let is_selected = match (options.selector, &variant.name) {
            (Some(selector), Some(name)) => selector.matches(name),
            _ => true,
        };
        if is_selected {
            judge_variant(document, variant, &file, catalogue, options, &masters, &mut judged);
        }
    }
    if document.kind != Kind::Recipe {
        draft::of_paths(document, &mut judged.findings);
    }
    judged.is_undecided |= !document.undecided.is_empty();
    judged.findings.extend(document.undecided.iter().map(|(at, message)| Finding {
        file: Arc::clone(&file),
        at: *at,
        variant: None,
        role: super::Role::Agg,
        engine: None,
        draft_length: None,
        curve: None,
        thinking: options.thinking.unwrap_or(Thinking::On),
        pinned: None,
        expected: None,
        code: FindingCode::UnparsableValue,
        severity: Severity::Warning,
        message: message.clone(),
        evidence: Vec::new(),
    }));
    unique(&mut judged);
    judged
}

fn judge_variant<'a>(
    document: &Document,
    variant: &'a Variant,
    file: &'a Arc<str>,
    catalogue: &Catalogue,
    options: &'a Options<'a>,
    masters: &[(&'a Master, &'a MasterPin)],
    judged: &mut Judged,
) {
    let roles: Vec<Resolved<'_>> = variant.launches.iter().map(Resolved::new).collect();
    for role in &roles {
        if let Some(name) = &role.launch.unknown_engine {
            let message = format!(
                "framework {} is not known here: nothing of it is judged",
                crate::yaml::quoted(&name.text)
            );
            judged.notes.push(Note { file: Arc::clone(file), at: name.at, message });
        }
    }
    let Some(first) = generation(&roles) else { return };
    let masters: Vec<(&Master, &MasterPin)> = masters
        .iter()
        .copied()
        .filter(|(_, pin)| match (&pin.selector, &variant.name) {
            (Some(selector), Some(name)) => selector.matches(name),
            (Some(_), None) | (None, _) => true,
        })
        .collect();
    let of_master = masters.iter().find_map(|(_, pin)| pin.model_prefix.clone());
    let prefix = model_prefix(variant, options.model).or(of_master);
    if let (Some(given), Some(found)) = (options.model, model_prefix(variant, None))
        && !super::context::same_model(given, &found)
    {
        let at = variant.prefix.as_ref().or(variant.models.first()).map_or(first.launch.at, |name| name.at);
        let message = format!("the file's model is {found}, and it is judged as {given}, as asked");
        judged.notes.push(Note { file: Arc::clone(file), at, message });
    }
    for unread in roles.iter().flat_map(|role| &role.launch.unread).filter(|unread| !unread.is_file) {
        let message = format!("which variables {} sets cannot be resolved", unread.what);
        judged.notes.push(Note { file: Arc::clone(file), at: unread.at, message });
    }
    let declared = declared(variant, Some(first.launch));
    let mode = options.thinking.or(declared.map(|declared| declared.mode)).unwrap_or(Thinking::On);
    let cell = golden(catalogue, prefix.as_deref(), first, mode);
    let effective = |role: &Resolved<'_>| -> Pin {
        let Some(engine) = role.engine else { return Pin::None };
        match pin_in(&variant.global, engine) {
            Pin::None => pin_of(role.launch, engine, role.draft_length()),
            global => global,
        }
    };
    let is_agentic = match options.scenario {
        Some(Scenario::Agentic) => true,
        Some(Scenario::FixedSeqLen) => false,
        Some(Scenario::Evaluation) | None => variant.agentic.unwrap_or(true),
    };
    let case = Case {
        file,
        kind: document.kind,
        variant,
        options,
        is_agentic,
        is_evaluation: variant.evaluation || options.scenario == Some(Scenario::Evaluation),
        has_prefix: prefix.is_some(),
        mode,
        declared,
        generation: effective(first).accept_length().map(|length| (first.launch.role, length)),
        is_pinned: roles.iter().any(|role| effective(role) != Pin::None),
        masters,
    };
    for role in &roles {
        let is_open =
            matches!(role.speculation, Ok(None)) && !role.launch.open.is_empty() && !role.launch.is_bare;
        judged.is_undecided |= is_open && !case.is_evaluation && effective(role) != Pin::None;
        // A prefill that drafts beside a generation role that does not has its own cell at most.
        let own = if cell.is_none() { golden(catalogue, prefix.as_deref(), role, mode) } else { None };
        let cell: Option<&Golden> = cell.as_ref().or(own.as_ref());
        case.role(role, cell, &mut judged.findings);
        if effective(role) != Pin::None {
            let warnings = cell.into_iter().flat_map(|cell| &cell.warnings);
            judged.notes.extend(warnings.map(|warning| Note {
                file: Arc::clone(file),
                at: effective(role).at().unwrap_or(role.launch.at),
                message: warning.clone(),
            }));
        }
    }
}

/// One object a fault: what several ways through a script lead to is one.
fn unique(judged: &mut Judged) {
    let (mut faults, mut messages) = (HashSet::new(), HashSet::new());
    let mut kept: Vec<Finding> = Vec::with_capacity(judged.findings.len());
    for finding in judged.findings.drain(..) {
        let place =
            (Arc::clone(&finding.file), finding.variant.clone(), finding.code, finding.role, finding.at);
        let values = [finding.pinned, finding.expected].map(|value| value.map(f64::to_bits));
        let fault = (place.clone(), finding.severity, finding.draft_length, values);
        let message = (place, finding.message.clone());
        // What is left out keeps nothing else out.
        if !faults.contains(&fault) && !messages.contains(&message) {
            faults.insert(fault);
            messages.insert(message);
            kept.push(finding);
        }
    }
    judged.findings = kept;
    let mut notes: Unique<Note> = Unique::new();
    notes.extend(judged.notes.drain(..));
    judged.notes = notes.into_all();
}

/// The gravest of the findings; none where there is none.
impl Judged {
    /// The gravest severity.
    #[must_use]
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }

    /// How many findings have a code.
    #[must_use]
    pub fn count(&self, code: FindingCode) -> usize {
        self.findings.iter().filter(|finding| finding.code == code).count()
    }
}
