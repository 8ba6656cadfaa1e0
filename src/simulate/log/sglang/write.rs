//! From a plan to bytes: lines are made, put into text and written in chunks; the three go on at once where there are
//! threads. Damage does not reach across a block of a chunk; both are the same however many threads there are, and so
//! is the log.

use std::io::{self, Write};
use std::mem;

use rayon::prelude::*;

use crate::evidence::Hundredths;
use crate::simulate::log::damage::{Records, Spoiler};
use crate::simulate::log::draws::DrawSource;
use crate::simulate::log::summary::{DamageCounts, Fate, Summary, Window};
use crate::simulate::log::tally::Tally;
use crate::simulate::log::text::Text;

use super::last::Last;
use super::line::{Decode, Kind, Line};
use super::plan::SglangPlan;
use super::schedule::Schedule;
use super::style::Style;

/// Lines made at a time.
const CHUNK_LINES: usize = 2048;

/// Lines put into text by one thread; damage does not reach across.
const BLOCK_LINES: usize = 512;

/// Lines made at a time where nothing depends on how many.
const FEW_LINES: usize = 64;

/// Bytes that are written at a time.
const FULL: usize = 1 << 18;

/// A stretch of the log on its way.
#[derive(Debug, Default)]
struct Chunk {
    lines: Vec<Line>,
    pages: Vec<Page>,
}

/// The text of one block.
#[derive(Debug, Default)]
struct Page {
    text: Text,
    /// The same before the damage.
    clean: Text,
    records: Records,
    fates: Vec<Fate>,
    counts: DamageCounts,
}

/// Writes a log and hands every decode line to `seen`.
pub(in crate::simulate::log) fn write<S: DrawSource>(
    plan: &SglangPlan,
    source: &S,
    out: &mut impl Write,
    seen: &mut impl FnMut(&Window),
) -> io::Result<Summary> {
    let style = Style::new(plan);
    let mut schedule = Schedule::new(plan, style.copies(), source);
    let mut log = Writer { plan, style: &style, out, seen, tally: Tally::default(), bytes: 0 };
    if rayon::current_num_threads() == 1 && plan.log().damage.is_none() {
        straight(&style, &mut schedule, &mut log)?;
    } else if rayon::current_num_threads() == 1 {
        let mut chunk = Chunk::default();
        let mut block = 0;
        let mut has_more = true;
        while has_more {
            chunk.lines.clear();
            has_more = schedule.fill(CHUNK_LINES, &mut chunk.lines);
            chunk.set(plan, &style, block);
            block += chunk.blocks();
            log.write(&chunk)?;
        }
    } else {
        pipeline(plan, &style, &mut schedule, &mut log)?;
    }
    Ok(log.finish())
}

/// One thread and no damage, which ends with a block: lines become text while they are in the nearest cache, and text is
/// written in large pieces.
fn straight<S: DrawSource, W: Write, F: FnMut(&Window)>(
    style: &Style,
    schedule: &mut Schedule<'_, S>,
    log: &mut Writer<'_, W, F>,
) -> io::Result<()> {
    let (mut lines, mut text) = (Vec::new(), Text::default());
    let (mut clock, mut last) = (style.clock(), Last::default());
    let mut has_more = true;
    while has_more {
        lines.clear();
        has_more = schedule.fill(FEW_LINES, &mut lines);
        style.write(&lines, &mut clock, &mut last, &mut text);
        log.count(&lines, &mut [].iter());
        if text.len() >= FULL || !has_more {
            log.put(&text)?;
            text.clear();
        }
    }
    Ok(())
}

/// Makes one chunk while another becomes text and a third is written.
fn pipeline<S: DrawSource, W: Write, F: FnMut(&Window)>(
    plan: &SglangPlan,
    style: &Style,
    schedule: &mut Schedule<'_, S>,
    log: &mut Writer<'_, W, F>,
) -> io::Result<()> {
    let (mut made, mut set, mut written) = (Chunk::default(), Chunk::default(), Chunk::default());
    let mut block = 0;
    let mut has_more = true;
    while has_more || !made.lines.is_empty() || !set.lines.is_empty() {
        // What was made is set next, and what was set is written.
        mem::swap(&mut written, &mut set);
        mem::swap(&mut set, &mut made);
        made.lines.clear();
        rayon::in_place_scope(|scope| {
            if has_more {
                scope.spawn(|_| has_more = schedule.fill(CHUNK_LINES, &mut made.lines));
            }
            scope.spawn(|_| set.set(plan, style, block));
            log.write(&written)
        })?;
        block += set.blocks();
    }
    Ok(())
}

impl Chunk {
    /// Blocks in it.
    fn blocks(&self) -> u64 {
        u64::try_from(self.lines.len().div_ceil(BLOCK_LINES)).unwrap_or(0)
    }

    /// Puts the lines into text. `first` is the number of the first block in the log.
    fn set(&mut self, plan: &SglangPlan, style: &Style, first: u64) {
        self.pages.resize_with(self.lines.len().div_ceil(BLOCK_LINES), Page::default);
        let blocks = self.lines.par_chunks(BLOCK_LINES).zip(self.pages.par_iter_mut()).enumerate();
        blocks.for_each(|(index, (lines, page))| {
            page.set(plan, style, lines, first + u64::try_from(index).unwrap_or(0));
        });
    }
}

impl Page {
    fn set(&mut self, plan: &SglangPlan, style: &Style, lines: &[Line], block: u64) {
        let log = plan.log();
        let (mut clock, mut last) = (style.clock(), Last::default());
        self.text.clear();
        if log.damage.is_none() {
            style.write(lines, &mut clock, &mut last, &mut self.text);
            return;
        }
        self.clean.clear();
        self.records.clear();
        style.records(lines, (&mut clock, &mut last), &mut self.clean, &mut self.records);
        let mut spoiler = Spoiler::new(&log.damage, log.seed, block);
        spoiler.spoil(&self.clean, &self.records, &mut clock, &mut self.text);
        (self.counts, self.fates) = spoiler.finish();
    }
}

/// Writes chunks and counts what is in them.
struct Writer<'a, W, F> {
    plan: &'a SglangPlan,
    style: &'a Style,
    out: &'a mut W,
    seen: &'a mut F,
    tally: Tally,
    bytes: u64,
}

impl<W: Write, F: FnMut(&Window)> Writer<'_, W, F> {
    fn write(&mut self, chunk: &Chunk) -> io::Result<()> {
        for (lines, page) in chunk.lines.chunks(BLOCK_LINES).zip(&chunk.pages) {
            self.put(&page.text)?;
            self.tally.damage(&page.counts);
            self.count(lines, &mut page.fates.iter());
        }
        Ok(())
    }

    fn put(&mut self, text: &Text) -> io::Result<()> {
        self.out.write_all(text.as_bytes())?;
        self.bytes += u64::try_from(text.len()).unwrap_or(0);
        Ok(())
    }

    /// Counts lines, each with the fates of its copies.
    fn count<'b>(&mut self, lines: &[Line], fates: &mut impl Iterator<Item = &'b Fate>) {
        for line in lines {
            match &line.kind {
                Kind::Decode(decode) => {
                    let fate = self.fate(fates);
                    self.decode(line, decode, fate);
                }
                Kind::Prefill(_) => self.tally.prefill(),
                Kind::Arguments => self.start(line.server),
                _ => self.tally.other(),
            }
        }
    }

    /// The best fate among the copies of a line.
    fn fate<'b>(&mut self, fates: &mut impl Iterator<Item = &'b Fate>) -> Fate {
        let mut best = None;
        for fate in fates.take(usize::try_from(self.style.copies()).unwrap_or(1)) {
            self.tally.fate(*fate);
            if matches!(best, None | Some(Fate::Lost)) {
                best = Some(*fate);
            }
        }
        best.unwrap_or(Fate::Whole)
    }

    fn start(&mut self, server: u32) {
        let ranks = self.plan.log().parallel.dp;
        self.tally.start(server, (0..ranks).map(|rank| self.style.tags(rank)));
    }

    fn decode(&mut self, line: &Line, decode: &Decode, fate: Fate) {
        let hundredths = |count| Hundredths::new(u32::try_from(count).unwrap_or(u32::MAX));
        let shape = &self.plan.grammar().decode;
        let run = usize::try_from(line.server).ok().and_then(|server| self.plan.log().runs.get(server));
        let has_length = shape.accept_len && run.is_some_and(|run| run.speculation.is_some());
        let window = Window {
            server: line.server,
            rank: line.rank,
            running: decode.running,
            queue: decode.queue,
            tokens: decode.tokens,
            accepted: decode.accepted,
            request_steps: decode.request_steps,
            accept_len: has_length.then(|| hundredths(decode.accept_len)),
            accept_rate: (has_length && shape.accept_rate).then(|| hundredths(decode.accept_rate)),
            fate,
        };
        self.tally.decode(&window);
        (self.seen)(&window);
    }

    fn finish(self) -> Summary {
        self.tally.finish(self.bytes)
    }
}
