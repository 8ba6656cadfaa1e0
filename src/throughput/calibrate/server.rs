//! The server that wrote a run, as far as its log and the user say.

use crate::law::draft_tokens_of;
use crate::throughput::observe::LogRun;

/// What the user says about the logs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Draft tokens (k), where the logs do not say.
    pub draft_length: Option<u32>,
    /// Whether the server prefills too; `None`: as the logs say.
    pub colocated: Option<bool>,
    /// Experts of a layer and those a token is routed to, for the term of mixture-of-experts models.
    pub experts: Option<(u32, u32)>,
}

/// The server of a run.
pub(super) struct Server {
    /// 0 without speculation; none where nothing tells it.
    pub(super) drafts: Option<u32>,
    pub(super) verified: u32,
    pub(super) graph_batches: Vec<u32>,
    pub(super) colocated: bool,
}

/// Whether a run is one without speculation.
pub(super) fn is_plain(run: &LogRun) -> bool {
    let is_stated = run.server.as_ref().is_none_or(|server| server.speculative_algorithm.is_none());
    run.spec_lines == 0 && is_stated
}

/// The draft length that a run's arguments state, that its lines show, or that alone explains their accept rates.
pub(super) fn told_drafts(run: &LogRun) -> Option<u32> {
    let of_server = run.server.as_ref().and_then(|server| {
        let by_width = server.num_draft_tokens.and_then(|tokens| tokens.checked_sub(1));
        // Servers whose drafts are no chain state no steps, or 0 of them.
        let stated = |drafts: Option<u32>| drafts.filter(|drafts| *drafts > 0);
        // DSPARK states one step for a whole block.
        stated(server.block_size).or(stated(server.num_steps)).or(stated(by_width))
    });
    let shown = || run.drafts_shown.or_else(|| draft_tokens_of(&run.rate_pairs()).map(|tokens| tokens - 1));
    of_server.or_else(shown).filter(|drafts| *drafts > 0)
}

/// The server of a run. What its log does not say of the draft length, the user does.
pub(super) fn server(run: &LogRun, options: &Options) -> Server {
    let stated = run.server.as_ref();
    let is_plain = is_plain(run);
    let drafts = if is_plain { Some(0) } else { told_drafts(run).or(options.draft_length) };
    let drafts = drafts.filter(|drafts| is_plain || *drafts > 0);
    let width = stated.and_then(|server| server.num_draft_tokens).filter(|tokens| *tokens > 0);
    let verified = if is_plain { 1 } else { width.unwrap_or(drafts.unwrap_or(0).saturating_add(1)) };
    let decodes_only = stated.is_some_and(|server| server.disaggregation_mode.as_deref() == Some("decode"))
        || run.has_transfer_fields;
    let mut graph_batches = stated.map(|server| server.graph_batches.clone()).unwrap_or_default();
    graph_batches.sort_unstable();
    let colocated = options.colocated.unwrap_or(!decodes_only);
    Server { drafts, verified, graph_batches, colocated }
}
