//! What the lines of each SGLang release look like: the one table.
//!
//! Read in the released versions 0.3.6 to 0.5.23, unless a row names another source.

use crate::engine::sglang::rows::{from_to, release, since, stated, until};
use crate::engine::{EngineVersion, Fact, First, History, Release};

use super::shape::{
    ArgumentsForm, End, Grammar, GraphNames, Head, Occupancy, PrefillShape, Prefix, Shape, Swa, TagName,
    Transfer, Voices,
};

/// The oldest release whose lines are known.
pub const OLDEST: Release = release(0, 3, 6);

/// The newest one.
pub const NEWEST: Release = release(0, 5, 23);

/// The release after [`NEWEST`], of which nothing is known.
pub(super) const UNKNOWN: Release = release(0, 5, 24);

/// The lines of `version`; a pre-release has those of the release before.
pub(super) fn at(version: &EngineVersion) -> Grammar {
    let version = Some(version);
    Grammar {
        decode: DECODE.at(version).behaviour(),
        prefix: PREFIX.at(version).behaviour(),
        prefill: PREFILL.at(version).behaviour(),
        arguments: ARGUMENTS.at(version).behaviour(),
        all_schedulers: ALL_SCHEDULERS.at(version).behaviour(),
    }
}

const PREFILL_LINES: &str = "lines of 0.3.2 and 0.5.10 and logs of 0.5.16; the releases between inferred";

const V0_3_6: Shape = Shape {
    head: Head::Point,
    swa: None,
    mamba: false,
    swa_with_mamba: false,
    hisparse: false,
    accept_len: false,
    accept_rate: false,
    caps: false,
    transfer: None,
    waiting_image: false,
    graph: None,
    largest_len: false,
    end: End::Plain,
    mfu: false,
    occupancy: None,
};
const V0_4_2: Shape = Shape { accept_len: true, ..V0_3_6 };
const V0_4_4: Shape = Shape { largest_len: true, end: End::Comma, ..V0_4_2 };
const V0_4_4_POST4: Shape = Shape { end: End::Comma, ..V0_4_2 };
const V0_4_6: Shape = Shape { transfer: Some(Transfer::Usage), ..V0_4_2 };
const V0_4_6_POST5: Shape = Shape { graph: Some(GraphNames::Cuda), ..V0_4_6 };
const V0_4_8: Shape = Shape { transfer: Some(Transfer::Retracted), ..V0_4_6_POST5 };
const V0_4_9: Shape = Shape { swa: Some(Swa::Joined), ..V0_4_8 };
const V0_4_9_POST2: Shape = Shape { end: End::Timestamp, ..V0_4_9 };
const V0_4_9_POST6: Shape = Shape { swa: Some(Swa::Named), end: End::Comma, ..V0_4_9 };
const V0_5_2: Shape = Shape { graph: Some(GraphNames::CpuOnCpu), ..V0_4_9_POST6 };
const V0_5_3: Shape =
    Shape { graph: Some(GraphNames::CpuElsewhere), transfer: Some(Transfer::Queues), ..V0_5_2 };
const V0_5_3_POST2: Shape = Shape { accept_rate: true, ..V0_5_3 };
const V0_5_4: Shape = Shape { head: Head::AlwaysNumbered, mamba: true, ..V0_5_3_POST2 };
const V0_5_4_POST1: Shape = Shape { head: Head::Comma, ..V0_5_4 };
const V0_5_9: Shape =
    Shape { end: End::Plain, graph: Some(GraphNames::Npu), waiting_image: true, ..V0_5_4_POST1 };
const V0_5_10: Shape = Shape { swa_with_mamba: true, mfu: true, ..V0_5_9 };
const V0_5_11: Shape = Shape { hisparse: true, occupancy: Some(Occupancy::Forward), ..V0_5_10 };
const V0_5_13: Shape = Shape { graph: Some(GraphNames::Musa), ..V0_5_11 };
const V0_5_16: Shape = Shape { caps: true, ..V0_5_13 };
const V0_5_21: Shape =
    Shape { occupancy: Some(Occupancy::ForwardAndIdle), transfer: Some(Transfer::HostReceive), ..V0_5_16 };

pub(super) const DECODE: History<Shape> = History {
    origin: until(release(0, 4, 1).post(7), V0_3_6),
    changes: &[
        from_to(release(0, 4, 2), release(0, 4, 3).post(4), V0_4_2),
        from_to(release(0, 4, 4), release(0, 4, 4).post(3), V0_4_4),
        from_to(release(0, 4, 4).post(4), release(0, 4, 5).post(3), V0_4_4_POST4),
        from_to(release(0, 4, 6), release(0, 4, 6).post(4), V0_4_6),
        from_to(release(0, 4, 6).post(5), release(0, 4, 7).post(1), V0_4_6_POST5),
        from_to(release(0, 4, 8), release(0, 4, 8).post(1), V0_4_8),
        from_to(release(0, 4, 9), release(0, 4, 9).post(1), V0_4_9),
        from_to(release(0, 4, 9).post(2), release(0, 4, 9).post(5), V0_4_9_POST2),
        from_to(release(0, 4, 9).post(6), release(0, 5, 1).post(3), V0_4_9_POST6),
        from_to(release(0, 5, 2), release(0, 5, 2), V0_5_2),
        from_to(release(0, 5, 3), release(0, 5, 3).post(1), V0_5_3),
        from_to(release(0, 5, 3).post(2), release(0, 5, 3).post(3), V0_5_3_POST2),
        from_to(release(0, 5, 4), release(0, 5, 4), V0_5_4),
        from_to(release(0, 5, 4).post(1), release(0, 5, 8).post(1), V0_5_4_POST1),
        from_to(release(0, 5, 9), release(0, 5, 9), V0_5_9),
        from_to(release(0, 5, 10), release(0, 5, 10).post(1), V0_5_10),
        from_to(release(0, 5, 11), release(0, 5, 12).post(1), V0_5_11),
        from_to(release(0, 5, 13), release(0, 5, 15).post(1), V0_5_13),
        from_to(release(0, 5, 16), release(0, 5, 20), V0_5_16),
        since(release(0, 5, 21), V0_5_21),
    ],
};

const DP_TP_PP: &[TagName] = &[TagName::Dp, TagName::Tp, TagName::Pp];
const DP_TP_EP_PP: &[TagName] = &[TagName::Dp, TagName::Tp, TagName::Ep, TagName::Pp];
const DP_PP_TP_EP: &[TagName] = &[TagName::Dp, TagName::Pp, TagName::Tp, TagName::Ep];

pub(super) const PREFIX: History<Prefix> = History {
    origin: until(release(0, 3, 6).post(3), Prefix { dated: false, always_tp: true, order: DP_TP_PP }),
    changes: &[
        from_to(
            release(0, 4, 0),
            release(0, 4, 6).post(5),
            Prefix { dated: true, always_tp: true, order: DP_TP_PP },
        ),
        from_to(
            release(0, 4, 7),
            release(0, 4, 9).post(6),
            Prefix { dated: true, always_tp: false, order: DP_TP_PP },
        ),
        from_to(
            release(0, 4, 10),
            release(0, 5, 5).post(3),
            Prefix { dated: true, always_tp: false, order: DP_TP_EP_PP },
        ),
        since(release(0, 5, 6), Prefix { dated: true, always_tp: false, order: DP_PP_TP_EP }),
    ],
};

pub(super) const PREFILL: History<PrefillShape> = History {
    origin: stated(
        until(
            release(0, 4, 3).post(4),
            PrefillShape { cache_hit_rate: true, pending_token: false, throughput: false },
        ),
        PREFILL_LINES,
    ),
    changes: &[
        stated(
            from_to(
                release(0, 4, 4),
                release(0, 5, 8).post(1),
                PrefillShape { cache_hit_rate: false, pending_token: false, throughput: false },
            ),
            PREFILL_LINES,
        ),
        stated(
            from_to(
                release(0, 5, 9),
                release(0, 5, 15).post(1),
                PrefillShape { cache_hit_rate: false, pending_token: false, throughput: true },
            ),
            PREFILL_LINES,
        ),
        stated(
            since(
                release(0, 5, 16),
                PrefillShape { cache_hit_rate: false, pending_token: true, throughput: true },
            ),
            PREFILL_LINES,
        ),
    ],
};

pub(super) const ARGUMENTS: History<ArgumentsForm> = History {
    origin: until(release(0, 5, 21), ArgumentsForm::Call),
    changes: &[since(release(0, 5, 22), ArgumentsForm::Dictionary)],
};

pub(super) const ALL_SCHEDULERS: History<Voices> = History {
    origin: until(release(0, 4, 9).post(6), Voices::First),
    changes: &[
        from_to(release(0, 4, 10), release(0, 5, 9), Voices::All),
        since(release(0, 5, 10), Voices::First),
    ],
};

/// The first release of each look of a decode line, oldest first: one of every version class.
///
/// ```
/// use accsim::simulate::log::sglang_releases;
///
/// let releases: Vec<String> = sglang_releases().map(|release| release.to_string()).collect();
/// assert_eq!(releases.first().map(String::as_str), Some("0.3.6"));
/// assert!(releases.contains(&"0.5.3.post2".to_owned()));
/// ```
pub fn sglang_releases() -> impl Iterator<Item = EngineVersion> {
    let firsts = |fact: Fact<Shape>| match fact.first {
        First::Release(release) => release,
        First::Ever | First::Change(_) => OLDEST,
    };
    DECODE.rows().map(firsts).map(EngineVersion::from)
}

#[cfg(test)]
mod tests {
    use crate::engine::fact_check as check;
    use crate::engine::sglang::facts::{self, AcceptRate};

    use super::*;

    /// Two tables know when the accept rate came; they agree.
    #[test]
    fn the_accept_rate_is_printed_where_it_is_defined() {
        for version in
            sglang_releases().chain(["0.5.3.post1", "0.5.4.post1"].map(|text| text.parse().unwrap()))
        {
            let defined = facts::at(Some(&version)).accept_rate.behaviour() != AcceptRate::NotPrinted;
            assert_eq!(at(&version).decode.accept_rate, defined, "{version}");
        }
    }

    #[test]
    fn the_tables_are_whole() {
        check::history(&DECODE);
        check::releases(&DECODE);
        check::history(&PREFIX);
        check::releases(&PREFIX);
        check::history(&PREFILL);
        check::releases(&PREFILL);
        check::history(&ARGUMENTS);
        check::releases(&ARGUMENTS);
        check::history(&ALL_SCHEDULERS);
        check::releases(&ALL_SCHEDULERS);
    }
}
