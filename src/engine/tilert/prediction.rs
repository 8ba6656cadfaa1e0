//! What TileRT does with its variables, as far as benchmark recipes tell.

use super::super::prediction::{Outcome, Prediction, RankDraws, RealReason, Unknown};
use super::super::{Injected, SettingKind, law::force, python};
use super::settings::{LENGTH, METHOD};
use crate::law::AcceptanceLaw;

/// The prediction for steps of at most `max` tokens.
pub(crate) fn predict(max: u32, injected: &Injected) -> Prediction {
    let env = |name| injected.get(SettingKind::Env, name);
    let asked = env(LENGTH).and_then(python::float).filter(|length| length.is_finite());
    let is_inside = asked.is_some_and(|length| (1.0..=f64::from(max)).contains(&length));
    let unknown = |reason| Outcome::NotKnown { reason };
    let outcome = match (env(LENGTH), asked, env(METHOD)) {
        (None, _, _) => Outcome::RealAcceptance { reason: RealReason::NotSet },
        (Some(_), Some(length), Some("match-expected")) if is_inside => {
            Outcome::Law(force(length, max, AcceptanceLaw::match_expected))
        }
        (Some(_), _, None) => unknown(Unknown::Missing { name: METHOD }),
        (Some(_), _, Some(method)) if method != "match-expected" => {
            unknown(Unknown::Value { name: METHOD, value: method.to_owned() })
        }
        (Some(text), _, Some(_)) => unknown(Unknown::Value { name: LENGTH, value: text.to_owned() }),
    };
    let source = "benchmark recipes; no source or documentation of the engine";
    Prediction {
        outcome,
        asked,
        source,
        notes: Vec::new(),
        doubts: Vec::new(),
        otherwise: Vec::new(),
        ranks: RankDraws::NotKnown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(settings: &[(&str, &str)]) -> Outcome {
        let mut injected = Injected::default();
        for (name, value) in settings {
            injected.set(SettingKind::Env, *name, *value);
        }
        predict(6, &injected).outcome
    }

    #[test]
    fn only_what_recipes_show_is_known() {
        let law = outcome(&[(LENGTH, "3.51"), (METHOD, "match-expected")]);
        assert!(law.law().is_some_and(|law| (law.mean() - 3.51).abs() < 1e-12));
        assert!(matches!(outcome(&[]), Outcome::RealAcceptance { .. }));
        for settings in [
            [(LENGTH, "3.51"), (METHOD, "multinomial")],
            [(LENGTH, "6.5"), (METHOD, "match-expected")],
            [(LENGTH, "3,51"), (METHOD, "match-expected")],
            [(LENGTH, "3.51"), ("OTHER", "x")],
        ] {
            assert!(matches!(outcome(&settings), Outcome::NotKnown { .. }), "{settings:?}");
        }
    }
}
