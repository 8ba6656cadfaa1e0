//! What the server's own arguments say.

use crate::engine::Drafter;
use crate::engine::sglang::MaxRule;
use crate::evidence::{Place, ServerStart};

/// Starts kept per point; later ones are only counted.
const MAX_STARTS: usize = 64;

/// The `server_args` lines of a point.
#[derive(Clone, Debug, Default)]
pub(super) struct Servers {
    starts: Vec<Start>,
    surplus: u64,
}

#[derive(Clone, Debug)]
struct Start {
    arguments: ServerStart,
    place: Place,
    /// Decode lines between this start and the next.
    lines: u64,
}

/// Two servers one after the other, with different settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Change<'a> {
    pub(super) before: &'a ServerStart,
    pub(super) after: &'a ServerStart,
    /// Where the second one starts.
    pub(super) place: Place,
    /// Each has a log of its own: they may have run at the same time.
    pub(super) is_other_file: bool,
}

impl Servers {
    /// Whether these arguments are a new server's. Every node of a server prints them once, so equal ones without a
    /// line since the last start, or in another file, are none.
    pub(super) fn is_new(&self, arguments: &ServerStart, place: Place) -> bool {
        self.starts.last().is_none_or(|last| {
            let is_node = last.lines == 0 || last.place.file != place.file;
            !is_node || last.arguments != *arguments
        })
    }

    /// A new server's arguments.
    pub(super) fn start(&mut self, arguments: &ServerStart, place: Place) {
        if self.starts.len() < MAX_STARTS {
            self.starts.push(Start { arguments: arguments.clone(), place, lines: 0 });
        } else {
            self.surplus += 1;
        }
    }

    /// The server that goes on in the next segment: the last one, without its lines.
    pub(super) fn last_alone(&self) -> Self {
        let last = self.starts.last().map(|start| Start {
            arguments: start.arguments.clone(),
            place: start.place,
            lines: 0,
        });
        Self { starts: last.into_iter().collect(), surplus: 0 }
    }

    /// Every server with the place of its arguments and its lines, and how many more there were.
    pub(super) fn all(&self) -> (impl Iterator<Item = (&ServerStart, Place, u64)>, u64) {
        (self.starts.iter().map(|start| (&start.arguments, start.place, start.lines)), self.surplus)
    }

    /// Adds servers that are not kept.
    pub(super) fn add_surplus(&mut self, surplus: u64) {
        self.surplus = self.surplus.saturating_add(surplus);
    }

    /// Forgets servers none of whose lines count, where another one has some.
    pub(super) fn forget_silent(&mut self) {
        if self.starts.iter().any(|start| start.lines > 0) {
            self.starts.retain(|start| start.lines > 0);
            self.surplus = 0;
        }
    }

    pub(super) fn count_lines(&mut self, lines: u64) {
        if let Some(last) = self.starts.last_mut() {
            last.lines += lines;
        }
    }

    /// How many servers the log holds.
    pub(super) fn count(&self) -> u64 {
        u64::try_from(self.starts.len()).unwrap_or(u64::MAX) + self.surplus
    }

    /// The arguments of every server.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&ServerStart, Place)> {
        self.starts.iter().map(|start| (&start.arguments, start.place))
    }

    /// The arguments of the first server.
    pub(super) fn first(&self) -> Option<&ServerStart> {
        self.starts.first().map(|start| &start.arguments)
    }

    /// The arguments of the server whose lines stand at a place: the last ones before it, or the first of all.
    pub(super) fn at(&self, place: Place) -> Option<&ServerStart> {
        let before = self.starts.iter().filter(|start| start.place <= place).max_by_key(|start| start.place);
        before.or_else(|| self.starts.first()).map(|start| &start.arguments)
    }

    /// Where the log's second server starts.
    pub(super) fn second(&self) -> Option<Place> {
        self.starts.get(1).map(|start| start.place)
    }

    /// The first server whose acceptance settings differ from those of the one before. One that wrote no line says nothing
    /// about the lines: a worker that only prefills, a start that failed.
    pub(super) fn change(&self) -> Option<Change<'_>> {
        let serving: Vec<&Start> = self.starts.iter().filter(|start| start.lines > 0).collect();
        serving.windows(2).find_map(|pair| match pair {
            [before, after] if matters(&before.arguments) != matters(&after.arguments) => Some(Change {
                before: &before.arguments,
                after: &after.arguments,
                place: after.place,
                is_other_file: before.place.file != after.place.file,
            }),
            _ => None,
        })
    }
}

/// The arguments that decide about accept lengths and about what a line stands for.
fn matters(start: &ServerStart) -> impl PartialEq {
    (
        start.speculative_algorithm.clone(),
        start.num_steps,
        start.eagle_topk,
        start.num_draft_tokens,
        start.block_size,
        start.decode_log_interval,
    )
}

/// The drafting algorithm, if it is one known here.
pub(super) fn drafter(start: &ServerStart) -> Option<Drafter> {
    start.speculative_algorithm.as_deref()?.parse().ok()
}

/// Most tokens that a verify step of this server can emit, by its algorithm's rule.
pub(super) fn max_accept_length(start: &ServerStart) -> Option<u32> {
    let rule = MaxRule::of(drafter(start)?.family());
    let max = match rule {
        MaxRule::NumStepsPlusOne => start.num_steps.map(|steps| rule.max(steps)),
        MaxRule::DraftTokens => start.num_draft_tokens,
        // Block drafters print their largest length as the draft tokens too.
        MaxRule::BlockSizePlusOne | MaxRule::BlockSize => {
            start.block_size.map(|block| rule.max(block)).or(start.num_draft_tokens)
        }
    };
    max.filter(|max| *max > 0)
}

/// The d of the accept rate: configured draft tokens, the root included.
pub(super) fn draft_tokens(start: &ServerStart) -> Option<u32> {
    start.num_draft_tokens.or_else(|| max_accept_length(start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::PointBuilder;
    use crate::evidence::Scanner;

    fn start(algorithm: &str, steps: u32, tokens: u32, block: Option<u32>) -> ServerStart {
        ServerStart {
            speculative_algorithm: Some(algorithm.to_owned()),
            num_steps: Some(steps),
            num_draft_tokens: Some(tokens),
            block_size: block,
            ..ServerStart::default()
        }
    }

    #[test]
    fn the_first_server_of_a_log_is_its_server() {
        let mut builder = PointBuilder::new("p");
        for (algorithm, second) in [("EAGLE3", 1), ("NGRAM", 2)] {
            let line = format!(
                "[2026-10-12 01:02:0{second}] server_args=ServerArgs(model_path='x', \
                 speculative_algorithm='{algorithm}', random_seed=5)\n"
            );
            Scanner::new(0).lines(line.as_bytes(), &mut |place, record| builder.add(place, record));
        }
        let seen = builder.finish();
        assert_eq!(seen.server().unwrap().speculative_algorithm.as_deref(), Some("EAGLE3"));
        assert_eq!(PointBuilder::new("p").finish().server(), None);
    }

    #[test]
    fn largest_accept_length_by_algorithm() {
        for (server, max) in [
            (start("EAGLE3", 5, 6, None), Some(6)),
            (start("EAGLE", 5, 16, None), Some(6)),
            (start("NGRAM", 0, 6, None), Some(6)),
            (start("DSPARK", 1, 6, Some(5)), Some(6)),
            (start("DFLASH", 1, 8, Some(8)), Some(8)),
            (start("SOMETHING_NEW", 5, 6, None), None),
            (ServerStart::default(), None),
        ] {
            assert_eq!(max_accept_length(&server), max, "{server:?}");
        }
        assert_eq!(draft_tokens(&start("EAGLE", 5, 16, None)), Some(16));
    }

    #[test]
    fn nodes_and_restarts_are_told_apart() {
        let place = |file, line| Place { file, line };
        let (old, new) = (start("EAGLE", 3, 4, None), start("EAGLE", 5, 6, None));
        let mut servers = Servers::default();
        assert!(servers.is_new(&old, place(0, 1)));
        servers.start(&old, place(0, 1));
        // The second node of the same server.
        assert!(!servers.is_new(&old, place(0, 2)));
        servers.count_lines(1);
        assert!(!servers.is_new(&old, place(1, 1)));
        assert!(servers.is_new(&old, place(0, 90)));
        servers.start(&old, place(0, 90));
        assert_eq!((servers.count(), servers.second()), (2, Some(place(0, 90))));
        servers.count_lines(1);
        assert_eq!(servers.change(), None);
        assert!(servers.is_new(&new, place(0, 99)));
        servers.start(&new, place(0, 99));
        assert_eq!(servers.change(), None);
        servers.count_lines(1);
        let change = servers.change().unwrap();
        assert_eq!((change.before, change.after, change.place), (&old, &new, place(0, 99)));
        assert!(!change.is_other_file);
        // The server at hand is the last one before a line.
        assert_eq!(servers.at(place(0, 95)), Some(&old));
        assert_eq!(servers.at(place(1, 5)), Some(&new));
    }
}
