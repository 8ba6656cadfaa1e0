//! Lines of a log that is written line by line, in their wrapper.

use std::io::{self, Write};

use super::damage::{Damage, physical_line};
use super::draws::Mixer;
use super::summary::DamageCounts;
use super::text::Text;
use super::time::{Clock, LocalTime};

/// Bytes after which a page is written.
const FULL: usize = 1 << 18;

/// Text that waits to be written.
pub(super) struct Page<'a> {
    clock: Clock,
    damage: &'a Damage,
    chance: Mixer,
    counts: DamageCounts,
    line: Text,
    text: Text,
    written: u64,
}

impl<'a> Page<'a> {
    pub(super) fn new(start: LocalTime, damage: &'a Damage, seed: u64) -> Self {
        Self {
            clock: Clock::new(start),
            damage,
            chance: Mixer::new(seed, u64::MAX),
            counts: DamageCounts::default(),
            line: Text::default(),
            text: Text::default(),
            written: 0,
        }
    }

    /// Adds a line at a time and of a rank.
    pub(super) fn line(&mut self, at: u64, rank: u32, write: impl FnOnce(&mut Clock, &mut Text)) {
        if self.damage.is_none() {
            self.text.begin_line();
            write(&mut self.clock, &mut self.text);
            self.text.put(b"\n");
            return;
        }
        self.line.clear();
        self.line.begin_line();
        write(&mut self.clock, &mut self.line);
        let parts = [self.line.as_bytes()];
        let place = (at, rank);
        let is_split =
            physical_line(self.damage, &parts, place, &mut self.clock, &mut self.chance, &mut self.text);
        self.counts.split += u64::from(is_split);
    }

    /// Writes what waits once it is enough.
    pub(super) fn write_full(&mut self, out: &mut impl Write) -> io::Result<()> {
        if self.text.len() >= FULL { self.write(out) } else { Ok(()) }
    }

    /// Writes what waits; returns the bytes of the whole log.
    pub(super) fn finish(&mut self, out: &mut impl Write) -> io::Result<u64> {
        self.write(out)?;
        Ok(self.written)
    }

    fn write(&mut self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(self.text.as_bytes())?;
        self.written += u64::try_from(self.text.len()).unwrap_or(0);
        self.text.clear();
        Ok(())
    }

    pub(super) fn counts(&self) -> &DamageCounts {
        &self.counts
    }
}
