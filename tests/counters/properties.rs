//! What must not matter: the order of series and labels, and how servers are split over endpoints.

use std::fmt::Write as _;
use std::fs;

use proptest::prelude::*;
use proptest::sample::SizeRange;

use super::support::collect;

/// One engine: steps, and how often each place was accepted, falling.
#[derive(Clone, Debug)]
struct Engine {
    drafts: u64,
    accepted_at: Vec<u64>,
}

fn engine() -> impl Strategy<Value = Engine> {
    (1_u64..1 << 40, proptest::collection::vec(0_u32..=1000, SizeRange::from(4))).prop_map(
        |(drafts, mut shares)| {
            shares.sort_unstable_by(|one, other| other.cmp(one));
            let accepted_at = shares.iter().map(|share| drafts / 1000 * u64::from(*share)).collect();
            Engine { drafts, accepted_at }
        },
    )
}

/// The samples of an engine, one a line; `turned` gives labels in another order.
fn samples(number: usize, engine: &Engine, turned: bool) -> Vec<String> {
    let labels = |more: &str| {
        let (one, two) = (format!("engine=\"{number}\""), "model_name=\"m\"".to_owned());
        let labels = if turned { [two, one] } else { [one, two] };
        if turned && !more.is_empty() {
            format!("{more},{}", labels.join(", "))
        } else {
            [&labels.join(","), more].join(if more.is_empty() { "" } else { "," })
        }
    };
    let accepted: u64 = engine.accepted_at.iter().sum();
    let mut lines = vec![
        format!("vllm:spec_decode_num_drafts_total{{{}}} {}", labels(""), engine.drafts),
        format!("vllm:spec_decode_num_draft_tokens_total{{{}}} {}", labels(""), engine.drafts * 4),
        format!("vllm:spec_decode_num_accepted_tokens_total{{{}}} {accepted}", labels("")),
        format!("vllm:spec_decode_num_drafts_created{{{}}} 1.7e9", labels("")),
        format!("vllm:generation_tokens_total{{{}}} 5", labels("")),
    ];
    for (place, accepted) in engine.accepted_at.iter().enumerate() {
        lines.push(format!(
            "vllm:spec_decode_num_accepted_tokens_per_pos_total{{{}}} {accepted}",
            labels(&format!("position=\"{place}\""))
        ));
    }
    lines
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn order_and_split_do_not_matter(
        engines in proptest::collection::vec(engine(), 1..5),
        seed in any::<u64>(),
        turned in any::<bool>(),
        split in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (before, after) = (folder.path().join("before"), folder.path().join("after"));
        fs::create_dir(&before).unwrap();
        fs::create_dir(&after).unwrap();
        let places = if split { engines.len() } else { 1 };
        // The servers stood idle before.
        let mut idle = vec![String::new(); places];
        let mut texts = idle.clone();
        for (number, engine) in engines.iter().enumerate() {
            let mut lines = samples(if split { 0 } else { number }, engine, turned);
            // Any order will do, as long as the seed decides it.
            lines.sort_by_key(|line| line.bytes().fold(seed, |hash, byte| hash.rotate_left(7) ^ u64::from(byte)));
            for line in lines {
                writeln!(texts[number % places], "{line}").unwrap();
            }
            let idle_engine = Engine { drafts: 0, accepted_at: vec![0; engine.accepted_at.len()] };
            for line in samples(if split { 0 } else { number }, &idle_engine, !turned) {
                writeln!(idle[number % places], "{line}").unwrap();
            }
        }
        for (number, (idle, text)) in idle.iter().zip(&texts).enumerate() {
            fs::write(before.join(number.to_string()), idle).unwrap();
            fs::write(after.join(number.to_string()), text).unwrap();
        }
        let ran = collect(&before, &after, &[]);
        let accepted: u64 = engines.iter().flat_map(|engine| &engine.accepted_at).sum();
        let drafts: u64 = engines.iter().map(|engine| engine.drafts).sum();
        let document = ran.json();
        prop_assert_eq!(document["accepted"].as_u64(), Some(accepted));
        prop_assert_eq!(document["drafts"].as_u64(), Some(drafts));
    }
}
