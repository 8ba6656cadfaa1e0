//! The lines of a log before they are text.

/// One line: what happened when, on which rank of which server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// Microseconds since the log began.
    pub(super) at: u64,
    /// Data-parallel rank.
    pub(super) rank: u32,
    /// Number of the server, from 0.
    pub(super) server: u32,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// `server_args=...`
    Arguments,
    /// A line that every start prints.
    Startup(Startup),
    /// `Cache flushed successfully!`
    Flushed,
    /// A request to the server's HTTP side.
    Access(Access),
    /// What the server says of one request that is done.
    RequestTimes {
        request: u64,
        input: u64,
        output: u64,
    },
    Prefill(Prefill),
    Decode(Decode),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Startup {
    LoadBegin,
    LoadEnd,
    Ready,
    Draining,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) path: Path,
    /// The client's port.
    pub(super) port: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Path {
    Generate,
    ChatCompletions,
    FlushCache,
    Health,
    Metrics,
}

/// Requests join a batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prefill {
    pub(super) new_seq: u64,
    pub(super) new_tokens: u64,
    /// Tokens in the pool before.
    pub(super) tokens: u64,
    /// Requests that decoded before.
    pub(super) running: u64,
    pub(super) queue: u64,
    /// Tokens of the requests in the queue that are about to join.
    pub(super) pending: u64,
    /// Microseconds that it takes.
    pub(super) takes: u64,
}

/// A window of verify steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decode {
    /// Requests in the batch of the last step.
    pub(super) running: u64,
    pub(super) queue: u64,
    /// Requests on their way from a prefill server.
    pub(super) arriving: u64,
    /// Tokens in the pool.
    pub(super) tokens: u64,
    /// A: tokens accepted, the target model's own included.
    pub(super) accepted: u64,
    /// C: batch sizes summed over the steps.
    pub(super) request_steps: u64,
    /// `accept len` in hundredths.
    pub(super) accept_len: u64,
    /// `accept rate` in hundredths.
    pub(super) accept_rate: u64,
    /// Microseconds since the line before.
    pub(super) elapsed: u64,
    /// Forward passes so far.
    pub(super) forwards: u64,
    pub(super) is_first: bool,
}
