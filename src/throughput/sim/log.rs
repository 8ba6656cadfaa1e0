//! What a simulated server logs, as SGLang writes it.

use std::io::{self, Write};

use crate::law::{float, printed, whole};
use crate::simulate::log::LocalTime;

use super::server::Server;

/// One line of a log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LogEvent {
    /// A prefill batch.
    Prefill(PrefillEvent),
    /// A window of decode steps.
    Decode(DecodeEvent),
}

/// A prefill batch that has just been computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrefillEvent {
    /// Seconds since the start.
    pub at_s: f64,
    /// Rank.
    pub rank: u32,
    /// Requests that join.
    pub new_seq: u32,
    /// Prompt tokens computed.
    pub new_tokens: u64,
    /// Prompt tokens found in the prefix cache.
    pub cached_tokens: u64,
    /// Requests that ran before.
    pub running: u32,
    /// KV tokens of these.
    pub kv_tokens: u64,
    /// Requests in the queue.
    pub waiting: u64,
}

/// A window of decode steps of one rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DecodeEvent {
    /// Seconds since the start.
    pub at_s: f64,
    /// Rank.
    pub rank: u32,
    /// Requests in the last step.
    pub running: u32,
    /// KV tokens after it.
    pub kv_tokens: u64,
    /// Tokens accepted in the window.
    pub accepted: u64,
    /// Steps times requests of the window.
    pub request_steps: u64,
    /// When the last line of the rank was written.
    pub since_s: f64,
    /// Requests in the queue.
    pub waiting: u64,
}

/// Writes events as the lines of SGLang 0.5.16, times with milliseconds.
pub struct LogWriter<'a> {
    out: &'a mut dyn Write,
    start: LocalTime,
    drafts: u32,
    ranks: u32,
    pool: u64,
    result: io::Result<()>,
}

impl<'a> LogWriter<'a> {
    /// Writes the server's arguments. They leave out `random_seed`: the draws are not those of an engine with that seed.
    pub fn new(server: &Server, interval: u32, start: LocalTime, out: &'a mut dyn Write) -> Self {
        let mode = if server.prefilling.is_colocated() { "null" } else { "decode" };
        let speculation = if server.drafts == 0 {
            "speculative_algorithm=None".to_owned()
        } else {
            format!(
                "speculative_algorithm='EAGLE', speculative_num_steps={}, speculative_eagle_topk=1, \
                 speculative_num_draft_tokens={}",
                server.drafts, server.verified
            )
        };
        let graphs = &server.step.graph_batches;
        let graphs =
            if graphs.is_empty() { String::new() } else { format!("cuda_graph_bs_decode={graphs:?}, ") };
        let result = writeln!(
            out,
            "[{}] server_args=ServerArgs(decode_log_interval={interval}, tp_size={ranks}, dp_size={ranks}, {graphs}\
             disaggregation_mode='{mode}', {speculation})",
            stamp(start, 0.0),
            ranks = server.ranks,
        );
        // A pool that never fills still has a size on the line.
        let pool = server.pool.map_or(1_000_000_000, |pool| pool.tokens);
        Self { out, start, drafts: server.drafts, ranks: server.ranks, pool, result }
    }

    /// Writes one line; after an error nothing more.
    pub fn event(&mut self, event: &LogEvent) {
        if self.result.is_ok() {
            self.result = match event {
                LogEvent::Prefill(event) => self.prefill(event),
                LogEvent::Decode(event) => self.decode(event),
            };
        }
    }

    /// How it went.
    pub fn finish(self) -> io::Result<()> {
        self.result
    }

    fn head(&self, at_s: f64, rank: u32) -> String {
        let tag = if self.ranks > 1 { format!(" DP{rank} TP{rank}") } else { String::new() };
        format!("[{}{tag}]", stamp(self.start, at_s))
    }

    fn usage(&self, tokens: u64) -> f64 {
        float(tokens) / float(self.pool.max(1))
    }

    fn prefill(&mut self, event: &PrefillEvent) -> io::Result<()> {
        let head = self.head(event.at_s, event.rank);
        let usage = self.usage(event.kv_tokens);
        writeln!(
            self.out,
            "{head} Prefill batch, #new-seq: {}, #new-token: {}, #cached-token: {}, token usage: {usage:.2}, \
             #running-req: {}, #queue-req: {}, cuda graph: False, input throughput (token/s): 0.00",
            event.new_seq, event.new_tokens, event.cached_tokens, event.running, event.waiting
        )
    }

    fn decode(&mut self, event: &DecodeEvent) -> io::Result<()> {
        let head = self.head(event.at_s, event.rank);
        let usage = self.usage(event.kv_tokens);
        let seconds = (event.at_s - event.since_s).max(1e-9);
        let throughput = float(event.accepted) / seconds;
        let acceptance = if self.drafts == 0 {
            String::new()
        } else {
            let hundredths = printed(event.accepted, event.request_steps.max(1)).unwrap_or(0);
            let drafts = u64::from(self.drafts) * event.request_steps.max(1);
            let rate = float(event.accepted.saturating_sub(event.request_steps)) / float(drafts);
            format!("accept len: {}.{:02}, accept rate: {rate:.2}, ", hundredths / 100, hundredths % 100)
        };
        writeln!(
            self.out,
            "{head} Decode batch, #running-req: {}, #token: {}, token usage: {usage:.2}, {acceptance}cuda graph: True, \
             gen throughput (token/s): {throughput:.2}, #queue-req: {}",
            event.running, event.kv_tokens, event.waiting
        )
    }
}

/// `2026-10-12 01:02:03.004`
fn stamp(start: LocalTime, at_s: f64) -> String {
    let milliseconds = whole(at_s * 1000.0);
    format!("{}.{:03}", start.plus(milliseconds / 1000), milliseconds % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::AcceptanceLaw;
    use crate::throughput::step::{PrefillLaw, StepLaw};

    #[test]
    fn lines_name_their_rank_where_there_are_several() {
        let event = LogEvent::Decode(DecodeEvent {
            at_s: 1.5,
            rank: 1,
            running: 4,
            kv_tokens: 100,
            accepted: 480,
            request_steps: 160,
            since_s: 0.5,
            waiting: 0,
        });
        for (ranks, head) in [(1, "[2026-10-12 01:02:04.500]"), (2, "[2026-10-12 01:02:04.500 DP1 TP1]")] {
            let server = Server {
                ranks,
                ..Server::new(StepLaw::default(), PrefillLaw::default(), 3, AcceptanceLaw::Constant(3))
            };
            let mut out = Vec::new();
            let mut log = LogWriter::new(&server, 40, "2026-10-12T01:02:03".parse().unwrap(), &mut out);
            log.event(&event);
            log.finish().unwrap();
            let out = String::from_utf8(out).unwrap();
            let line = out.lines().last().unwrap();
            assert!(line.starts_with(&format!("{head} Decode batch, ")), "{line}");
            assert!(line.contains("accept len: 3.00, "), "{line}");
        }
    }
}
