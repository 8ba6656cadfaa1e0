//! Logs that did not come from the server they name: none may be proved.
//!
//! The bound: a proof needs a chance of 10^-9 after everything that was tried, so among 10^5 foreign logs one would be
//! proved with a chance of 10^-4 if the odds are honest.

use accsim::evidence::Place;
use accsim::law::{Setting, printed};
use accsim::replay::{
    Claim, DrawLaw, DrawMethod, ReplayBuilder, ReplayLine, ReplayStatus, Sequence, ServerDraws,
};

use super::support::{Chance, options};

const TARGET: f64 = 3.51;
const MAX: u32 = 6;
const INTERVAL: u32 = 40;

/// Whose lines they are.
#[derive(Clone, Copy, Debug)]
enum Author {
    /// The same target and method under another seed.
    OtherSeed,
    /// Another target and another seed.
    OtherTarget,
    /// The other method under another seed.
    OtherLaw,
    /// Each request's drafts are really judged.
    Real,
}

const AUTHORS: [Author; 4] = [Author::OtherSeed, Author::OtherTarget, Author::OtherLaw, Author::Real];

/// Accept lengths of one step, request by request.
enum Steps {
    Drawn(Box<Sequence>, u64),
    Real,
}

impl Steps {
    fn new(author: Author, seed: u64, chance: &mut Chance) -> Self {
        let law = |method, length| DrawLaw::new(method, Setting::new(length, MAX).unwrap()).unwrap();
        let off = f64::from(u32::try_from(chance.below(41)).unwrap()) / 100.0 - 0.2;
        let law = match author {
            Author::OtherSeed => law(DrawMethod::MatchExpected, TARGET),
            Author::OtherTarget => law(DrawMethod::MatchExpected, TARGET + off),
            Author::OtherLaw => law(DrawMethod::Multinomial, TARGET + off),
            Author::Real => return Self::Real,
        };
        Self::Drawn(Box::new(Sequence::new(seed, &law)), chance.below(1000))
    }

    /// Tokens of a step of `batch` requests.
    fn step(&mut self, batch: u64, chance: &mut Chance) -> u64 {
        match self {
            Self::Drawn(sequence, next) => {
                *next += 1;
                batch * u64::from(sequence.window(*next, 1)[0])
            }
            Self::Real => (0..batch)
                .map(|_| {
                    let mut length = 1;
                    while length < u64::from(MAX) && chance.share() < 0.79 {
                        length += 1;
                    }
                    length
                })
                .sum(),
        }
    }
}

/// Audits a foreign log; steady stretches and changing ones.
fn status(author: Author, number: u64, search_limit: u64) -> ReplayStatus {
    let mut chance = Chance(number);
    let (claimed, real) = (chance.below(1 << 30), chance.below(1 << 30));
    let mut steps = Steps::new(author, real, &mut chance);
    let mut replay =
        ReplayBuilder::new(accsim::replay::ReplayOptions { search_limit, ..options(TARGET, MAX) });
    replay.start(ServerDraws {
        seed: Some(claimed),
        interval: Some(INTERVAL),
        max_accept_length: Some(MAX),
        decode_only: false,
    });
    let lines = 20 + chance.below(100);
    let mut batch = 1 + chance.below(8);
    for line in 1..=lines {
        let is_changing = chance.below(4) == 0;
        let next = if is_changing { 1 + chance.below(8) } else { batch };
        if is_changing {
            replay.prefill(0, Some(u32::try_from(next.saturating_sub(batch) + chance.below(2)).unwrap()));
        }
        let turn = chance.below(u64::from(INTERVAL));
        let (mut sum, mut count) = (0, 0);
        for step in 0..u64::from(INTERVAL) {
            let running = if step < turn { batch } else { next };
            sum += steps.step(running, &mut chance);
            count += running;
        }
        batch = next;
        let place = Place { file: 0, line };
        let batch = u32::try_from(batch).unwrap();
        replay.line(
            0,
            ReplayLine {
                place,
                hundredths: printed(sum, count),
                batch,
                tokens: None,
                millis: None,
                throughput_hundredths: None,
            },
        );
    }
    let law = DrawLaw::new(DrawMethod::MatchExpected, Setting::new(TARGET, MAX).unwrap());
    replay.finish().conclude(Some(&Claim { law, fits: true }), lines).status
}

/// Audits so many logs of each author on all cores; how many came to each status.
fn audits(first: u64, each: u64, search_limit: u64) -> [u64; 4] {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads = u64::try_from(threads).unwrap();
    std::thread::scope(|scope| {
        let tasks: Vec<_> = (0..threads)
            .map(|thread| {
                scope.spawn(move || {
                    let mut counts = [0; 4];
                    for number in (first + thread..first + each).step_by(usize::try_from(threads).unwrap()) {
                        for (index, author) in (0..).zip(AUTHORS) {
                            let index: u64 = index;
                            let status = status(author, number * 4 + index, search_limit);
                            let slot = match status {
                                ReplayStatus::Proved => 0,
                                ReplayStatus::OtherTarget => 1,
                                ReplayStatus::Contradicted => 2,
                                ReplayStatus::Unavailable => 3,
                            };
                            counts[slot] += 1;
                        }
                    }
                    counts
                })
            })
            .collect();
        tasks.into_iter().map(|task| task.join().unwrap()).fold([0; 4], |mut sum, counts| {
            sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            sum
        })
    })
}

fn none_is_proved(counts: [u64; 4], audits: u64) {
    #[expect(clippy::print_stdout, reason = "the counts are what the long runs are for")]
    {
        println!("proved, other target, contradicted, unavailable: {counts:?}");
    }
    assert_eq!(counts.iter().sum::<u64>(), audits);
    assert_eq!((counts[0], counts[1]), (0, 0));
    // They are contradicted, and not passed over.
    assert!(counts[2] > audits / 2, "{counts:?}");
}

#[test]
fn foreign_logs_are_not_proved() {
    none_is_proved(audits(0, 25, 0), 100);
}

#[test]
fn foreign_logs_are_not_proved_by_a_search_for_their_start() {
    none_is_proved(audits(1_000_000, 1, 100_000), 4);
}

/// Run by hand: `cargo test --release --test replay hundred_thousand -- --ignored --nocapture`.
#[test]
#[ignore = "minutes of work on optimised code"]
fn a_hundred_thousand_foreign_logs() {
    none_is_proved(audits(2_000_000, 25_000, 0), 100_000);
}

/// The same with the search through 10^6 draws for each.
#[test]
#[ignore = "minutes of work on optimised code"]
fn a_thousand_foreign_logs_with_the_full_search() {
    none_is_proved(audits(3_000_000, 250, 1_000_000), 1000);
}
