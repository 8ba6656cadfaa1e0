//! From ranks to one log: servers one after the other, the lines of their ranks in the order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::engine::sglang::facts;
use crate::law::Draws;
use crate::simulate::log::draws::{DrawSource, Mixer};

use super::line::{Access, Kind, Line, Path, Startup};
use super::plan::SglangPlan;
use super::rank::{Common, Printed, Rank, Rate, Steps};

/// Microseconds from the arguments to the first request.
const STARTUP_US: u64 = 30_000_000;

/// Microseconds between one server's end and the next one's start.
const RESTART_US: u64 = 20_000_000;

/// Makes the lines of a log, a chunk at a time.
pub(super) struct Schedule<'a, S: DrawSource> {
    plan: &'a SglangPlan,
    source: &'a S,
    /// The server at hand.
    server: u32,
    common: Option<Common>,
    voices: Vec<Voice<S::Stream>>,
    /// The time of each rank's next line, and the rank.
    order: BinaryHeap<Reverse<(u64, usize)>>,
    now: u64,
    /// Of the server at hand.
    printed: Printed,
    filler: Filler,
}

/// A rank and its lines that wait for their turn.
struct Voice<S> {
    rank: Rank<S>,
    lines: Vec<Line>,
    next: usize,
}

impl<'a, S: DrawSource> Schedule<'a, S> {
    pub(super) fn new(plan: &'a SglangPlan, copies: u32, source: &'a S) -> Self {
        Self {
            plan,
            source,
            server: 0,
            common: None,
            voices: Vec::new(),
            order: BinaryHeap::new(),
            now: 0,
            printed: Printed::default(),
            filler: Filler::new(plan, copies),
        }
    }

    /// Appends lines until there are at least `enough`, or the log ends: then `false`.
    pub(super) fn fill(&mut self, enough: usize, out: &mut Vec<Line>) -> bool {
        while out.len() < enough {
            if self.common.is_none() && !self.start(out) {
                return false;
            }
            let Some(common) = self.common.take() else { return false };
            let has_more = match self.voices.as_mut_slice() {
                [alone] => Self::fill_alone(
                    &mut alone.rank,
                    &common,
                    &mut self.printed,
                    &mut self.filler,
                    enough,
                    out,
                ),
                _ => self.merge(&common, enough, out),
            };
            if has_more {
                self.common = Some(common);
            } else {
                self.stop(&common, out);
            }
        }
        true
    }

    /// Starts the next server; `false` when there is none.
    fn start(&mut self, out: &mut Vec<Line>) -> bool {
        let log = self.plan.log();
        let index = usize::try_from(self.server).unwrap_or(usize::MAX);
        let Some(run) = log.runs.get(index) else { return false };
        let is_drafting = run.speculation.is_some();
        let facts = facts::at(Some(&log.version));
        let common = Common {
            server: self.server,
            run: run.clone(),
            role: log.role,
            rate: Rate::new(facts.accept_rate.behaviour(), run.speculation),
            draws: if is_drafting { self.source.draws(self.server) } else { Draws::Shared },
            longest: if is_drafting { self.source.longest(self.server).into() } else { 1 },
            draws_alone: log.parallel.dp == 1 || !log.ranks_share_draws,
            counts_after_cut: run.counts_after_cut(facts.overlap.behaviour()),
            access_log: log.noise.access_log,
        };
        for (after, kind) in [
            (0, Kind::Arguments),
            (STARTUP_US / 3, Kind::Startup(Startup::LoadBegin)),
            (STARTUP_US / 3, Kind::Startup(Startup::LoadEnd)),
            (STARTUP_US / 3, Kind::Startup(Startup::Ready)),
        ] {
            self.now = self.now.saturating_add(after);
            out.push(Line { at: self.now, rank: 0, server: self.server, kind });
        }
        self.voices = (0..log.parallel.dp).map(|rank| self.voice(rank, is_drafting, &common)).collect();
        self.order = (0..self.voices.len()).map(|index| Reverse((0, index))).collect();
        self.common = Some(common);
        self.printed = Printed::default();
        true
    }

    fn voice(&self, rank: u32, is_drafting: bool, common: &Common) -> Voice<S::Stream> {
        let log = self.plan.log();
        let steps = if is_drafting {
            let number = if log.ranks_share_draws { 0 } else { rank };
            Steps::Drawn(self.source.stream(self.server, number))
        } else {
            Steps::One
        };
        let purpose = u64::from(self.server) << 32 | u64::from(rank);
        let rank = Rank::new(rank, common, steps, Mixer::new(log.seed, purpose), self.now);
        Voice { rank, lines: Vec::new(), next: 0 }
    }

    /// Ends the server; another one begins a while later.
    fn stop(&mut self, common: &Common, out: &mut Vec<Line>) {
        self.now = self.voices.iter().map(|voice| voice.rank.now()).fold(self.now, u64::max);
        let kind = Kind::Startup(Startup::Draining);
        out.push(Line { at: self.now, rank: 0, server: common.server, kind });
        self.now = self.now.saturating_add(RESTART_US);
        self.voices.clear();
        self.server = self.server.saturating_add(1);
    }

    /// The lines of a server with one rank need no merging.
    fn fill_alone(
        rank: &mut Rank<S::Stream>,
        common: &Common,
        printed: &mut Printed,
        filler: &mut Filler,
        enough: usize,
        out: &mut Vec<Line>,
    ) -> bool {
        while out.len() < enough {
            if rank.is_done(common) {
                return false;
            }
            let before = out.len();
            rank.window(common, printed, out);
            out.get(before..).unwrap_or(&[]).iter().for_each(|line| filler.count(line));
            filler.fill(rank.now(), common.server, out);
        }
        true
    }

    /// Takes the earliest line of all ranks, again and again.
    fn merge(&mut self, common: &Common, enough: usize, out: &mut Vec<Line>) -> bool {
        while out.len() < enough {
            let Some(mut first) = self.order.peek_mut() else { return false };
            let Reverse((_, index)) = *first;
            let Some(voice) = self.voices.get_mut(index) else { return false };
            if let Some(line) = voice.lines.get(voice.next) {
                out.push(*line);
                voice.next += 1;
                self.filler.count(line);
                if matches!(line.kind, Kind::Decode(_)) {
                    self.filler.fill(line.at, common.server, out);
                }
            }
            if voice.next >= voice.lines.len() && !voice.rank.is_done(common) {
                voice.lines.clear();
                voice.next = 0;
                voice.rank.window(common, &mut self.printed, &mut voice.lines);
            }
            match voice.lines.get(voice.next) {
                Some(line) => *first = Reverse((line.at, index)),
                None => drop(std::collections::binary_heap::PeekMut::pop(first)),
            }
        }
        true
    }
}

/// Adds lines that are no records until decode lines have the share that was asked for.
struct Filler {
    /// Decode lines in a thousand; none where nothing is added.
    share: Option<i64>,
    /// Physical lines that one record becomes.
    copies: i64,
    /// Lines that are owed, times the share.
    owed: i64,
    chance: Mixer,
    requests: u64,
}

impl Filler {
    fn new(plan: &SglangPlan, copies: u32) -> Self {
        let noise = plan.log().noise;
        Self {
            share: noise.decode_per_mille.map(i64::from),
            copies: copies.into(),
            owed: 0,
            chance: Mixer::new(plan.log().seed, u64::MAX),
            requests: 0,
        }
    }

    /// A decode line is owed its share of others; any other line pays.
    #[inline]
    fn count(&mut self, line: &Line) {
        let Some(share) = self.share else { return };
        self.owed += match line.kind {
            Kind::Decode(_) => self.copies * (1000 - share),
            Kind::Prefill(_) => -self.copies * share,
            _ => -share,
        };
    }

    #[inline]
    fn fill(&mut self, at: u64, server: u32, out: &mut Vec<Line>) {
        let Some(share) = self.share else { return };
        while self.owed >= share {
            self.owed -= share;
            let kind = self.line();
            out.push(Line { at, rank: 0, server, kind });
        }
    }

    fn line(&mut self) -> Kind {
        let word = self.chance.next();
        // Of sixteen lines twelve end a request, two say how it went, and the monitoring asks twice.
        let path = match word >> 60 {
            0..=11 => Path::ChatCompletions,
            12 | 13 => {
                self.requests += 1;
                let (input, output) = (word & 0x3fff, word >> 14 & 0xfff);
                return Kind::RequestTimes { request: self.requests, input: input + 1, output: output + 1 };
            }
            14 => Path::Health,
            _ => Path::Metrics,
        };
        Kind::Access(Access { path, port: 32_768 + (word & 0x3fff) })
    }
}
