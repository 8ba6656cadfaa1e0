use super::super::super::Fact;
use super::super::super::fact::check;
use super::*;

/// Every release from 0.3.6 on, as the package index lists them.
const RELEASES: &str = "\
    0.3.6 0.3.6.post1 0.3.6.post2 0.3.6.post3 0.4.0 0.4.0.post1 0.4.0.post2 0.4.1 0.4.1.post1 0.4.1.post2 \
    0.4.1.post3 0.4.1.post4 0.4.1.post5 0.4.1.post6 0.4.1.post7 0.4.2 0.4.2.post1 0.4.2.post2 0.4.2.post3 \
    0.4.2.post4 0.4.3 0.4.3.post1 0.4.3.post2 0.4.3.post3 0.4.3.post4 0.4.4 0.4.4.post1 0.4.4.post2 0.4.4.post3 \
    0.4.4.post4 0.4.5 0.4.5.post1 0.4.5.post2 0.4.5.post3 0.4.6 0.4.6.post1 0.4.6.post2 0.4.6.post3 0.4.6.post4 \
    0.4.6.post5 0.4.7 0.4.7.post1 0.4.8 0.4.8.post1 0.4.9 0.4.9.post1 0.4.9.post2 0.4.9.post3 0.4.9.post4 \
    0.4.9.post5 0.4.9.post6 0.4.10 0.4.10.post1 0.4.10.post2 0.5.1 0.5.1.post1 0.5.1.post2 0.5.1.post3 0.5.2 0.5.3 \
    0.5.3.post1 0.5.3.post2 0.5.3.post3 0.5.4 0.5.4.post1 0.5.4.post2 0.5.4.post3 0.5.5 0.5.5.post1 0.5.5.post2 \
    0.5.5.post3 0.5.6 0.5.6.post1 0.5.6.post2 0.5.7 0.5.8 0.5.8.post1 0.5.9 0.5.10 0.5.10.post1 0.5.11 0.5.12 \
    0.5.12.post1 0.5.13 0.5.13.post1 0.5.14 0.5.15 0.5.15.post1 0.5.16 0.5.17 0.5.18 0.5.19 0.5.20 0.5.21 0.5.22 \
    0.5.23";

/// Rows that name a published release as their end leave no release out and claim none twice.
fn every_release_lies_in_one_row<B: Copy + PartialEq + std::fmt::Debug>(history: &History<B>) {
    for text in RELEASES.split_whitespace() {
        let version: EngineVersion = text.parse().unwrap();
        let rows: Vec<Fact<B>> = history
            .rows()
            .filter(|row| match row.first {
                First::Ever => true,
                First::Release(first) => version >= first.into(),
                First::Change(_) => panic!("SGLang's changes are known by release"),
            })
            .filter(|row| row.last.is_none_or(|last| version <= last.into()))
            .collect();
        assert_eq!(rows, [history.at(Some(&version)).fact], "{text}");
    }
}

fn checked<B: Copy + PartialEq + std::fmt::Debug>(history: &History<B>) {
    check::history(history);
    check::releases(history);
    every_release_lies_in_one_row(history);
}

#[test]
fn the_table_is_whole() {
    checked(&VARIABLES);
    checked(&METHOD);
    checked(&CLAMP);
    checked(&TOKEN_MODE);
    checked(&DFLASH_TOKEN_MODE);
    checked(&LENGTH_TEXT);
    checked(&EAGLE);
    checked(&NGRAM);
    checked(&DSPARK);
    checked(&DFLASH);
    checked(&OVERLAP);
    checked(&GREEDY);
    checked(&ACCEPT_RATE);
}

fn facts(version: &str) -> Facts {
    at(Some(&version.parse().unwrap()))
}

#[test]
fn variables_on_each_side() {
    for (version, expected) in [
        ("0.4.4.post4", Variables::None),
        ("0.4.5", Variables::Unprefixed),
        ("0.5.2", Variables::Unprefixed),
        ("0.5.3", Variables::Prefixed),
        ("0.5.23", Variables::Prefixed),
    ] {
        assert_eq!(facts(version).variables.behaviour(), expected, "{version}");
    }
}

#[test]
fn method_on_each_side() {
    for (version, expected) in [
        ("0.4.6.post5", Method::AlwaysMultinomial),
        ("0.4.7", Method::ReadNotUsed),
        ("0.4.8", Method::DefaultMultinomial),
        ("0.5.10.post1", Method::DefaultMultinomial),
        ("0.5.11", Method::DefaultMatchExpected),
    ] {
        assert_eq!(facts(version).method.behaviour(), expected, "{version}");
    }
}

#[test]
fn clamp_and_token_mode_on_each_side() {
    assert_eq!(facts("0.4.7").clamp.behaviour(), Clamp::OneShort);
    assert_eq!(facts("0.4.8").clamp.behaviour(), Clamp::Max);
    assert_eq!(facts("0.5.14").token_mode.behaviour(), TokenMode::AlwaysFixed);
    assert_eq!(facts("0.5.15").token_mode.behaviour(), TokenMode::DefaultFixed);
    assert_eq!(facts("0.5.2").length_text.behaviour(), LengthText::AnyText);
    assert_eq!(facts("0.5.3").length_text.behaviour(), LengthText::PositiveFloat);
}

#[test]
fn support_on_each_side() {
    for (family, version, expected) in [
        (DraftFamily::Eagle, "0.4.4.post4", Support::Ignored),
        (DraftFamily::Eagle, "0.4.5", Support::WithoutOverlap),
        (DraftFamily::Standalone, "0.5.3.post3", Support::WithoutOverlap),
        (DraftFamily::Eagle, "0.5.4", Support::Honoured),
        (DraftFamily::Ngram, "0.5.13", Support::Ignored),
        (DraftFamily::Ngram, "0.5.14", Support::Honoured),
        (DraftFamily::DSpark, "0.5.15", Support::Absent),
        (DraftFamily::DSpark, "0.5.16", Support::RoundedOnce),
        (DraftFamily::DSpark, "0.5.17", Support::RoundedOnce),
        (DraftFamily::DSpark, "0.5.18", Support::Honoured),
        (DraftFamily::DFlash, "0.5.16", Support::Ignored),
        (DraftFamily::DFlash, "0.5.17", Support::Honoured),
    ] {
        assert_eq!(facts(version).support(family).behaviour(), expected, "{family:?} {version}");
    }
    assert_eq!(facts("0.5.18").dspark.source(), "sgl-project/sglang#33463");
    assert_eq!(holds_since(DraftFamily::DSpark), First::Release(release(0, 5, 18)));
    assert_eq!(holds_since(DraftFamily::Eagle), First::Release(release(0, 5, 4)));
}

#[test]
fn greedy_and_overlap_on_each_side() {
    for (version, greedy) in
        [("0.5.21", Greedy::Absent), ("0.5.22", Greedy::HipDefaultTrue), ("0.5.23", Greedy::DefaultFalse)]
    {
        assert_eq!(facts(version).greedy.behaviour(), greedy, "{version}");
    }
    for (version, overlap) in [
        ("0.5.10", Overlap::DefaultOff),
        ("0.5.11", Overlap::DefaultOn),
        ("0.5.13", Overlap::DefaultOn),
        ("0.5.14", Overlap::Always),
    ] {
        assert_eq!(facts(version).overlap.behaviour(), overlap, "{version}");
    }
}

#[test]
fn accept_rate_on_each_side() {
    for (version, expected) in [
        ("0.5.3.post1", AcceptRate::NotPrinted),
        ("0.5.3.post2", AcceptRate::OverNumStepsPlusOne),
        ("0.5.5", AcceptRate::OverNumStepsPlusOne),
        ("0.5.6", AcceptRate::OverDraftTokens),
        ("0.5.10.post1", AcceptRate::OverDraftTokens),
        ("0.5.11", AcceptRate::DraftsOverDrafts),
    ] {
        assert_eq!(facts(version).accept_rate.behaviour(), expected, "{version}");
    }
}

#[test]
fn without_a_version_the_newest_release_holds() {
    let newest = facts("0.5.23");
    assert_eq!(at(None), newest);
}
