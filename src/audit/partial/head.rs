//! The first records of a log as an audit needs them, by columns: numbers of one kind pack well.

use crate::evidence::{
    DecodeLine, Graph, Hundredths, Record, Tags, Timestamp, leading_tokens, message_identity,
};

use super::clip::{clip, clipped};
use super::columns::{
    COLUMNS, COUNTERS, Column, DECODE, ENGINE, FLUSH, LABELS, PREFILL, REASONS, SETTING, SKIPPED, START, clue,
};
use super::wire::{put, put_option, put_text};

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
                let text = postcard::to_allocvec(&clipped(arguments)).unwrap_or_default();
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
                let clue = clue(skipped, &mut self.has_stray);
                put_text(self.column(Column::Other), clue.as_bytes());
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
        put_option(self.column(Column::Tokens), leading_tokens(line.message));
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::reading::replay;
    use super::*;
    use crate::evidence::{Place, Scanner};

    const LOG: &str = "\
[2026-10-12 01:02:01 DP1 TP8] server_args=ServerArgs(model_path='x', speculative_algorithm='EAGLE3', random_seed=5)
[2026-10-12 01:02:02 DP1 TP8] Prefill batch, #new-seq: 3, #new-token: 5, #cached-token: 0, token usage: 0.00, #running-req: 0, #queue-req: 0, 
[2026-10-12 01:02:03 DP1 TP8] Decode batch [7], #running-req: 16, #token: 793, token usage: 0.05, accept len: 3.52, accept rate: 0.51, cuda graph: True, gen throughput (token/s): 585.98, #queue-req: 0
[2026-10-12 01:02:04 DP0 TP0] Decode batch [6], #running-req: 1, #token: 7, token usage: 0.05, accept len: nan, #queue-req: 0
[2026-10-12 01:02:04.250 DP0 TP0] Decode batch, #running-req: 1, #token: 7, token usage: 0.05, npu graph: False, gen throughput (token/s): 5.00, #queue-req: 9
[2026-10-12 01:02:05 DP0 TP0] Decode batch, #running-req: 1, #full token: 9, full token usage: 0.05, accept len: 3.50, #queue-req: 0
+ export SGLANG_SIMULATE_ACC_LEN=3.51
draft acceptance = 0.57576 (  171 accepted /   297 generated)
[2026-10-12 01:02:05 DP0 TP0] Cache flushed successfully!
";

    /// What the builder of a point looks at.
    fn seen(place: Place, record: &Record<'_>) -> String {
        let shown = match record {
            Record::Decode(line) => {
                let (values, own) = message_identity(line.message);
                // A message made again stands for another one, and its numbers are its own.
                let is_timed = own != 0;
                let tokens = leading_tokens(line.message);
                format!("{:?} {is_timed} {} {tokens:?}", DecodeLine { message: b"", ..*line }, values != 0)
            }
            Record::Prefill(line) => format!("{} {:?}", line.tags, line.figures().new_seq),
            Record::CacheFlush(_) => "flush".to_owned(),
            Record::Skipped(skipped) => format!("{:?} {}", skipped.reason, clue(skipped, &mut false)),
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

    /// Most lines of a log have one: it has to be small.
    #[test]
    fn a_throughput_takes_a_few_bytes_where_it_is_whole_hundredths() {
        for (tps, bytes) in
            [(None, 1), (Some(1.05), 1), (Some(585.98), 3), (Some(1.0 / 3.0), 9), (Some(1e9), 9)]
        {
            let mut head = Head::default();
            head.throughput(tps);
            assert_eq!(head.len(), bytes, "{tps:?}");
        }
    }
}
