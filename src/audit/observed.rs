//! What the lines of one point add up to.

use crate::engine::Engine;
use crate::evidence::{CompactLine, EchoedSetting, Place, ServerStart};
use crate::golden::SettingSource;
use crate::replay::ReplayEvidence;

use super::finding::{Finding, FindingCode};
use super::injection::InjectedSetting;
use super::pooled::{LineLog, PooledEvidence};
use super::rank::Rank;
use super::rates::Rates;
use super::series::Series;
use super::server::{self, Servers};
use super::skipped::{SkippedLine, SkippedLines};
use super::stray::Stray;

/// Settings kept per point; a run has three or four.
const MAX_SETTINGS: usize = 16;

/// What the lines of one point add up to.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    pub(super) name: String,
    /// Files that records came from.
    pub(super) files: Vec<u32>,
    pub(super) injected: Vec<InjectedSetting>,
    pub(super) ranks: Vec<Rank>,
    pub(super) servers: Servers,
    pub(super) rates: Rates,
    pub(super) skipped: SkippedLines,
    pub(super) first_duplicate: Option<Place>,
    pub(super) graphs_on: u64,
    pub(super) graphs_off: u64,
    pub(super) first_graph_off: Option<Place>,
    pub(super) batch: Option<(u32, u32)>,
    pub(super) max_queue: Option<u32>,
    pub(super) capped_lines: u64,
    pub(super) first_capped: Option<Place>,
    pub(super) first_line: Option<Place>,
    /// Prefill lines tell when requests join.
    pub(super) has_prefills: bool,
    pub(super) replay: Option<ReplayEvidence>,
    /// Sums of accepted drafts and steps, of engines that print or count them.
    pub(super) pooled: Vec<PooledEvidence>,
    /// Whose counters or requests came first, be they of drafting or not.
    pub(super) exporter: Option<Engine>,
    /// What is to be said of counters and requests.
    pub(super) figure_findings: Vec<Finding>,
    /// What lines of engines that print sums say besides.
    pub(super) line_log: LineLog,
    /// The engine that the caller named.
    pub(super) engine: Option<Engine>,
    /// What is no server's log, by what it looks like.
    pub(super) stray: Option<(Stray, Place)>,
    pub(super) series: Option<Series>,
    /// The first server was known before: its arguments stand among what was forgotten.
    pub(super) goes_on: bool,
    /// Of some lines only what they add up to is known.
    pub(super) is_summed: bool,
}

impl Observed {
    /// Keeps a setting that no earlier line shows.
    pub(super) fn inject(&mut self, place: Place, setting: EchoedSetting<'_>) {
        let EchoedSetting { name, value } = setting;
        let is_known = self.injected.iter().any(|known| known.name == name && known.value == value);
        if !is_known && self.injected.len() < MAX_SETTINGS {
            self.injected.push(InjectedSetting {
                name: name.to_owned(),
                value: value.to_owned(),
                place,
                source: SettingSource::Log,
                is_beside: false,
            });
        }
    }

    /// Adds settings that stand in files about the run.
    pub fn add_settings(&mut self, settings: impl IntoIterator<Item = InjectedSetting>) {
        self.injected.extend(settings);
    }

    /// Adds evidence that comes as sums: counters, requests. It is judged together with what the log shows.
    pub fn add_pooled(&mut self, evidence: PooledEvidence) {
        self.pooled.push(evidence);
    }

    /// The evidence that comes as sums.
    #[must_use]
    pub fn pooled(&self) -> &[PooledEvidence] {
        &self.pooled
    }

    /// The settings of the simulation that are known.
    #[must_use]
    pub fn injected(&self) -> &[InjectedSetting] {
        &self.injected
    }

    /// Files that records came from, in the order of reading.
    #[must_use]
    pub fn files(&self) -> &[u32] {
        &self.files
    }

    #[inline]
    pub(super) fn count(
        &mut self,
        line: &CompactLine,
        graph: Option<bool>,
        is_capped: bool,
        place: &impl Fn() -> Place,
    ) {
        self.first_line.get_or_insert_with(place);
        self.servers.count_lines(1);
        let batch = line.running_req();
        let (min, max) = self.batch.unwrap_or((batch, batch));
        self.batch = Some((min.min(batch), max.max(batch)));
        self.max_queue = self.max_queue.max(Some(line.queue_req()));
        match graph {
            Some(true) => self.graphs_on += 1,
            Some(false) => {
                self.graphs_off += 1;
                self.first_graph_off.get_or_insert_with(place);
            }
            None => {}
        }
        if is_capped {
            self.capped_lines += 1;
            self.first_capped.get_or_insert_with(place);
        }
    }

    /// The first line of a file whose server ran beside that of another one under the same tags: whose throughput a line
    /// shows is not known then.
    pub(super) fn beside(&self) -> Option<Place> {
        self.ranks.iter().filter_map(|rank| rank.beside).min()
    }

    /// What the server's own draws are laid against, where the point was built with replay.
    #[must_use]
    pub fn replay(&self) -> Option<&ReplayEvidence> {
        self.replay.as_ref()
    }

    /// The name it is reported under.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The first lines that count for nothing, in the order of reading, where they were to be kept.
    #[must_use]
    pub fn skipped_lines(&self) -> &[SkippedLine] {
        &self.skipped.first
    }

    /// How many lines count for nothing.
    #[must_use]
    pub fn skipped_total(&self) -> u64 {
        self.skipped.counts.total()
    }

    /// Whether any record was read.
    #[must_use]
    pub fn has_records(&self) -> bool {
        !self.files.is_empty()
    }

    /// Decode lines with running requests.
    #[must_use]
    pub fn decode_lines(&self) -> u64 {
        self.ranks.iter().map(|rank| rank.decode_lines).sum()
    }

    /// Those of them with an accept length.
    #[must_use]
    pub fn spec_lines(&self) -> u64 {
        self.ranks.iter().map(|rank| rank.spec_lines).sum()
    }

    /// What the first server's own arguments say.
    #[must_use]
    pub fn server(&self) -> Option<&ServerStart> {
        self.servers.first()
    }

    /// Most tokens that one verify step can emit, as the arguments of the log's first server have it.
    #[must_use]
    pub fn max_accept_length(&self) -> Option<u32> {
        let configured = || self.injected.iter().rev().find_map(InjectedSetting::draft_length);
        let shown = || self.pooled.iter().find_map(|evidence| evidence.total().draft_length());
        match self.servers.first() {
            Some(server) => server::max_accept_length(server),
            None => configured().or_else(shown).map(|length| length.saturating_add(1)),
        }
    }

    /// Drafts a step, as the evidence shows them.
    #[must_use]
    pub fn draft_length(&self) -> Option<u32> {
        self.max_accept_length().and_then(|max| max.checked_sub(1)).filter(|length| *length > 0)
    }

    /// The engine that the point is of, where that is known.
    #[must_use]
    pub fn engine(&self) -> Option<Engine> {
        let sglang = || (self.decode_lines() > 0 || self.servers.count() > 0).then_some(Engine::Sglang);
        self.engine.or_else(sglang).or_else(|| self.engine_hint())
    }

    /// Whether windows or counters are there in which nothing was drafted.
    pub(super) fn shows_no_drafts(&self) -> bool {
        let is_idle = |finding: &Finding| finding.code == FindingCode::NoSpeculativeFields;
        self.line_log.undrafted > 0 || self.figure_findings.iter().any(is_idle)
    }

    /// Whether nothing was left out for the time at which it was logged.
    pub(super) fn is_whole(&self) -> bool {
        self.skipped.counts.out_of_scope == 0
    }

    /// The engine: as the caller named it, as its lines or its evidence show it, or as its settings do.
    pub(super) fn engine_hint(&self) -> Option<Engine> {
        let told = || {
            let is = |name: &str| self.injected.iter().any(|setting| setting.name.starts_with(name));
            if is("TILERT_") {
                Some(Engine::Tilert)
            } else if is("TLLM_") {
                Some(Engine::Trtllm)
            } else {
                None
            }
        };
        let evidence = || self.pooled.first().map(|evidence| evidence.engine);
        self.engine.or(self.line_log.engine).or_else(evidence).or_else(told).or_else(|| {
            // SGLang without lines is judged by its own rules.
            self.exporter.filter(|engine| *engine != Engine::Sglang)
        })
    }

    /// Whether no line and no other evidence shows acceptance, of an engine that never prints it.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        self.is_pooled() && self.pooled.is_empty()
    }

    /// Whether the point is judged by sums: of another engine than SGLang, or without lines of it.
    #[must_use]
    pub fn is_pooled(&self) -> bool {
        match self.engine {
            Some(engine) if engine != Engine::Sglang => true,
            Some(_) => self.decode_lines() == 0 && !self.pooled.is_empty(),
            None => self.decode_lines() == 0 && self.servers.count() == 0 && self.engine_hint().is_some(),
        }
    }
}
