//! Prefix and method to a curve, and the refusals.

use accsim::golden::{CURVE_RULES, Catalogue, LookupError, METHOD_ALIASES, Pick, Query, Thinking, resolve};

use super::support::value;

fn curve(prefix: &str, method: &str, draft: Option<&str>, sampler: Option<&str>) -> String {
    resolve(prefix, method, draft, sampler).unwrap().curve
}

const PROBABILISTIC: &str = "kimik3_dspark_probabilistic_sample_method_block_rejection_sample_method";

#[test]
fn every_row_of_the_rules() {
    for (prefix, method, draft, sampler, expected) in [
        ("dsv41flash", "dspark", None, None, "dsv41flash_dspark"),
        ("dsv4", "mtp", None, None, "dsv4_mtp"),
        ("dsv4", "eagle", None, None, "dsv4_mtp"),
        ("dsv4", "NEXTN", None, None, "dsv4_mtp"),
        ("glm5.2", "EAGLE", None, None, "glm5.2_mtp"),
        ("qwen3.5", "nextn", None, None, "qwen3.5_mtp"),
        ("minimaxm3", "eagle", None, None, "minimaxm3_eagle3"),
        ("minimaxm3", "NextN", Some("a/EAGLE3"), None, "minimaxm3_eagle3"),
        ("minimaxm3", "eagle3", Some("Inferact/MiniMax-M3-EAGLE3-GQA"), None, "minimaxm3_eagle3_gqa"),
        ("minimaxm3", "eagle", Some("x-gqa-y"), None, "minimaxm3_eagle3_gqa"),
        ("minimaxm3", "mtp", None, None, "minimaxm3_mtp"),
        ("kimik2.5", "eagle", None, None, "kimik2.5_eagle3"),
        ("kimik2.5", "mtp", None, None, "kimik2.5_mtp"),
        ("kimik3", "eagle", None, None, "kimik3_mtp"),
        ("dsv4", "dspark", None, None, "dsv4-pro-0813-dspark"),
        ("dsv4dspark", "DSPARK", None, None, "dsv4-pro-0813-dspark"),
        ("dsv4dsparkprob", "dspark", None, None, "dsv4-pro-0813-dspark"),
        ("kimik3", "dspark", None, Some("greedy"), "kimik3_dspark"),
        ("kimik3", "dspark", None, Some("probabilistic"), PROBABILISTIC),
        ("dsv41flash", "dspark", Some("x-gqa"), Some("greedy"), "dsv41flash_dspark"),
    ] {
        assert_eq!(curve(prefix, method, draft, sampler), expected, "{prefix} {method}");
    }
    assert_eq!(resolve("dsv4", "eagle", None, None).unwrap().method, "mtp");
}

#[test]
fn the_tables_name_curves_that_exist_and_say_where_they_come_from() {
    let catalogue = Catalogue::builtin();
    for rule in CURVE_RULES {
        assert!(!rule.source.is_empty());
        let curves = match rule.pick {
            Pick::Curve(curve) => vec![curve],
            Pick::DraftModel { with, without, .. } => vec![with, without],
            Pick::Sampler(choices) => choices.iter().map(|(_, curve)| *curve).collect(),
        };
        for curve in curves {
            assert!(catalogue.get(curve).is_some(), "{curve}");
        }
    }
    assert!(METHOD_ALIASES.iter().all(|alias| !alias.source.is_empty()));
}

#[test]
fn without_a_sampler_kimi_k3_is_refused_with_both_choices() {
    for sampler in [None, Some("standard"), Some("Greedy"), Some("")] {
        let query = Query { draft_sample_method: sampler, ..Query::new("kimik3", "dspark", 7) };
        let error = value(&query).unwrap_err();
        assert!(matches!(error, LookupError::Sampler { .. }), "{sampler:?}");
        let message = error.to_string();
        assert!(message.contains("probabilistic") && message.contains("greedy (kimik3_dspark)"), "{message}");
    }
}

#[test]
fn refusals_name_what_exists() {
    for (query, expected) in [
        (
            Query::new("dsv41flash", "dspark", 6),
            "no golden cell for draft length 6; dsv41flash_dspark (thinking_on) has 1-5",
        ),
        (
            Query { thinking: Thinking::Off, ..Query::new("glm5.2", "mtp", 3) },
            "no golden cell for thinking_off; glm5.2_mtp has thinking_on (1-8)",
        ),
        (
            Query::new("dsv41flash", "mtp", 3),
            "no golden curve 'dsv41flash_mtp'; this prefix has dsv41flash_dspark",
        ),
        (
            Query::new("dsv4", "eagle3", 3),
            "no golden curve 'dsv4_eagle3'; this prefix has dsv4-pro-0813-dspark, dsv4_mtp",
        ),
        (
            Query::new("gpt-oss", "mtp", 3),
            "no golden curve 'gpt-oss_mtp'; none of the 12 known curves has a similar name (accsim curves list names them all)",
        ),
        (Query::new("glm5.3", "mtp", 2), "no golden cell for draft length 2; glm5.3_mtp (thinking_on) has 3"),
        (Query::new("dsv4", "mtp", 0), "no golden cell for draft length 0; dsv4_mtp (thinking_on) has 1-8"),
    ] {
        assert_eq!(value(&query).unwrap_err().to_string(), expected);
    }
    let typo = value(&Query::new("dsv41flsh", "dspark", 5)).unwrap_err().to_string();
    assert!(typo.contains("nearest names are dsv41flash_dspark"), "{typo}");
}

#[test]
fn names_cannot_leave_the_catalogue() {
    for (prefix, method) in
        [("../etc/x", "mtp"), ("DSV4", "mtp"), ("", "mtp"), ("dsv4", ""), ("dsv4", "m/p"), ("a b", "mtp")]
    {
        let error = value(&Query::new(prefix, method, 3)).unwrap_err();
        assert!(matches!(error, LookupError::InvalidName { .. }), "{prefix:?} {method:?}: {error}");
    }
}
