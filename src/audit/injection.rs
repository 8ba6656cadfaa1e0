//! The accept length that a server was told to simulate, against the one that it should have been told.

use crate::evidence::Place;
use crate::golden::{SettingSource, Target};

use super::finding::{Finding, FindingCode, Severity};
use super::observed::Observed;

/// Variables that hold the accept length, by release.
const LENGTHS: [&str; 6] = [
    "SGLANG_SIMULATE_ACC_LEN",
    "SIMULATE_ACC_LEN",
    "TILERT_SIMULATE_ACC_LEN",
    "synthetic_acceptance_length",
    "spec_decode_acceptance_length",
    FORCED,
];

/// What ATOM's own line says: `Forced speculative acceptance ON`.
pub(super) const FORCED: &str = "forced_acceptance_length";

/// Lengths closer than this are one to two decimals.
const SAME: f64 = 0.005;

/// A setting of the simulation that was found in the log or in a file about the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InjectedSetting {
    /// Its name: `SGLANG_SIMULATE_ACC_LEN`.
    pub name: String,
    /// Its value, as it stands there.
    pub value: String,
    /// The first line that shows it. A file that is no log has a number behind those of the logs.
    pub place: Place,
    /// What kind of file that is.
    pub source: SettingSource,
    /// It stands in a file that merely lies beside the log: nobody said that it belongs to the run.
    pub is_beside: bool,
}

impl InjectedSetting {
    /// The accept length that it sets, in tokens; `None` for another setting, or one that is off.
    #[must_use]
    pub fn accept_length(&self) -> Option<f64> {
        let number = || self.value.parse::<f64>().ok();
        let length = match self.name.as_str() {
            name if LENGTHS.contains(&name) => number()?,
            // Accepted drafts; 0 is off.
            "TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS" => number().filter(|drafts| *drafts > 0.0)? + 1.0,
            "synthetic_acceptance_rates" => {
                let sum: f64 = self.rates()?.iter().sum();
                // Binary noise: 0.7799999999999998.
                ((1.0 + sum) * 1e9).round() / 1e9
            }
            _ => return None,
        };
        (length.is_finite() && length > 0.0).then_some(length)
    }

    /// The share of the drafts that it has ATOM accept.
    fn rate(&self) -> Option<f64> {
        let is_rate = self.name == "spec_decode_acceptance_rate";
        is_rate.then(|| self.value.parse().ok()).flatten().filter(|rate| (0.0..=1.0).contains(rate))
    }

    /// Whether a server that has it simulates acceptance, at whatever length.
    fn simulates(&self) -> bool {
        let is_method = self.name == "rejection_sample_method" && self.value == "synthetic";
        is_method
            || self.name == "synthetic_acceptance_rate"
            // A list is a sign even where it cannot be read.
            || self.name == "synthetic_acceptance_rates"
            || self.rate().is_some()
            || self.accept_length().is_some()
    }

    /// The rates that it sets, of the first one, two, ... drafts all accepted.
    #[must_use]
    pub fn rates(&self) -> Option<Vec<f64>> {
        let inside = self.value.strip_prefix('[')?.strip_suffix(']')?;
        let is_rates = self.name == "synthetic_acceptance_rates";
        is_rates.then(|| inside.split(',').map(|rate| rate.trim().parse().ok()).collect()).flatten()
    }

    /// K, where it says so.
    #[must_use]
    pub fn draft_length(&self) -> Option<u32> {
        match self.name.as_str() {
            "num_speculative_tokens" => self.value.parse().ok().filter(|length| *length > 0),
            "synthetic_acceptance_rates" => self.rates().and_then(|rates| u32::try_from(rates.len()).ok()),
            _ => None,
        }
    }
}

/// The accept lengths that were set, each with the first setting of it.
///
/// ATOM's rate is a share of the drafts: `shown` is K as the evidence has it, where no setting says it.
pub(super) fn lengths(settings: &[InjectedSetting], shown: Option<u32>) -> Vec<(f64, &InjectedSetting)> {
    let drafts = settings.iter().rev().find_map(InjectedSetting::draft_length).or(shown);
    let mut lengths: Vec<(f64, &InjectedSetting)> = Vec::new();
    for setting in settings {
        let by_rate = || Some(setting.rate()?.mul_add(f64::from(drafts?), 1.0));
        if let Some(length) = setting.accept_length().or_else(by_rate)
            && !lengths.iter().any(|(known, _)| (known - length).abs() < SAME)
        {
            lengths.push((length, setting));
        }
    }
    lengths
}

/// The one accept length that a run was given, with the setting that says so; `None` where none is known, or several.
///
/// `drafts` is K as the evidence shows it, for a setting that is a share of it.
#[must_use]
pub fn injected_length(settings: &[InjectedSetting], drafts: Option<u32>) -> Option<(f64, &InjectedSetting)> {
    match lengths(settings, drafts).as_slice() {
        [one] => Some(*one),
        _ => None,
    }
}

/// The list of rates that a run was given, where it is no forced length in disguise: ones, a fraction, zeros.
pub(super) fn rates(settings: &[InjectedSetting]) -> Option<Vec<f64>> {
    let rates = settings.iter().find_map(InjectedSetting::rates)?;
    let between = rates.iter().filter(|rate| **rate > 1e-9 && **rate < 1.0 - 1e-9).count();
    (between > 1).then_some(rates)
}

/// Whether the run was given the one rate of vLLM before vllm-project/vllm#40662, whose law differed from build to build.
pub(super) fn has_older_rate(settings: &[InjectedSetting]) -> bool {
    settings.iter().any(|setting| setting.name == "synthetic_acceptance_rate")
}

/// Settings that contradict the target, or each other. `shown` is the mean of the lines.
pub(super) fn conflicts(seen: &Observed, target: Option<&Target>, shown: Option<f64>) -> Vec<Finding> {
    let lengths = lengths(&seen.injected, seen.draft_length());
    let shown = shown.map_or_else(
        || "the log shows no accept length".to_owned(),
        |mean| format!("the log shows {mean:.3} on average"),
    );
    let Some(target) = target else {
        let [(first, _), (second, setting), ..] = lengths.as_slice() else { return Vec::new() };
        return vec![Finding {
            code: FindingCode::OtherTarget,
            severity: Severity::Error,
            message: format!(
                "the run was told {first} in one place and {second} here, and {shown}: name the target by --model, \
                 --method and --draft-length"
            ),
            evidence: Some(setting.place),
        }];
    };
    let wanted = target.accept_length().get();
    let of_whom = target.cell().map_or_else(
        || "the target".to_owned(),
        |cell| format!("{} {}, draft length {},", cell.curve, cell.thinking, cell.draft_length),
    );
    lengths
        .into_iter()
        .filter(|(length, _)| (length - wanted).abs() >= SAME)
        .map(|(_, setting)| Finding {
            code: FindingCode::OtherTarget,
            severity: if setting.is_beside { Severity::Warning } else { Severity::Error },
            message: format!(
                "{}={} was set here, {of_whom} is {}, and {shown}; {}",
                setting.name,
                setting.value,
                target.accept_length(),
                if setting.is_beside {
                    "if this file belongs to the run, it was given another target"
                } else {
                    "the run was given another target"
                }
            ),
            evidence: Some(setting.place),
        })
        .collect()
}

/// The setting that a server of TensorRT-LLM refused, so that nothing was simulated.
pub(super) fn refused(settings: &[InjectedSetting]) -> Option<Finding> {
    let setting = settings.iter().find(|setting| setting.name.ends_with(" (refused)"))?;
    Some(Finding {
        code: FindingCode::RealAcceptance,
        severity: Severity::Error,
        message: format!(
            "the server refused {} for TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS, which is a whole number to it, and took 0: \
             nothing is simulated, and its drafts are judged. The one-model path takes fractions from \
             NVIDIA/TensorRT-LLM#13569 (2026-05) on: use such an image, or a target without a fraction",
            setting.value
        ),
        evidence: Some(setting.place),
    })
}

/// The first sign that an evaluation run was told to simulate.
pub(super) fn first_length(settings: &[InjectedSetting]) -> Option<&InjectedSetting> {
    let length = settings.iter().find(|setting| setting.accept_length().is_some());
    length.or_else(|| settings.iter().find(|setting| setting.simulates()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::PointBuilder;
    use crate::evidence::EchoedSetting;

    fn setting(name: &str, value: &str, line: u64) -> InjectedSetting {
        InjectedSetting {
            name: name.to_owned(),
            value: value.to_owned(),
            place: Place { file: 0, line },
            source: SettingSource::Log,
            is_beside: false,
        }
    }

    #[test]
    fn one_length_is_the_target_and_two_are_none() {
        let method = setting("SGLANG_SIMULATE_ACC_METHOD", "match-expected", 1);
        let off = setting("SGLANG_SIMULATE_ACC_LEN", "-1", 2);
        let (old, new) =
            (setting("SIMULATE_ACC_LEN", "3.510", 3), setting("SGLANG_SIMULATE_ACC_LEN", "3.51", 4));
        let settings = [method, off, old, new];
        let (length, from) = injected_length(&settings, None).unwrap();
        assert!((length - 3.51).abs() < 1e-12 && from.place.line == 3);
        let other = [settings.to_vec(), vec![setting("SGLANG_SIMULATE_ACC_LEN", "3.61", 5)]].concat();
        assert!(injected_length(&other, None).is_none());
        assert!(injected_length(&settings[..2], None).is_none());
    }

    #[test]
    fn a_number_is_a_length_only_under_a_name_of_lengths() {
        assert_eq!(setting("SGLANG_SIMULATE_ACC_LEN", "3.51", 1).accept_length(), Some(3.51));
        assert_eq!(setting("TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS", "2", 1).accept_length(), Some(3.0));
        assert_eq!(setting("SGLANG_SIMULATE_ACC_METHOD", "3.51", 1).accept_length(), None);
    }

    #[test]
    fn a_setting_is_kept_once_with_each_of_its_values() {
        let mut seen = PointBuilder::new("p").finish();
        for (line, value) in [(1, "3.51"), (2, "3.51"), (3, "3.61"), (4, "3.51")] {
            let echoed = EchoedSetting { name: "SGLANG_SIMULATE_ACC_LEN", value };
            seen.inject(Place { file: 0, line }, echoed);
        }
        let kept: Vec<_> = seen.injected.iter().map(|one| (one.value.as_str(), one.place.line)).collect();
        assert_eq!(kept, [("3.51", 1), ("3.61", 3)]);
    }

    #[test]
    fn settings_that_simulate_are_told_from_those_that_do_not() {
        for (name, value, simulates) in [
            ("rejection_sample_method", "synthetic", true),
            ("rejection_sample_method", "standard", false),
            ("kv_cache_dtype", "synthetic", false),
            ("synthetic_acceptance_rate", "0.8", true),
            ("synthetic_acceptance_rates", "broken", true),
            ("spec_decode_acceptance_rate", "1.5", false),
            ("SGLANG_SIMULATE_ACC_LEN", "-1", false),
        ] {
            assert_eq!(setting(name, value, 1).simulates(), simulates, "{name}={value}");
        }
    }

    #[test]
    fn a_conflict_names_what_was_set_what_was_meant_and_what_the_log_shows() {
        let seen =
            Observed { injected: vec![setting("SGLANG_SIMULATE_ACC_LEN", "3.61", 7)], ..Observed::default() };
        let target = Target::explicit(3.51, 6).unwrap();
        let found = conflicts(&seen, Some(&target), Some(3.612));
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].message,
            "SGLANG_SIMULATE_ACC_LEN=3.61 was set here, the target is 3.51, and the log shows 3.612 on average; the run was \
             given another target"
        );
        assert_eq!(found[0].evidence.map(|place| place.line), Some(7));
        assert!(conflicts(&seen, Some(&Target::explicit(3.61, 6).unwrap()), None).is_empty());
    }
}
