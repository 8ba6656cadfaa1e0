//! What is judged: pools of one engine, and what is known about where they come from.

use crate::engine::Engine;
use crate::evidence::{Place, Pool, Span, Tags};

/// Where sums come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PooledSource {
    /// The server's log.
    Log,
    /// Counters that were read before and after.
    Counters,
    /// Exports of a client that scraped the server: the same counters, over the time that it measured.
    Export,
    /// Records of single iterations.
    Iterations,
    /// Figures of single requests.
    Requests,
}

impl PooledSource {
    /// What a point is judged by, in words.
    #[must_use]
    pub fn evidence(self) -> &'static str {
        match self {
            Self::Log => "the log's lines",
            Self::Counters => "the server's counters",
            Self::Export => "a client's export of the server's counters",
            Self::Iterations => "the server's iteration records",
            Self::Requests => "statistics of requests",
        }
    }

    /// The word for it in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Counters => "counters",
            Self::Export => "client's export",
            Self::Iterations => "iteration records",
            Self::Requests => "requests",
        }
    }
}

/// The sums of one engine process, or of one data-parallel rank.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PooledRank {
    /// Its tags: `DP` is the engine's number; empty where nothing says whose the sums are.
    pub tags: Tags,
    /// Windows of a log, or pieces of other evidence.
    pub lines: u64,
    /// Its sums.
    pub pool: Pool,
    /// Most requests that ran at a time, where that is known.
    pub max_running_req: Option<u32>,
}

/// All sums of one kind that a point has.
#[derive(Clone, Debug, PartialEq)]
pub struct PooledEvidence {
    /// The engine that counted.
    pub engine: Engine,
    /// Where the sums come from.
    pub source: PooledSource,
    /// The form of the file, where there are several of one source: `JSON`, `Parquet`.
    pub form: Option<&'static str>,
    /// The ranks or endpoints; they are summed before anything is divided.
    pub ranks: Vec<PooledRank>,
    /// Steps that are draws of their own, where that is fewer than all: SGLang draws once a step for the whole batch.
    pub independent_steps: Option<f64>,
    /// The first line that shows acceptance.
    pub first: Option<Place>,
    /// What scraped counters span, where all of them span the same.
    pub span: Option<Span>,
}

impl PooledEvidence {
    /// Without any sums yet.
    #[must_use]
    pub fn new(engine: Engine, source: PooledSource) -> Self {
        Self {
            engine,
            source,
            form: None,
            ranks: Vec::new(),
            independent_steps: None,
            first: None,
            span: None,
        }
    }

    /// Adds the sums of one rank or endpoint.
    #[must_use]
    pub fn with_rank(mut self, rank: PooledRank) -> Self {
        self.ranks.push(rank);
        self
    }

    /// The words for it in reports: `client's export (Parquet)`.
    #[must_use]
    pub fn name(&self) -> String {
        let form = self.form.map_or_else(String::new, |form| format!(" ({form})"));
        format!("{}{form}", self.source.name())
    }

    /// Whether the words for it are plural.
    pub(super) fn is_plural(&self) -> bool {
        !matches!(self.source, PooledSource::Log | PooledSource::Export)
    }

    /// All ranks added up.
    #[must_use]
    pub fn total(&self) -> Pool {
        let mut total = Pool::default();
        self.ranks.iter().for_each(|rank| total.merge(&rank.pool));
        total
    }

    /// Lines of all ranks.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.ranks.iter().map(|rank| rank.lines).sum()
    }
}
