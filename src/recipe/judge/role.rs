//! The rules for one role.

use std::sync::Arc;

use crate::engine::Engine;
use crate::golden::{Severity, Thinking};
use crate::recipe::context::{Golden, Resolved};
use crate::recipe::model::{Kind, variable};
use crate::recipe::number::{same, shown};
use crate::recipe::resolve::{DraftLength, Fault, Pin, TOKEN_MODE, method_variable, pin_in, pin_of};
use crate::recipe::{Evidence, Finding, FindingCode, Role};
use crate::yaml::{Position, Scalar, quoted};

use super::Case;
use super::words::{cell, length, written};

/// A role with what its findings share.
struct Judge<'c, 'a> {
    case: &'c Case<'a>,
    role: &'c Resolved<'a>,
    golden: Option<&'c Golden>,
    pinned: Option<f64>,
    expected: Option<f64>,
    evidence: Vec<Evidence>,
    out: &'c mut Vec<Finding>,
}

impl<'a> Case<'a> {
    /// Judges one role.
    pub(super) fn role(&self, role: &Resolved<'a>, golden: Option<&Golden>, out: &mut Vec<Finding>) {
        let Some(engine) = role.engine else { return };
        let own = pin_of(role.launch, engine, role.draft_length());
        let global = pin_in(&self.variant.global, engine);
        let expected = golden.and_then(|golden| golden.value);
        let mut judge = Judge { case: self, role, golden, pinned: None, expected, evidence: Vec::new(), out };
        judge.evidence = judge.parts();
        if self.is_evaluation {
            let pin = if global == Pin::None { own } else { global };
            judge.evaluation(&pin);
            return;
        }
        match &role.speculation {
            Ok(None) => judge.nonspeculative(&own),
            Err(fault) => judge.unreadable(fault, &own),
            Ok(Some(_)) => judge.speculative(engine, own, global),
        }
    }
}

impl Judge<'_, '_> {
    fn push(&mut self, code: FindingCode, severity: Severity, at: Position, message: String) {
        self.out.push(Finding {
            file: Arc::clone(self.case.file),
            at,
            variant: self.case.variant.name.clone(),
            role: self.role.launch.role,
            engine: self.role.engine,
            draft_length: self.role.draft_length(),
            curve: self.golden.and_then(|golden| golden.curve.clone()),
            thinking: self.case.mode,
            pinned: self.pinned,
            expected: self.expected,
            code,
            severity,
            message,
            evidence: self.evidence.clone(),
        });
    }

    /// Where each part stands.
    fn parts(&self) -> Vec<Evidence> {
        let mut parts = vec![Evidence {
            part: "server",
            file: None,
            at: self.role.launch.at,
            value: self.role.launch.role.name().to_owned(),
        }];
        let mut add = |part, at, value: String| parts.push(Evidence { part, file: None, at, value });
        if let Some((engine, at)) = self.role.launch.engine {
            add("engine", at, engine.name().to_owned());
        }
        if let Some(speculation) = self.role.speculation() {
            add("method", speculation.method.at, shown(&speculation.method.text));
            if let DraftLength::Known(length, at) = speculation.draft_length {
                add("draft-length", at, length.to_string());
            }
            if let Some(model) = &speculation.draft_model {
                add("draft-model", model.at, shown(&model.text));
            }
            if let Some(sampler) = &speculation.sampler {
                add("draft-sampler", sampler.at, shown(&sampler.text));
            }
        }
        if let Some(declared) = self.case.declared {
            add("thinking", declared.at, declared.mode.key().to_owned());
        }
        parts
    }

    /// Adds the place of the pin to the evidence.
    fn pin_stands(&mut self, at: Position, value: f64) {
        self.evidence.push(Evidence {
            part: "pin",
            file: None,
            at,
            value: crate::engine::General(value).to_string(),
        });
    }

    fn evaluation(&mut self, pin: &Pin) {
        // An empty variable simulates nothing.
        let Some(at) = pin.at().filter(|_| !matches!(pin, Pin::Empty(_))) else { return };
        self.pinned = pin.accept_length();
        self.expected = None;
        let what = self.pinned.map_or_else(
            || "acceptance".to_owned(),
            |pinned| format!("an accept length of {}", length(pinned)),
        );
        let message = format!("an evaluation run simulates {what}: its text would be wrong; remove the pin");
        self.push(FindingCode::AlOnEval, Severity::Error, at, message);
    }

    fn nonspeculative(&mut self, own: &Pin) {
        let Some(at) = own.at() else { return };
        if self.role.launch.is_bare {
            self.loose(own);
            return;
        }
        if matches!(own, Pin::Empty(_)) {
            return;
        }
        self.pinned = own.accept_length();
        self.expected = None;
        let role = self.role.launch.role;
        if let Some(open) = self.role.launch.open.first() {
            let message = format!(
                "whether the {role} server drafts, and what its pin is worth, cannot be told: its arguments {} {} (line {})",
                if open.is_file { "stand in" } else { "are" },
                if open.is_file {
                    quoted(&shown(&open.what)) + ", which is not read"
                } else {
                    format!("{}, which only the run resolves", open.what)
                },
                open.at.line
            );
            self.push(FindingCode::UnparsableValue, Severity::Warning, open.at, message);
            return;
        }
        let message = format!("the {role} server drafts nothing; the pin has no effect there: remove it");
        self.push(FindingCode::AlOnNonspeculativeRole, Severity::Warning, at, message);
    }

    /// A pin with no server around it: what can be said of it alone.
    fn loose(&mut self, own: &Pin) {
        match own {
            Pin::None => {}
            Pin::Empty(fault) | Pin::Fault(fault) => {
                self.push(FindingCode::UnparsableValue, Severity::Error, fault.at, fault.message.clone());
            }
            Pin::Value { accept_length, at, .. } => {
                self.pinned = Some(*accept_length);
                if *accept_length < 1.0 {
                    let message =
                        format!("the pin is {}; no step emits less than 1 token", length(*accept_length));
                    self.push(FindingCode::AlAboveMax, Severity::Error, *at, message);
                }
                self.companions(*at);
            }
        }
    }

    /// The server's drafting cannot be read: what it pins cannot be judged.
    fn unreadable(&mut self, fault: &Fault, own: &Pin) {
        self.pinned = own.accept_length();
        self.push(FindingCode::UnparsableValue, Severity::Error, fault.at, fault.message.clone());
    }

    fn speculative(&mut self, engine: Engine, own: Pin, global: Pin) {
        let pin = self.effective(own, global);
        if let Some(DraftLength::Unreadable(fault)) =
            self.role.speculation().map(|speculation| &speculation.draft_length)
        {
            let severity = if pin == Pin::None { Severity::Note } else { Severity::Error };
            let (at, message) = (fault.at, fault.message.clone());
            self.pinned = pin.accept_length();
            self.push(FindingCode::UnparsableValue, severity, at, message);
        }
        let is_wanted = self.case.is_agentic || pin != Pin::None || !self.case.masters.is_empty();
        if self.expected.is_none() && is_wanted {
            self.no_cell(&pin);
        }
        match pin {
            Pin::None if !self.case.masters.is_empty() => self.pinned_by_master(engine),
            Pin::None => self.missing(),
            Pin::Empty(fault) | Pin::Fault(fault) => {
                self.push(FindingCode::UnparsableValue, Severity::Error, fault.at, fault.message);
                self.companions(fault.at);
            }
            Pin::Value { accept_length, written, at } => {
                self.pinned = Some(accept_length);
                self.pin_stands(at, written);
                self.value(engine, accept_length, written, at);
                self.disagreement(accept_length, at);
                self.companions(at);
            }
        }
    }

    /// The pin as it reaches the server: the global environment is applied last.
    fn effective(&mut self, own: Pin, global: Pin) -> Pin {
        if global == Pin::None {
            return own;
        }
        let differs = match (own.accept_length(), global.accept_length()) {
            (Some(own), Some(global)) => !same(own, global),
            (None, None) => false,
            _ => true,
        };
        if let (Some(own_at), Some(at), true) = (own.at(), global.at(), differs) {
            let told = |pin: &Pin| match pin {
                Pin::Value { accept_length, .. } => length(*accept_length),
                Pin::None | Pin::Empty(_) => "nothing".to_owned(),
                Pin::Fault(_) => "what is no number".to_owned(),
            };
            let (before, after) = (told(&own), told(&global));
            self.pinned = global.accept_length();
            self.evidence.push(Evidence { part: "role-pin", file: None, at: own_at, value: before.clone() });
            let message = format!(
                "the global environment is applied after the role's and replaces {before} by {after}"
            );
            self.push(FindingCode::GlobalEnvOverridesRole, Severity::Error, at, message);
            self.pinned = None;
        }
        global
    }

    fn no_cell(&mut self, pin: &Pin) {
        self.pinned = pin.accept_length();
        let at = pin.at().or_else(|| Some(self.role.speculation()?.method.at)).unwrap_or(self.role.launch.at);
        let severity =
            if self.case.has_prefix && *pin != Pin::None { Severity::Error } else { Severity::Note };
        let message = match self.golden.and_then(|golden| golden.missing.as_deref()) {
            Some(missing) => missing.to_owned(),
            None if self.case.has_prefix => "the generation role does not draft, so that no cell holds".to_owned(),
            None => "no model prefix was given or found: only what needs no golden value is checked; name it with --model".to_owned(),
        };
        self.push(FindingCode::NoGoldenCurve, severity, at, message);
        self.pinned = None;
    }

    fn missing(&mut self) {
        // TileRT simulates in its decode server alone.
        let is_of_another =
            self.role.engine == Some(Engine::Tilert) && self.role.launch.role == Role::Prefill;
        if !self.case.is_agentic || is_of_another {
            return;
        }
        let at = self.role.speculation().map_or(self.role.launch.at, |speculation| speculation.method.at);
        let unread = &self.role.launch.unread;
        if let Some(unread) = unread.iter().find(|unread| !unread.is_file) {
            let message = format!(
                "no pin is seen, and what {} (line {}) sets cannot be resolved: whether the server is pinned is for the run to say",
                unread.what, unread.at.line
            );
            self.push(FindingCode::UnparsableValue, Severity::Error, unread.at, message);
            return;
        }
        let unless = unread.first().map_or_else(String::new, |unread| {
            format!(
                ", unless {} sets one, which line {} takes in and which is not read",
                quoted(&unread.what),
                unread.at.line
            )
        });
        let (severity, why) = match self.case.kind {
            Kind::Launcher => (Severity::Error, "the server accepts for real"),
            _ if self.case.is_pinned => (Severity::Warning, "another role of this recipe is pinned"),
            _ if !self.case.options.masters.is_empty() => {
                (Severity::Warning, "no entry of the master configuration pins this recipe")
            }
            _ => (Severity::Note, "it may be injected at launch"),
        };
        let wanted = self.expected.map_or_else(String::new, |expected| {
            format!("; the golden value is {}", written(self.role.engine, expected))
        });
        let role = self.role.launch.role;
        let message =
            format!("the {role} server drafts and has no pinned accept length: {why}{unless}{wanted}");
        self.push(FindingCode::AlMissing, severity, at, message);
    }

    /// A recipe without a pin is judged by the entries that pin it at launch.
    fn pinned_by_master(&mut self, engine: Engine) {
        let file = Arc::clone(self.case.file);
        for (master, pin) in self.case.masters.clone() {
            let before = self.out.len();
            if let Some(text) = &pin.unreadable {
                let message = format!("SYNTHETIC_ACCEPTANCE_LENGTH is {}; expected a number", quoted(text));
                self.push(FindingCode::UnparsableValue, Severity::Error, pin.at, message);
            }
            if let Some(accept_length) = pin.accept_length {
                self.pinned = Some(accept_length);
                // In a master configuration every engine's length is an accept length.
                self.value(engine, accept_length, f64::NAN, pin.at);
                self.pinned = None;
            }
            // It stands in the master configuration.
            for finding in self.out.iter_mut().skip(before) {
                finding.file = Arc::clone(&master.file);
                for evidence in &mut finding.evidence {
                    evidence.file = Some(Arc::clone(&file));
                }
            }
        }
    }

    /// A number against the cell and against what the server can do.
    fn value(&mut self, engine: Engine, accept_length: f64, written_as: f64, at: Position) {
        if engine == Engine::Trtllm
            && let Some(expected) = self.expected
            && same(written_as, expected)
        {
            let message = format!(
                "the variable counts accepted drafts: {} is an accept length of {}; for the golden {} write {}",
                crate::engine::General(written_as),
                length(accept_length),
                length(expected),
                crate::engine::General(expected - 1.0)
            );
            self.push(FindingCode::TrtllmOffByOne, Severity::Error, at, message);
            return;
        }
        self.against_cell(accept_length, at);
        let max = self.role.draft_length().map(|length| f64::from(length) + 1.0);
        let is_below = accept_length < 1.0;
        if is_below || max.is_some_and(|max| accept_length > max + 1e-9) {
            let severity = self.on_prefill(Severity::Error);
            let most = max.map_or_else(
                || "the draft length + 1".to_owned(),
                |max| crate::engine::General(max).to_string(),
            );
            let message = format!("the pin {} lies outside of 1 to {most}", length(accept_length));
            self.push(FindingCode::AlAboveMax, severity, at, message);
        }
    }

    fn against_cell(&mut self, accept_length: f64, at: Position) {
        let (Some(expected), Some(golden)) = (self.expected, self.golden) else { return };
        let other = golden.other;
        // The generation role's own draft length chose the cell.
        let told = cell(golden, self.case.mode, None);
        if let Some(declared) = self.case.declared {
            // As cells: the declared mode's and the other's.
            let (of_declared, of_other) = if declared.mode == self.case.mode {
                (Some(expected), other)
            } else {
                (other, Some(expected))
            };
            let differs = of_declared.is_some_and(|value| !same(value, accept_length));
            if differs && of_other.is_some_and(|value| same(value, accept_length)) {
                let by_flag = declared.mode != self.case.mode;
                let opposite = if declared.mode == Thinking::Off { Thinking::On } else { Thinking::Off };
                let message = format!(
                    "the file declares {}, whose golden value is {}; the pin {} is that of {opposite}{}",
                    declared.mode,
                    of_declared.map_or_else(|| "unknown".to_owned(), length),
                    length(accept_length),
                    if by_flag { ", which --thinking asked for" } else { "" }
                );
                let severity = if by_flag { Severity::Note } else { Severity::Error };
                self.push(FindingCode::ThinkingModeConflict, severity, at, message);
                return;
            }
        }
        if !same(accept_length, expected) {
            let hint = other
                .filter(|value| same(*value, accept_length))
                .map_or_else(String::new, |_| "; it is the other thinking mode's value".to_owned());
            let message = format!(
                "pinned {}, golden {} ({told}){hint}",
                written(self.role.engine, accept_length),
                written(self.role.engine, expected)
            );
            self.push(FindingCode::AlMismatch, Severity::Error, at, message);
        }
    }

    fn disagreement(&mut self, accept_length: f64, at: Position) {
        let Some((generation, of_generation)) = self.case.generation else { return };
        if generation != self.role.launch.role && !same(accept_length, of_generation) {
            let message = format!(
                "pinned {}, and the {generation} server has {}: every role gets the generation role's value",
                length(accept_length),
                length(of_generation)
            );
            self.push(FindingCode::RolesDisagree, Severity::Error, at, message);
        }
    }

    /// What belongs beside a pin.
    fn companions(&mut self, at: Position) {
        let Some(engine) = self.role.engine else { return };
        let Some(name) = method_variable(engine) else { return };
        let variables = |name: &str| {
            variable(&self.case.variant.global, name).or_else(|| variable(&self.role.launch.env, name))
        };
        let given = |value: Option<&Scalar>| {
            value.filter(|value| !value.text.trim().is_empty() && !value.is_null()).cloned()
        };
        let (method, token_mode) = (given(variables(name)), given(variables(TOKEN_MODE)));
        match method {
            Some(method) if &*method.text == "match-expected" => {}
            Some(method) => {
                let message = format!("{name} is {}; expected match-expected", quoted(&shown(&method.text)));
                self.push(FindingCode::MethodNotMatchExpected, Severity::Error, method.at, message);
            }
            None if engine == Engine::Sglang => {
                let severity = self.on_prefill(Severity::Error);
                let message = format!(
                    "{name} is not set: older servers then draw multinomial, whose mean is another; set match-expected"
                );
                self.push(FindingCode::MethodMissing, severity, at, message);
            }
            None => {}
        }
        if engine == Engine::Sglang && token_mode.is_none() {
            let message = format!("{TOKEN_MODE} is not set; set real-draft-token");
            self.push(FindingCode::TokenModeMissing, Severity::Warning, at, message);
        }
    }

    /// On a prefill it is a warning: what it accepts decides no throughput.
    fn on_prefill(&self, severity: Severity) -> Severity {
        if self.role.launch.role == Role::Prefill { severity.min(Severity::Warning) } else { severity }
    }
}
