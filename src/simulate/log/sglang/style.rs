//! From lines to text.

use crate::evidence::Tags;
use crate::simulate::log::damage::{Record, Records};
use crate::simulate::log::text::{Piece, Text};
use crate::simulate::log::time::{Clock, Stamp};

use super::arguments::server_args;
use super::last::Last;
use super::line::{Access, Kind, Line, Path, Startup};
use super::plan::SglangPlan;
use super::prefix::{self, Voice};
use super::template::{DecodeTemplate, PrefillTemplate};

/// All fixed texts of a log.
#[derive(Debug)]
pub(super) struct Style {
    stamp: Stamp,
    clock: Clock,
    /// By data-parallel rank.
    voices: Vec<Vec<Voice>>,
    servers: Vec<Server>,
    access: [Vec<Piece>; 5],
    client: Vec<Piece>,
}

/// The texts of one server.
#[derive(Debug)]
struct Server {
    arguments: String,
    decode: DecodeTemplate,
    prefill: PrefillTemplate,
}

impl Style {
    pub(super) fn new(plan: &SglangPlan) -> Self {
        let log = plan.log();
        Self {
            stamp: prefix::stamp(plan),
            clock: Clock::new(log.start),
            voices: (0..log.parallel.dp).map(|rank| prefix::voices(plan, rank)).collect(),
            servers: log
                .runs
                .iter()
                .map(|run| Server {
                    arguments: server_args(plan, run),
                    decode: DecodeTemplate::new(plan, run),
                    prefill: PrefillTemplate::new(plan, run),
                })
                .collect(),
            access: [
                "POST /generate",
                "POST /v1/chat/completions",
                "POST /flush_cache",
                "GET /health",
                "GET /metrics",
            ]
            .map(|request| Piece::split(&format!(" - \"{request} HTTP/1.1\" 200 OK")).collect()),
            client: Piece::split("] INFO:     127.0.0.1:").collect(),
        }
    }

    /// A clock for one block of lines.
    pub(super) fn clock(&self) -> Clock {
        self.clock.clone()
    }

    /// Physical lines of one record.
    pub(super) fn copies(&self) -> u32 {
        self.voices.first().map_or(1, |voices| u32::try_from(voices.len()).unwrap_or(u32::MAX))
    }

    /// The tags that a rank's lines carry; those of its first voice.
    pub(super) fn tags(&self, rank: u32) -> Tags {
        self.voices_of(rank).first().map(|voice| voice.tags).unwrap_or_default()
    }

    fn voices_of(&self, rank: u32) -> &[Voice] {
        usize::try_from(rank).ok().and_then(|rank| self.voices.get(rank)).map_or(&[], Vec::as_slice)
    }

    fn server(&self, line: &Line) -> Option<&Server> {
        self.servers.get(usize::try_from(line.server).ok()?)
    }

    /// Appends lines as they are written to a file of their own.
    pub(super) fn write(&self, lines: &[Line], clock: &mut Clock, last: &mut Last, text: &mut Text) {
        for line in lines {
            self.physical_lines(line, clock, last, text, |text| text.byte(b'\n'));
        }
    }

    /// Appends lines without their line breaks, and says where each stands and what it is.
    pub(super) fn records(
        &self,
        lines: &[Line],
        (clock, last): (&mut Clock, &mut Last),
        text: &mut Text,
        records: &mut Records,
    ) {
        for line in lines {
            let kind = match line.kind {
                Kind::Decode(_) => Record::Decode,
                Kind::Prefill(_) | Kind::Arguments | Kind::Flushed => Record::Other,
                Kind::Startup(_) => Record::Prose,
                Kind::Access(_) | Kind::RequestTimes { .. } => Record::None,
            };
            let mut start = text.len();
            self.physical_lines(line, clock, last, text, |text| {
                records.push(start, text.len(), kind, line.at, line.rank);
                start = text.len();
            });
        }
    }

    /// Writes a line in the voices that print it and calls `end` after each.
    #[inline]
    fn physical_lines(
        &self,
        line: &Line,
        clock: &mut Clock,
        last: &mut Last,
        text: &mut Text,
        mut end: impl FnMut(&mut Text),
    ) {
        match &line.kind {
            Kind::Decode(decode) => {
                let Some(server) = self.server(line) else { return };
                for voice in self.voices_of(line.rank) {
                    self.tagged(line, voice, clock, text);
                    server.decode.write(decode, (line.at, line.server), clock, last, text);
                    end(text);
                }
            }
            Kind::Prefill(prefill) => {
                let Some(server) = self.server(line) else { return };
                for voice in self.voices_of(line.rank) {
                    self.tagged(line, voice, clock, text);
                    server.prefill.write(prefill, line.at, clock, text);
                    end(text);
                }
            }
            Kind::Flushed => {
                for voice in self.voices_of(line.rank) {
                    self.tagged(line, voice, clock, text);
                    text.put(b"Cache flushed successfully!");
                    end(text);
                }
            }
            Kind::Access(access) => {
                self.access(line.at, access, clock, text);
                end(text);
            }
            Kind::RequestTimes { request, input, output } => {
                if let Some(voice) = self.voices_of(line.rank).first() {
                    self.tagged(line, voice, clock, text);
                    request_times(*request, *input, *output, line.at, text);
                    end(text);
                }
            }
            Kind::Arguments => {
                self.untagged(line, clock, text);
                text.put(self.server(line).map_or(&[], |server| server.arguments.as_bytes()));
                end(text);
            }
            Kind::Startup(startup) => {
                self.untagged(line, clock, text);
                text.put(startup.text());
                end(text);
            }
        }
    }

    #[inline]
    fn tagged(&self, line: &Line, voice: &Voice, clock: &mut Clock, text: &mut Text) {
        text.begin_line();
        text.byte(b'[');
        clock.write(line.at, self.stamp, text);
        voice.text.iter().for_each(|piece| text.piece(piece));
    }

    fn untagged(&self, line: &Line, clock: &mut Clock, text: &mut Text) {
        text.begin_line();
        text.byte(b'[');
        clock.write(line.at, self.stamp, text);
        text.put(b"] ");
    }

    #[inline]
    fn access(&self, at: u64, access: &Access, clock: &mut Clock, text: &mut Text) {
        let [generate, chat, flush, health, metrics] = &self.access;
        text.begin_line();
        text.byte(b'[');
        clock.write(at, self.stamp, text);
        self.client.iter().for_each(|piece| text.piece(piece));
        text.integer(access.port);
        let request = match access.path {
            Path::Generate => generate,
            Path::ChatCompletions => chat,
            Path::FlushCache => flush,
            Path::Health => health,
            Path::Metrics => metrics,
        };
        for piece in request {
            text.piece(piece);
        }
    }
}

impl Startup {
    fn text(self) -> &'static [u8] {
        match self {
            Self::LoadBegin => b"Load weight begin. avail mem=139.13 GB",
            Self::LoadEnd => b"Load weight end. elapsed=10.00 s, avail mem=72.27 GB, mem usage=66.86 GB.",
            Self::Ready => b"The server is fired up and ready to roll!",
            Self::Draining => {
                b"SIGTERM received. signum=None frame=None. Draining requests and shutting down..."
            }
        }
    }
}

/// A statistics line of one request (its form: 0.5.20 to 0.5.22).
fn request_times(request: u64, input: u64, output: u64, at: u64, text: &mut Text) {
    text.put(b"ReqTimeStats(rid=request-");
    text.padded(request, 8);
    text.put(b", input_len=");
    text.integer(input);
    text.put(b", cached_input_len=0, output_len=");
    text.integer(output);
    text.put(b", attempts=0, type=unified): queue_duration=0.71ms, forward_duration=");
    text.hundredths(output * 830 + at % 100);
    text.put(b"ms");
}
