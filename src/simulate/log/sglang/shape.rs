//! How the lines of SGLang releases differ: which fields there are, and punctuation. The order of the fields never
//! changed.

/// A decode line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each says whether the line has a field")]
pub(super) struct Shape {
    pub(super) head: Head,
    /// Pools next to the plain one that it can print, and how.
    pub(super) swa: Option<Swa>,
    pub(super) mamba: bool,
    pub(super) swa_with_mamba: bool,
    pub(super) hisparse: bool,
    pub(super) accept_len: bool,
    pub(super) accept_rate: bool,
    /// `cap len` and its relatives, printed when DSPARK does not verify everything.
    pub(super) caps: bool,
    /// What a decode server of a disaggregated pair adds.
    pub(super) transfer: Option<Transfer>,
    pub(super) waiting_image: bool,
    pub(super) graph: Option<GraphNames>,
    pub(super) largest_len: bool,
    pub(super) end: End,
    /// `--enable-mfu-metrics`.
    pub(super) mfu: bool,
    pub(super) occupancy: Option<Occupancy>,
}

/// What follows `Decode batch` and `Prefill batch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Head {
    /// `.`
    Point,
    /// ` [N],`
    AlwaysNumbered,
    /// `,`, and the number with `SGLANG_LOG_FORWARD_ITERS=1`.
    Comma,
}

/// How a sliding-window pool is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Swa {
    /// `#token: full=N, swa=N, token usage: full=F2, swa=F2`
    Joined,
    /// `#full token: N, full token usage: F2, #swa token: N, swa token usage: F2`
    Named,
}

/// Fields of a decode server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transfer {
    /// `pre-allocated usage`
    Usage,
    /// With `#retracted-req`.
    Retracted,
    /// With `#prealloc-req` and `#transfer-req` too.
    Queues,
    /// With `#host-receive-req` where requests arrive in the host's memory.
    HostReceive,
}

/// Which devices have a name of their own before `graph`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GraphNames {
    /// `cuda` on every device.
    Cuda,
    /// `cpu` on CPU, `cuda` elsewhere.
    CpuOnCpu,
    /// `cuda` on CUDA, `cpu` elsewhere.
    CpuElsewhere,
    /// `cuda`, `cpu`, `npu`.
    Npu,
    /// With `musa`.
    Musa,
}

/// How a line ends behind `#queue-req`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// With the number.
    Plain,
    /// With a comma and a space.
    Comma,
    /// `, timestamp: 2025-07-18T15:32:54.159394`
    Timestamp,
}

/// Suffix of `--enable-metrics` with forward timing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occupancy {
    /// `fwd occupancy: F2%`
    Forward,
    /// With `fwd+idle occupancy: F2%`.
    ForwardAndIdle,
}

/// What stands before a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Prefix {
    /// Whether the time has a date.
    pub(super) dated: bool,
    /// Whether ` TPn` is there for one rank too.
    pub(super) always_tp: bool,
    pub(super) order: &'static [TagName],
}

/// A rank tag. From 0.5.9 on `ATTN_CP` and `MOE_DP` stand behind `PP`; no plan here splits a context or the experts'
/// data, so they are never there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TagName {
    Dp,
    Tp,
    Ep,
    Pp,
}

/// A prefill line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PrefillShape {
    pub(super) cache_hit_rate: bool,
    pub(super) pending_token: bool,
    /// `cuda graph` and `input throughput (token/s)`.
    pub(super) throughput: bool,
}

/// How `server_args=` is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArgumentsForm {
    /// `ServerArgs(name=value, ...)`
    Call,
    /// `{'name': value, ...}`
    Dictionary,
}

/// Which ranks of a scheduler's tensor-parallel group print with `--enable-metrics-for-all-schedulers`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Voices {
    /// The first one, whatever the flag.
    First,
    /// All of them.
    All,
}

/// All that a release's lines have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grammar {
    pub(super) decode: Shape,
    pub(super) prefix: Prefix,
    pub(super) prefill: PrefillShape,
    pub(super) arguments: ArgumentsForm,
    pub(super) all_schedulers: Voices,
}
