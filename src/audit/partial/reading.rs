//! Columns as records again.

use crate::evidence::{
    CacheFlush, DecodeLine, EchoedSetting, Graph, Hundredths, Place, PrefillLine, Record, ServerStart,
    Skipped, Tags, Timestamp,
};

use super::columns::{
    COLUMNS, COUNTERS, Column, DECODE, ENGINE, FLUSH, LABELS, PREFILL, REASONS, SETTING, SKIPPED, START,
    Split, split,
};
use super::wire::{Bytes, put, put_text};

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
                let arguments: ServerStart = postcard::from_bytes(self.column(Column::Other).text()?).ok()?;
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
        let message = message(running_req, tokens, identity)?;
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

/// A message that is equal to another one where the two that they stand for were, and begins with the same `#token` where
/// they did: replay tells by it whether a line is missing.
fn message(running_req: u32, tokens: Option<u64>, identity: &[u8]) -> Option<String> {
    let (values, own) = identity.split_at_checked(4)?;
    let number = |bytes: &[u8]| bytes.try_into().ok().map(u32::from_le_bytes);
    let (values, own) = (number(values)?, number(own)?);
    let tokens =
        tokens.map_or(String::new(), |tokens| format!("#running-req: {running_req}, #token: {tokens}, "));
    Some(if own == 0 {
        format!("{tokens}{values:08x}")
    } else {
        format!("{tokens}{values:08x}gen throughput (token/{own:08x}")
    })
}
