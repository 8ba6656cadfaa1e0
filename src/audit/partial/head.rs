//! The first records of a log as an audit needs them, by columns: numbers of one kind pack well.

use crate::evidence::{
    CacheFlush, DecodeLine, EchoedSetting, Graph, GraphLabel, Hundredths, Place, PrefillLine, Record,
    ServerStart, SkipReason, Skipped, Tags, Timestamp, message_identity,
};

use crate::audit::stray::Stray;

use super::wire::{Bytes, put, put_option, put_text};

/// Columns: see [`Column`].
const COLUMNS: usize = 14;

/// Longest text that is kept of a setting or an argument.
const MOST_TEXT: usize = 200;

/// Most batch sizes with a graph that are kept.
const MOST_BATCHES: usize = 512;

#[derive(Clone, Copy, Debug)]
enum Column {
    Kind,
    Line,
    Tags,
    Time,
    Iteration,
    Running,
    AcceptLen,
    AcceptRate,
    Flags,
    Throughput,
    Queue,
    Tokens,
    Message,
    Other,
}

const DECODE: u8 = 0;
const PREFILL: u8 = 1;
const START: u8 = 2;
const FLUSH: u8 = 3;
const SETTING: u8 = 4;
const SKIPPED: u8 = 5;
const ENGINE: u8 = 6;
const COUNTERS: u8 = 7;

const LABELS: [GraphLabel; 4] = [GraphLabel::Cuda, GraphLabel::Cpu, GraphLabel::Npu, GraphLabel::Musa];

const REASONS: [SkipReason; 4] =
    [SkipReason::Truncated, SkipReason::Duplicate, SkipReason::Lookalike, SkipReason::NotFinite];

/// Records by columns.
#[derive(Clone, Debug, Default)]
pub(super) struct Head {
    columns: [Vec<u8>; COLUMNS],
    tags: Vec<Tags>,
    line: u64,
    time: Vec<u8>,
    iteration: u64,
    /// A text that is no server's log was kept: only the first one tells.
    has_stray: bool,
}

/// How far the columns had come.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mark {
    lengths: [usize; COLUMNS],
    tags: usize,
}

impl Head {
    /// Bytes of all columns.
    pub(super) fn len(&self) -> usize {
        self.columns.iter().map(Vec::len).sum::<usize>() + 8 * self.tags.len()
    }

    pub(super) fn mark(&self) -> Mark {
        let mut lengths = [0; COLUMNS];
        lengths.iter_mut().zip(&self.columns).for_each(|(length, column)| *length = column.len());
        Mark { lengths, tags: self.tags.len() }
    }

    /// Leaves what was there at the mark. No record follows.
    pub(super) fn cut(&mut self, mark: Mark) {
        self.columns.iter_mut().zip(mark.lengths).for_each(|(column, length)| column.truncate(length));
        self.columns.iter_mut().for_each(Vec::shrink_to_fit);
        self.tags.truncate(mark.tags);
    }

    fn column(&mut self, column: Column) -> &mut Vec<u8> {
        #[expect(clippy::indexing_slicing, reason = "there are as many columns as names")]
        &mut self.columns[column as usize]
    }

    pub(super) fn add(&mut self, number: u64, record: &Record<'_>) {
        let kind = match record {
            Record::Decode(line) => {
                self.decode(line);
                DECODE
            }
            Record::Prefill(line) => {
                self.tags(line.tags);
                let joined = line.figures().new_seq;
                put_option(self.column(Column::Other), joined.map(u64::from));
                PREFILL
            }
            Record::Start(arguments) => {
                let text = serde_json::to_vec(&clipped(arguments)).unwrap_or_default();
                put_text(self.column(Column::Other), &text);
                START
            }
            Record::CacheFlush(_) => FLUSH,
            Record::Setting(setting) => {
                put_text(self.column(Column::Other), clip(setting.name).as_bytes());
                put_text(self.column(Column::Other), clip(setting.value).as_bytes());
                SETTING
            }
            Record::Skipped(skipped) => {
                let reason = REASONS.iter().position(|reason| *reason == skipped.reason);
                put(self.column(Column::Other), u64::try_from(reason.unwrap_or(0)).unwrap_or(0));
                let stray = Stray::of(skipped.text).filter(|_| !self.has_stray);
                self.has_stray |= stray.is_some();
                put_text(self.column(Column::Other), stray.map_or("", Stray::mark).as_bytes());
                SKIPPED
            }
            Record::Engine(line) => {
                put_text(self.column(Column::Other), &postcard::to_allocvec(line).unwrap_or_default());
                ENGINE
            }
            Record::Counters(record) => {
                put_text(self.column(Column::Other), &postcard::to_allocvec(record).unwrap_or_default());
                COUNTERS
            }
        };
        // A log joined by hand may number anew: the difference wraps.
        let step = number.wrapping_sub(self.line);
        put(self.column(Column::Line), step);
        self.line = number;
        self.column(Column::Kind).push(kind);
    }

    fn decode(&mut self, line: &DecodeLine<'_>) {
        self.tags(line.tags);
        self.time(line.timestamp);
        let step = line.iteration.map(|iteration| {
            let step = iteration.wrapping_sub(self.iteration);
            self.iteration = iteration;
            // Small in both directions.
            (step << 1) ^ (step >> 63).wrapping_neg()
        });
        // One more would not fit.
        put(self.column(Column::Iteration), u64::from(step.is_some()));
        if let Some(step) = step {
            put(self.column(Column::Iteration), step);
        }
        let hundredths = |value: Option<Hundredths>| value.map(|value| u64::from(value.count()));
        put(self.column(Column::Running), u64::from(line.running_req));
        put_option(self.column(Column::AcceptLen), hundredths(line.accept_len));
        put_option(self.column(Column::AcceptRate), hundredths(line.accept_rate));
        let label = |graph: Graph| LABELS.iter().zip(0_u8..).find(|(label, _)| **label == graph.label);
        let graph = line
            .graph
            .map_or(0, |graph| 1 + 2 * label(graph).map_or(0, |(_, code)| code) + u8::from(graph.on));
        self.column(Column::Flags).push(graph << 1 | u8::from(line.capped));
        self.throughput(line.gen_throughput_tps);
        put(self.column(Column::Queue), u64::from(line.queue_req));
        // Replay tells by it whether a line is missing.
        put_option(self.column(Column::Tokens), line.tokens());
        let (values, own) = message_identity(line.message);
        let column = self.column(Column::Message);
        column.extend(values.to_le_bytes().iter().take(4));
        column.extend(own.to_le_bytes().iter().take(4));
    }

    fn tags(&mut self, tags: Tags) {
        let index = self.tags.iter().position(|known| *known == tags).unwrap_or_else(|| {
            self.tags.push(tags);
            self.tags.len() - 1
        });
        put(self.column(Column::Tags), u64::try_from(index).unwrap_or(0));
    }

    /// What the time has in common with the one before, and what not.
    fn time(&mut self, time: Option<Timestamp<'_>>) {
        let Some(time) = time.map(Timestamp::as_bytes) else { return put(self.column(Column::Time), 0) };
        let same = time.iter().zip(&self.time).take_while(|(left, right)| left == right).count();
        put(self.column(Column::Time), u64::try_from(same).unwrap_or(0) + 1);
        put_text(self.column(Column::Time), time.get(same..).unwrap_or(&[]));
        self.time = time.to_vec();
    }

    /// In hundredths, as it is printed; else its bits.
    fn throughput(&mut self, tps: Option<f64>) {
        let column = self.column(Column::Throughput);
        let Some(tps) = tps else { return put(column, 0) };
        let hundredths = crate::law::whole((tps * 100.0).round());
        if hundredths < u64::from(u32::MAX)
            && (crate::law::float(hundredths) / 100.0).to_bits() == tps.to_bits()
        {
            put(column, hundredths + 2);
        } else {
            put(column, 1);
            column.extend(tps.to_bits().to_le_bytes());
        }
    }

    /// All in one.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        put(&mut bytes, u64::try_from(self.tags.len()).unwrap_or(0));
        for tags in &self.tags {
            put_text(&mut bytes, tags.to_string().as_bytes());
        }
        for column in &self.columns {
            put_text(&mut bytes, column);
        }
        bytes
    }
}

/// Hands out the records; `None` where the bytes are damaged.
pub(super) fn replay(bytes: &[u8], file: u32, each: &mut dyn FnMut(Place, &Record<'_>)) -> Option<()> {
    let mut reader = HeadReader::new(split(bytes)?);
    while let Some(kind) = reader.column(Column::Kind).byte() {
        reader.record(kind, file, each)?;
    }
    reader.columns.iter().all(|column| column.0.is_empty()).then_some(())
}

/// Cuts columns before the record that would make them longer than `most`: what is left, and how many records that is; `None`
/// where the bytes are damaged.
pub(super) fn cut(bytes: &[u8], most: usize) -> Option<(Vec<u8>, u64)> {
    let whole = split(bytes)?;
    let mut reader = HeadReader::new(whole.clone());
    let mut lengths = [0; COLUMNS];
    let mut records = 0;
    while let Some(kind) = reader.column(Column::Kind).byte() {
        reader.record(kind, 0, &mut |_, _| {})?;
        let mut now = [0; COLUMNS];
        for ((length, all), left) in now.iter_mut().zip(&whole.columns).zip(&reader.columns) {
            *length = all.0.len().checked_sub(left.0.len())?;
        }
        if now.iter().sum::<usize>() > most {
            break;
        }
        lengths = now;
        records += 1;
    }
    let mut out = Vec::new();
    put(&mut out, u64::try_from(whole.tags.len()).unwrap_or(0));
    for tags in &whole.tags {
        put_text(&mut out, tags.to_string().as_bytes());
    }
    for (column, length) in whole.columns.iter().zip(lengths) {
        put_text(&mut out, column.0.get(..length)?);
    }
    Some((out, records))
}

/// Tags and columns apart.
#[derive(Clone)]
struct Split<'a> {
    columns: [Bytes<'a>; COLUMNS],
    tags: Vec<Tags>,
}

fn split(bytes: &[u8]) -> Option<Split<'_>> {
    let mut bytes = Bytes(bytes);
    let mut tags = Vec::new();
    for _ in 0..bytes.number()? {
        tags.push(Tags::parse(bytes.text()?));
    }
    let mut columns = [Bytes::default(); COLUMNS];
    for column in &mut columns {
        *column = Bytes(bytes.text()?);
    }
    bytes.0.is_empty().then_some(Split { columns, tags })
}

#[derive(Clone)]
struct HeadReader<'a> {
    columns: [Bytes<'a>; COLUMNS],
    tags: Vec<Tags>,
    line: u64,
    time: Vec<u8>,
    iteration: u64,
}

impl<'a> HeadReader<'a> {
    fn new(Split { columns, tags }: Split<'a>) -> Self {
        Self { columns, tags, line: 0, time: Vec::new(), iteration: 0 }
    }

    fn column(&mut self, column: Column) -> &mut Bytes<'a> {
        #[expect(clippy::indexing_slicing, reason = "there are as many columns as names")]
        &mut self.columns[column as usize]
    }

    fn record(&mut self, kind: u8, file: u32, each: &mut dyn FnMut(Place, &Record<'_>)) -> Option<()> {
        self.line = self.line.wrapping_add(self.column(Column::Line).number()?);
        let place = Place { file, line: self.line };
        match kind {
            DECODE => return self.decode(place, each),
            PREFILL => {
                let tags = self.tag()?;
                let joined = self.column(Column::Other).option()?;
                let message = joined.map_or(String::new(), |joined| format!("#new-seq: {joined}, "));
                let line =
                    PrefillLine { timestamp: None, tags, iteration: None, message: message.as_bytes() };
                each(place, &Record::Prefill(line));
            }
            START => {
                let arguments: ServerStart =
                    serde_json::from_slice(self.column(Column::Other).text()?).ok()?;
                each(place, &Record::Start(Box::new(arguments)));
            }
            FLUSH => each(place, &Record::CacheFlush(CacheFlush { timestamp: None, tags: Tags::default() })),
            SETTING => {
                let name = std::str::from_utf8(self.column(Column::Other).text()?).ok()?;
                let value = std::str::from_utf8(self.column(Column::Other).text()?).ok()?;
                each(place, &Record::Setting(EchoedSetting { name, value }));
            }
            SKIPPED => {
                let reason = usize::try_from(self.column(Column::Other).number()?).ok()?;
                let reason = *REASONS.get(reason)?;
                let text = self.column(Column::Other).text()?;
                each(place, &Record::Skipped(Skipped { reason, text }));
            }
            ENGINE => {
                let line = postcard::from_bytes(self.column(Column::Other).text()?).ok()?;
                each(place, &Record::Engine(Box::new(line)));
            }
            COUNTERS => {
                let record = postcard::from_bytes(self.column(Column::Other).text()?).ok()?;
                each(place, &Record::Counters(Box::new(record)));
            }
            _ => return None,
        }
        Some(())
    }

    fn decode(&mut self, place: Place, each: &mut dyn FnMut(Place, &Record<'_>)) -> Option<()> {
        let tags = self.tag()?;
        let has_time = self.read_time()?;
        let mut iteration = None;
        if self.column(Column::Iteration).number()? == 1 {
            let step = self.column(Column::Iteration).number()?;
            self.iteration = self.iteration.wrapping_add((step >> 1) ^ (step & 1).wrapping_neg());
            iteration = Some(self.iteration);
        }
        let small = |number: u64| u32::try_from(number).ok();
        let hundredths = |number: Option<u64>| match number {
            None => Some(None),
            Some(number) => small(number).map(|number| Some(Hundredths::new(number))),
        };
        let running_req = small(self.column(Column::Running).number()?)?;
        let accept_len = hundredths(self.column(Column::AcceptLen).option()?)?;
        let accept_rate = hundredths(self.column(Column::AcceptRate).option()?)?;
        let flags = self.column(Column::Flags).byte()?;
        let graph = match (flags >> 1).checked_sub(1) {
            None => None,
            Some(code) => Some(Graph { label: *LABELS.get(usize::from(code >> 1))?, on: code & 1 == 1 }),
        };
        let throughput = match self.column(Column::Throughput).number()? {
            0 => None,
            1 => {
                let bits = self.column(Column::Throughput).take(8)?;
                Some(f64::from_bits(u64::from_le_bytes(bits.try_into().ok()?)))
            }
            number => Some(crate::law::float(number - 2) / 100.0),
        };
        let queue_req = small(self.column(Column::Queue).number()?)?;
        let tokens = self.column(Column::Tokens).option()?;
        let identity = self.column(Column::Message).take(8)?;
        let message = message(tokens, identity)?;
        let timestamp = if has_time { Some(Timestamp::parse(&self.time)?) } else { None };
        let line = DecodeLine {
            timestamp,
            tags,
            iteration,
            running_req,
            accept_len,
            accept_rate,
            graph,
            gen_throughput_tps: throughput,
            queue_req,
            capped: flags & 1 == 1,
            message: message.as_bytes(),
        };
        each(place, &Record::Decode(line));
        Some(())
    }

    fn tag(&mut self) -> Option<Tags> {
        let index = usize::try_from(self.column(Column::Tags).number()?).ok()?;
        self.tags.get(index).copied()
    }

    fn read_time(&mut self) -> Option<bool> {
        let Some(same) = self.column(Column::Time).option()? else { return Some(false) };
        let rest = self.column(Column::Time).text()?;
        let same = usize::try_from(same).ok().filter(|same| *same <= self.time.len())?;
        self.time.truncate(same);
        self.time.extend_from_slice(rest);
        Some(true)
    }
}

/// A message that is equal to another one where the two that they stand for were, with the same `#token`.
fn message(tokens: Option<u64>, identity: &[u8]) -> Option<String> {
    let (values, own) = identity.split_at_checked(4)?;
    let number = |bytes: &[u8]| bytes.try_into().ok().map(u32::from_le_bytes);
    let (values, own) = (number(values)?, number(own)?);
    let tokens = tokens.map_or(String::new(), |tokens| format!("#token: {tokens}, "));
    Some(if own == 0 {
        format!("{tokens}{values:08x}")
    } else {
        format!("{tokens}{values:08x}gen throughput (token/{own:08x}")
    })
}

/// The arguments with no text longer than any that a server prints.
pub(super) fn clipped(arguments: &ServerStart) -> ServerStart {
    let mut arguments = arguments.clone();
    for text in [
        &mut arguments.timestamp,
        &mut arguments.speculative_algorithm,
        &mut arguments.disaggregation_mode,
        &mut arguments.model_path,
    ] {
        *text = text.take().map(|text| clip(&text).to_owned());
    }
    arguments.graph_batches.truncate(MOST_BATCHES);
    arguments
}

/// The beginning of a text.
pub(super) fn clip(text: &str) -> &str {
    let mut end = text.len().min(MOST_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::evidence::Scanner;

    const LOG: &str = "\
[2026-10-12 01:02:01 DP1 TP8] server_args=ServerArgs(model_path='x', speculative_algorithm='EAGLE3', random_seed=5)
[2026-10-12 01:02:02 DP1 TP8] Prefill batch, #new-seq: 3, #new-token: 5, #cached-token: 0, token usage: 0.00, #running-req: 0, #queue-req: 0, 
[2026-10-12 01:02:03 DP1 TP8] Decode batch [7], #running-req: 16, #token: 793, token usage: 0.05, accept len: 3.52, accept rate: 0.51, cuda graph: True, gen throughput (token/s): 585.98, #queue-req: 0
[2026-10-12 01:02:04 DP0 TP0] Decode batch [6], #running-req: 1, #token: 7, token usage: 0.05, accept len: nan, #queue-req: 0
[2026-10-12 01:02:04.250 DP0 TP0] Decode batch, #running-req: 1, #token: 7, token usage: 0.05, npu graph: False, gen throughput (token/s): 5.00, #queue-req: 9
+ export SGLANG_SIMULATE_ACC_LEN=3.51
[2026-10-12 01:02:05 DP0 TP0] Cache flushed successfully!
";

    /// What the builder of a point looks at.
    fn seen(place: Place, record: &Record<'_>) -> String {
        let shown = match record {
            Record::Decode(line) => {
                let (values, own) = message_identity(line.message);
                // A message made again stands for another one, and its numbers are its own.
                let is_timed = own != 0;
                format!("{:?} {is_timed} {}", DecodeLine { message: b"", ..*line }, values != 0)
            }
            Record::Prefill(line) => format!("{} {:?}", line.tags, line.figures().new_seq),
            Record::CacheFlush(_) => "flush".to_owned(),
            Record::Skipped(skipped) => format!("{:?}", skipped.reason),
            other => format!("{other:?}"),
        };
        format!("{place:?} {shown}")
    }

    #[test]
    fn records_come_back_as_they_were() {
        let (mut head, mut expected) = (Head::default(), Vec::new());
        Scanner::new(0).lines(LOG.as_bytes(), &mut |place, record| {
            head.add(place.line, record);
            expected.push(seen(place, record));
        });
        assert!(expected.len() >= 6, "{expected:#?}");
        let mut found = Vec::new();
        let read = replay(&head.bytes(), 0, &mut |place, record| found.push(seen(place, record)));
        assert_eq!((read, found), (Some(()), expected));
    }

    proptest! {
        /// Whatever the bytes are, nothing panics and nothing runs away.
        #[test]
        fn foreign_bytes_are_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let mut records = 0;
            let _ = replay(&bytes, 0, &mut |_, _| records += 1);
            prop_assert!(records <= bytes.len());
        }

        #[test]
        fn cut_bytes_are_refused(cut in 0.0..1.0_f64) {
            let mut head = Head::default();
            Scanner::new(0).lines(LOG.as_bytes(), &mut |place, record| head.add(place.line, record));
            let bytes = head.bytes();
            let at = usize::try_from(crate::law::whole(cut * f64::from(u32::try_from(bytes.len()).unwrap()))).unwrap();
            prop_assert_eq!(replay(&bytes[..at], 0, &mut |_, _| {}), None);
        }
    }
}
