//! A line's fixed texts with the places for its numbers, put together once per server from the table of shapes.

use crate::law::float;
use crate::simulate::log::text::{Piece, Text, decimals, quotient};
use crate::simulate::log::time::Clock;

use super::line::{Decode, Prefill};
use super::plan::{Pools, Role, SglangPlan};
use super::run::Run;
use super::shape::{End, Head, Occupancy, Swa, Transfer};

/// Tokens of a request that a sliding window keeps.
const WINDOW_TOKENS: u64 = 512;

/// States that linear attention keeps for a request, its cached prefixes included.
const MAMBA_STATES: u64 = 3;

/// The sizes of a server's pools.
#[derive(Clone, Copy, Debug)]
pub(super) struct Capacity {
    tokens: u64,
    requests: u64,
}

impl Capacity {
    /// Enough for the largest batch of the longest requests, and no less than a small GPU has.
    pub(super) fn of(run: &Run) -> Self {
        let load = &run.load;
        let requests = u64::from(*load.running.end()).max(1);
        let tokens = u64::from(*load.input.end()) + u64::from(*load.output.end());
        Self { tokens: (requests * tokens * 5 / 4).max(619_490), requests: requests * MAMBA_STATES * 2 }
    }
}

/// A number in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot {
    None,
    Running,
    Queue,
    Zero,
    Tokens,
    Usage,
    AcceptLen,
    AcceptRate,
    Graph(u32),
    Throughput,
    Forwards,
    Rare(Rare),
}

/// A number that few servers print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rare {
    Arriving,
    ArrivingUsage,
    WindowTokens,
    WindowUsage,
    States,
    StateUsage,
    DeviceTokens,
    DeviceUsage,
    HostTokens,
    HostUsage,
    Time,
    Teraflops,
    ReadBandwidth,
    WriteBandwidth,
    Occupancy,
    OccupancyWithIdle,
}

/// Fixed texts, each followed by a number.
#[derive(Clone, Debug, Default)]
struct Parts(Vec<(Piece, Slot)>);

impl Parts {
    fn text(&mut self, text: &str) -> &mut Self {
        self.0.extend(Piece::split(text).map(|piece| (piece, Slot::None)));
        self
    }

    /// A text and a number.
    fn number(&mut self, text: &str, slot: Slot) -> &mut Self {
        let mut pieces: Vec<_> = Piece::split(text).map(|piece| (piece, Slot::None)).collect();
        if let Some(last) = pieces.last_mut() {
            last.1 = slot;
        }
        self.0.append(&mut pieces);
        self
    }
}

/// The decode lines of one server, from `Decode batch` to their end.
#[derive(Clone, Debug)]
pub(super) struct DecodeTemplate {
    parts: Parts,
    capacity: Capacity,
}

impl DecodeTemplate {
    pub(super) fn new(plan: &SglangPlan, run: &Run) -> Self {
        let (log, shape) = (plan.log(), &plan.grammar().decode);
        let mut parts = Parts::default();
        let is_numbered = shape.head == Head::AlwaysNumbered || (shape.head == Head::Comma && log.numbered);
        match (shape.head, is_numbered) {
            (Head::Point, _) => parts.number("Decode batch. #running-req: ", Slot::Running),
            (_, true) => {
                parts.number("Decode batch [", Slot::Forwards).number("], #running-req: ", Slot::Running)
            }
            (_, false) => parts.number("Decode batch, #running-req: ", Slot::Running),
        };
        pools(&mut parts, log.pools, shape.swa);
        if let Some(drafter) = run.speculation.filter(|_| shape.accept_len) {
            parts.number(", accept len: ", Slot::AcceptLen);
            if shape.accept_rate {
                parts.number(", accept rate: ", Slot::AcceptRate);
            }
            if let Some(cap) = drafter.caps.cap_len {
                parts.text(&format!(", cap len: {cap}"));
            }
            if let Some(block) = drafter.caps.block_accept_len {
                parts.text(&format!(", block accept len: {block}"));
            }
            if let Some([estimate, low, high]) = drafter.caps.uncapped {
                parts.text(&format!(", est uncap acc len: {estimate} [{low}, {high}]"));
            }
        }
        if log.role == Role::Decode {
            transfer(&mut parts, shape.transfer);
        }
        if let Some(label) = plan.graph_label() {
            let largest = run.load.max_graph_batch.unwrap_or(u32::MAX);
            parts.number(&format!(", {} graph: ", label.name()), Slot::Graph(largest));
        }
        parts.number(", gen throughput (token/s): ", Slot::Throughput);
        if shape.largest_len {
            parts.text(", largest-len: 0");
        }
        parts.number(", #queue-req: ", Slot::Queue);
        match shape.end {
            End::Plain => {}
            End::Comma => {
                parts.text(", ");
            }
            End::Timestamp => {
                parts.number(", timestamp: ", Slot::Rare(Rare::Time));
            }
        }
        if log.mfu {
            parts
                .number(", est. decode TFLOPS/s (per GPU): ", Slot::Rare(Rare::Teraflops))
                .number(", est. read BW (GB/s per GPU): ", Slot::Rare(Rare::ReadBandwidth))
                .number(", est. write BW (GB/s per GPU): ", Slot::Rare(Rare::WriteBandwidth));
        }
        if log.occupancy {
            parts.number(", fwd occupancy: ", Slot::Rare(Rare::Occupancy)).text("%");
            if shape.occupancy == Some(Occupancy::ForwardAndIdle) {
                parts.number(", fwd+idle occupancy: ", Slot::Rare(Rare::OccupancyWithIdle)).text("%");
            }
        }
        Self { parts, capacity: Capacity::of(run) }
    }

    /// Appends the line, without its prefix and its end.
    #[inline]
    pub(super) fn write(&self, line: &Decode, at: u64, clock: &mut Clock, text: &mut Text) {
        for (piece, slot) in &self.parts.0 {
            text.piece(piece);
            self.slot(*slot, line, at, clock, text);
        }
    }

    /// The numbers that every line has. The others stand apart, so that nothing is computed for a line without them.
    #[inline]
    fn slot(&self, slot: Slot, line: &Decode, at: u64, clock: &mut Clock, text: &mut Text) {
        match slot {
            Slot::None => {}
            Slot::Running => text.integer(line.running),
            Slot::Queue => text.integer(line.queue),
            Slot::Tokens => text.integer(line.tokens),
            Slot::Usage => text.hundredths(quotient(line.tokens, self.capacity.tokens)),
            Slot::AcceptLen => text.hundredths(line.accept_len),
            Slot::AcceptRate => text.hundredths(line.accept_rate),
            Slot::Graph(largest) => {
                if line.running <= u64::from(largest) {
                    text.chunk(b"True", 4);
                } else {
                    text.chunk(b"False", 5);
                }
            }
            Slot::Throughput => text.hundredths(per_second(line)),
            Slot::Forwards => text.integer(line.forwards),
            Slot::Zero => text.byte(b'0'),
            Slot::Rare(slot) => self.rare(slot, line, at, clock, text),
        }
    }

    #[inline(never)]
    fn rare(&self, slot: Rare, line: &Decode, at: u64, clock: &mut Clock, text: &mut Text) {
        let size = &self.capacity;
        let host_tokens = line.tokens - line.tokens / 4;
        match slot {
            Rare::Arriving => text.integer(line.arriving),
            Rare::WindowTokens => text.integer(windows(line)),
            Rare::WindowUsage => text.hundredths(quotient(windows(line), size.requests * WINDOW_TOKENS)),
            Rare::States => text.integer(line.running * MAMBA_STATES),
            Rare::StateUsage => text.hundredths(quotient(line.running * MAMBA_STATES, size.requests)),
            Rare::DeviceTokens => text.integer(line.tokens / 4),
            Rare::DeviceUsage => text.hundredths(quotient(line.tokens / 4, size.tokens / 4)),
            Rare::HostTokens => text.integer(host_tokens),
            Rare::HostUsage => text.hundredths(quotient(host_tokens, size.tokens)),
            Rare::ArrivingUsage => {
                let tokens = line.tokens / line.running.max(1) * line.arriving;
                text.hundredths(quotient(tokens, size.tokens));
            }
            Rare::Time => clock.write_iso(at, 6, text),
            Rare::Teraflops => text.hundredths(per_second(line) / 50),
            Rare::ReadBandwidth => text.hundredths(quotient(line.request_steps * 20_000, line.elapsed) * 10),
            Rare::WriteBandwidth => text.hundredths(per_second(line) / 500),
            Rare::Occupancy => occupancy(line, 97, text),
            Rare::OccupancyWithIdle => occupancy(line, 98, text),
        }
    }
}

fn pools(parts: &mut Parts, pools: Pools, swa: Option<Swa>) {
    match pools {
        Pools::SlidingWindow if swa == Some(Swa::Joined) => {
            parts
                .number(", #token: full=", Slot::Tokens)
                .number(", swa=", Slot::Rare(Rare::WindowTokens))
                .number(", token usage: full=", Slot::Usage)
                .number(", swa=", Slot::Rare(Rare::WindowUsage));
            return;
        }
        Pools::Plain => {
            parts.number(", #token: ", Slot::Tokens).number(", token usage: ", Slot::Usage);
        }
        Pools::Hisparse => {
            parts
                .number(", #gpu token: ", Slot::Rare(Rare::DeviceTokens))
                .number(", gpu token usage: ", Slot::Rare(Rare::DeviceUsage))
                .number(", #cpu token: ", Slot::Rare(Rare::HostTokens))
                .number(", cpu token usage: ", Slot::Rare(Rare::HostUsage));
        }
        Pools::SlidingWindow | Pools::Mamba | Pools::SlidingWindowAndMamba => {
            parts.number(", #full token: ", Slot::Tokens).number(", full token usage: ", Slot::Usage);
        }
    }
    if matches!(pools, Pools::SlidingWindow | Pools::SlidingWindowAndMamba) {
        parts
            .number(", #swa token: ", Slot::Rare(Rare::WindowTokens))
            .number(", swa token usage: ", Slot::Rare(Rare::WindowUsage));
    }
    if matches!(pools, Pools::Mamba | Pools::SlidingWindowAndMamba) {
        parts
            .number(", mamba num: ", Slot::Rare(Rare::States))
            .number(", mamba usage: ", Slot::Rare(Rare::StateUsage));
    }
}

fn transfer(parts: &mut Parts, fields: Option<Transfer>) {
    let Some(fields) = fields else { return };
    parts.number(", pre-allocated usage: ", Slot::Rare(Rare::ArrivingUsage));
    if matches!(fields, Transfer::Queues | Transfer::HostReceive) {
        parts.number(", #prealloc-req: ", Slot::Zero).number(", #transfer-req: ", Slot::Rare(Rare::Arriving));
    }
    if fields != Transfer::Usage {
        parts.number(", #retracted-req: ", Slot::Zero);
    }
}

/// Tokens that the sliding windows hold.
fn windows(line: &Decode) -> u64 {
    line.tokens.min(line.running * WINDOW_TOKENS)
}

/// Hundredths of a token per second.
#[inline(never)]
fn per_second(line: &Decode) -> u64 {
    let seconds = float(line.elapsed.max(1)) / 1e6;
    decimals(float(line.accepted) / seconds, 100).unwrap_or(0)
}

/// Percent of the time; nothing was measured before the first line.
fn occupancy(line: &Decode, most: u64, text: &mut Text) {
    if line.is_first {
        text.put(b"nan");
    } else {
        text.hundredths(most * 100 - line.elapsed % 100);
    }
}

/// The prefill lines of one server, from `Prefill batch` to their end.
#[derive(Clone, Debug)]
pub(super) struct PrefillTemplate {
    head: &'static [u8],
    cache_hit_rate: bool,
    pending_token: bool,
    graph: Option<Vec<u8>>,
    end: End,
    capacity: Capacity,
}

impl PrefillTemplate {
    pub(super) fn new(plan: &SglangPlan, run: &Run) -> Self {
        let grammar = plan.grammar();
        let label = plan.graph_label().filter(|_| grammar.prefill.throughput);
        let point = grammar.decode.head == Head::Point;
        Self {
            head: if point { b"Prefill batch." } else { b"Prefill batch," },
            cache_hit_rate: grammar.prefill.cache_hit_rate,
            pending_token: grammar.prefill.pending_token,
            graph: label.map(|label| {
                format!(", {} graph: True, input throughput (token/s): ", label.name()).into_bytes()
            }),
            end: grammar.decode.end,
            capacity: Capacity::of(run),
        }
    }

    /// Appends the line, without its prefix and its end.
    pub(super) fn write(&self, line: &Prefill, at: u64, clock: &mut Clock, text: &mut Text) {
        text.put(self.head);
        text.put(b" #new-seq: ");
        text.integer(line.new_seq);
        text.put(b", #new-token: ");
        text.integer(line.new_tokens);
        text.put(b", #cached-token: 0");
        if self.cache_hit_rate {
            text.put(b", cache hit rate: 0.00%");
        }
        text.put(b", token usage: ");
        text.hundredths(quotient(line.tokens, self.capacity.tokens));
        text.put(b", #running-req: ");
        text.integer(line.running);
        text.put(b", #queue-req: ");
        text.integer(line.queue);
        if self.pending_token {
            text.put(b", #pending-token: ");
            text.integer(line.pending);
        }
        if let Some(graph) = &self.graph {
            text.put(graph);
            text.hundredths(line.new_tokens * 100_000_000 / line.takes.max(1));
        }
        match self.end {
            End::Plain => {}
            End::Comma => text.put(b", "),
            End::Timestamp => {
                text.put(b", timestamp: ");
                clock.write_iso(at, 6, text);
            }
        }
    }
}
