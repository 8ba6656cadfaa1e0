//! A line's fixed texts with the places for its numbers, put together once per server from the table of shapes.

use crate::law::float;
use crate::simulate::log::text::{
    Piece, Room, Text, decimals, put_chunk, put_hundredths, put_integer, put_piece, quotient,
};
use crate::simulate::log::time::Clock;

use super::last::{Form, Last, NUMBERS, Numbers, Placed};
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

/// A number that nearly every line has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot {
    Running,
    Queue,
    Tokens,
    Usage,
    AcceptLen,
    AcceptRate,
    /// 1 with a captured graph.
    Graph,
    Throughput,
}

impl Slot {
    fn form(self) -> Form {
        match self {
            Self::Running | Self::Queue | Self::Tokens => Form::Whole,
            Self::Usage | Self::AcceptLen | Self::AcceptRate | Self::Throughput => Form::Hundredths,
            Self::Graph => Form::Word,
        }
    }
}

/// A number that few servers print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rare {
    Forwards,
    Zero,
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
struct Parts(Vec<Part>);

/// Texts and common numbers up to a rare one.
#[derive(Clone, Debug, Default)]
struct Part {
    common: Vec<(Piece, Option<Slot>)>,
    rare: Option<Rare>,
}

impl Parts {
    fn text(&mut self, text: &str) -> &mut Self {
        self.put(text, None)
    }

    /// A text and a number.
    fn number(&mut self, text: &str, slot: Slot) -> &mut Self {
        self.put(text, Some(slot))
    }

    fn put(&mut self, text: &str, slot: Option<Slot>) -> &mut Self {
        if self.0.last().is_none_or(|part| part.rare.is_some()) {
            self.0.push(Part::default());
        }
        if let Some(part) = self.0.last_mut() {
            part.common.extend(Piece::split(text).map(|piece| (piece, None)));
            part.common.last_mut().into_iter().for_each(|last| last.1 = slot);
        }
        self
    }

    /// A text and a rare number.
    fn rare(&mut self, text: &str, rare: Rare) -> &mut Self {
        self.text(text);
        self.0.last_mut().into_iter().for_each(|part| part.rare = Some(rare));
        self
    }
}

/// The decode lines of one server, from `Decode batch` to their end.
#[derive(Clone, Debug)]
pub(super) struct DecodeTemplate {
    parts: Parts,
    capacity: Capacity,
    /// Larger batches have no captured graph.
    max_graph_batch: u64,
}

impl DecodeTemplate {
    pub(super) fn new(plan: &SglangPlan, run: &Run) -> Self {
        let (log, shape) = (plan.log(), &plan.grammar().decode);
        let mut parts = Parts::default();
        let is_numbered = shape.head == Head::AlwaysNumbered || (shape.head == Head::Comma && log.numbered);
        match (shape.head, is_numbered) {
            (Head::Point, _) => parts.number("Decode batch. #running-req: ", Slot::Running),
            (_, true) => {
                parts.rare("Decode batch [", Rare::Forwards).number("], #running-req: ", Slot::Running)
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
            parts.number(&format!(", {} graph: ", label.name()), Slot::Graph);
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
                parts.rare(", timestamp: ", Rare::Time);
            }
        }
        if log.mfu {
            parts
                .rare(", est. decode TFLOPS/s (per GPU): ", Rare::Teraflops)
                .rare(", est. read BW (GB/s per GPU): ", Rare::ReadBandwidth)
                .rare(", est. write BW (GB/s per GPU): ", Rare::WriteBandwidth);
        }
        if log.occupancy {
            parts.rare(", fwd occupancy: ", Rare::Occupancy).text("%");
            if shape.occupancy == Some(Occupancy::ForwardAndIdle) {
                parts.rare(", fwd+idle occupancy: ", Rare::OccupancyWithIdle).text("%");
            }
        }
        let max_graph_batch = run.load.max_graph_batch.map_or(u64::MAX, u64::from);
        Self { parts, capacity: Capacity::of(run), max_graph_batch }
    }

    /// Appends the line, without its prefix and its end. `last` is the last line that was written in this way.
    pub(super) fn write(
        &self,
        line: &Decode,
        (at, server): (u64, u32),
        clock: &mut Clock,
        last: &mut Last,
        text: &mut Text,
    ) {
        let numbers = self.numbers(line);
        if let [Part { common, rare: None }] = self.parts.0.as_slice() {
            let len = text.room().map_or(0, |room| match last.put(server, &numbers, room) {
                Some(len) => len,
                None => learned(common, server, &numbers, last, room),
            });
            text.advance(len);
            return;
        }
        for part in &self.parts.0 {
            let len = text.room().map_or(0, |room| put_pieces(&part.common, &numbers, room, |_| {}));
            text.advance(len);
            if let Some(rare) = part.rare {
                self.rare(rare, line, at, clock, text);
            }
        }
    }

    /// The numbers that nearly every line has, by slot. The others stand apart, so that nothing is computed for a line
    /// without them.
    #[inline]
    fn numbers(&self, line: &Decode) -> Numbers {
        let mut numbers = [0; NUMBERS];
        for (slot, number) in [
            (Slot::Running, line.running),
            (Slot::Queue, line.queue),
            (Slot::Tokens, line.tokens),
            (Slot::Usage, quotient(line.tokens, self.capacity.tokens)),
            (Slot::AcceptLen, line.accept_len),
            (Slot::AcceptRate, line.accept_rate),
            (Slot::Graph, u64::from(line.running <= self.max_graph_batch)),
            (Slot::Throughput, per_second(line)),
        ] {
            numbers.get_mut(slot as usize).into_iter().for_each(|place| *place = number);
        }
        numbers
    }

    #[inline(never)]
    fn rare(&self, slot: Rare, line: &Decode, at: u64, clock: &mut Clock, text: &mut Text) {
        let size = &self.capacity;
        let host_tokens = line.tokens - line.tokens / 4;
        match slot {
            Rare::Forwards => text.integer(line.forwards),
            Rare::Zero => text.byte(b'0'),
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

/// Puts a line together and remembers it.
#[inline(never)]
fn learned(
    pieces: &[(Piece, Option<Slot>)],
    server: u32,
    numbers: &Numbers,
    last: &mut Last,
    room: &mut Room,
) -> usize {
    let mut placed = Vec::with_capacity(NUMBERS);
    let len = put_pieces(pieces, numbers, room, |number| placed.push(number));
    last.learn(server, (room, len), numbers, &placed);
    len
}

/// Puts texts and numbers, tells where each number stands, and returns the length.
#[inline]
fn put_pieces(
    pieces: &[(Piece, Option<Slot>)],
    numbers: &Numbers,
    room: &mut Room,
    mut placed: impl FnMut(Placed),
) -> usize {
    let mut end = 0;
    for (piece, slot) in pieces {
        end = put_piece(room, end, piece);
        let Some(slot) = *slot else { continue };
        placed(Placed { slot: slot as usize, form: slot.form(), at: end });
        let number = numbers.get(slot as usize).copied().unwrap_or(0);
        end = match slot.form() {
            Form::Whole => put_integer(room, end, number),
            Form::Hundredths => put_hundredths(room, end, number),
            Form::Word if number == 1 => put_chunk(room, end, b"True", 4),
            Form::Word => put_chunk(room, end, b"False", 5),
        };
    }
    end
}

fn pools(parts: &mut Parts, pools: Pools, swa: Option<Swa>) {
    match pools {
        Pools::SlidingWindow if swa == Some(Swa::Joined) => {
            parts
                .number(", #token: full=", Slot::Tokens)
                .rare(", swa=", Rare::WindowTokens)
                .number(", token usage: full=", Slot::Usage)
                .rare(", swa=", Rare::WindowUsage);
            return;
        }
        Pools::Plain => {
            parts.number(", #token: ", Slot::Tokens).number(", token usage: ", Slot::Usage);
        }
        Pools::Hisparse => {
            parts
                .rare(", #gpu token: ", Rare::DeviceTokens)
                .rare(", gpu token usage: ", Rare::DeviceUsage)
                .rare(", #cpu token: ", Rare::HostTokens)
                .rare(", cpu token usage: ", Rare::HostUsage);
        }
        Pools::SlidingWindow | Pools::Mamba | Pools::SlidingWindowAndMamba => {
            parts.number(", #full token: ", Slot::Tokens).number(", full token usage: ", Slot::Usage);
        }
    }
    if matches!(pools, Pools::SlidingWindow | Pools::SlidingWindowAndMamba) {
        parts.rare(", #swa token: ", Rare::WindowTokens).rare(", swa token usage: ", Rare::WindowUsage);
    }
    if matches!(pools, Pools::Mamba | Pools::SlidingWindowAndMamba) {
        parts.rare(", mamba num: ", Rare::States).rare(", mamba usage: ", Rare::StateUsage);
    }
}

fn transfer(parts: &mut Parts, fields: Option<Transfer>) {
    let Some(fields) = fields else { return };
    parts.rare(", pre-allocated usage: ", Rare::ArrivingUsage);
    if matches!(fields, Transfer::Queues | Transfer::HostReceive) {
        parts.rare(", #prealloc-req: ", Rare::Zero).rare(", #transfer-req: ", Rare::Arriving);
    }
    if fields != Transfer::Usage {
        parts.rare(", #retracted-req: ", Rare::Zero);
    }
}

/// Tokens that the sliding windows hold.
fn windows(line: &Decode) -> u64 {
    line.tokens.min(line.running * WINDOW_TOKENS)
}

/// Hundredths of a token per second.
#[inline]
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
