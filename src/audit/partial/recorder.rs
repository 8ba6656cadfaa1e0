//! Takes the records of one log while it is read.

use sha2::{Digest as _, Sha256};

use crate::audit::{PointBuilder, Scope};
use crate::evidence::{Place, Record};

use super::head::{Head, Mark};
use super::log::{FEW, LogPart, MOST_PACKED};
use super::wire::pack;

/// Bytes of columns from which on no packing helps.
const MANY: usize = 256 << 10;

/// Records one log: all of it while it is small, else its first records and the sums of the others. Memory is bounded by
/// that of a [`PointBuilder`] and a few hundred kilobytes.
#[derive(Clone, Debug)]
pub struct LogRecorder {
    name: String,
    ignores_settings: bool,
    head: Head,
    /// Where the few records end that are kept in any case, once there are more.
    few: Option<Mark>,
    is_long: bool,
    builder: PointBuilder,
    /// Of the records of engines that print sums, and of counters: they are kept whole or not at all.
    sums: Option<Sha256>,
}

impl LogRecorder {
    /// A log by its name, of which the scope's lines count. `ignores_settings` says that settings in it are none of the
    /// run's: it is a script.
    #[must_use]
    pub fn new(name: &str, scope: Scope, ignores_settings: bool) -> Self {
        let mut builder = PointBuilder::new(name).with_scope(scope);
        builder.begin_course();
        Self {
            name: name.to_owned(),
            ignores_settings,
            head: Head::default(),
            few: None,
            is_long: false,
            builder,
            sums: None,
        }
    }

    /// The next record.
    pub fn add(&mut self, place: Place, record: &Record<'_>) {
        if self.ignores_settings && matches!(record, Record::Setting(_)) {
            return;
        }
        if matches!(record, Record::Engine(_) | Record::Counters(_)) {
            let sums = self.sums.get_or_insert_default();
            sums.update(format!("{} {record:?}", place.line));
        }
        if !self.is_long {
            let mark = self.head.mark();
            self.head.add(place.line, record);
            if self.few.is_none() && self.head.len() > FEW {
                self.few = Some(mark);
                self.builder.forget_sums();
            }
            if self.head.len() > MANY {
                self.is_long = true;
                self.head.cut(self.few.unwrap_or_default());
            }
        }
        self.builder.add(Place { file: 0, line: place.line }, record);
    }

    /// The log is over.
    #[must_use]
    pub fn finish(self) -> LogPart {
        let Self { name, mut head, few, is_long, mut builder, sums, .. } = self;
        let Some(few) = few else { return LogPart::new(name, head.bytes(), None) };
        if !is_long {
            let all = head.bytes();
            if pack(&all).len() <= MOST_PACKED {
                return LogPart::new(name, all, None);
            }
            head.cut(few);
        }
        if let Some(sums) = sums {
            return LogPart::closed(name, &sums.finalize());
        }
        builder.end_course(0);
        LogPart::summed(name, head.bytes(), &builder.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Scanner;

    #[test]
    fn a_log_that_becomes_long_keeps_its_first_records() {
        let mut recorder = LogRecorder::new("a.log", Scope::default(), false);
        for number in 0..2000 {
            let line = format!(
                "[2026-10-12 01:{:02}:{:02} TP0] Decode batch, #running-req: 1, #token: {number}, token usage: 0.05, accept len: \
                 3.50, accept rate: 0.50, cuda graph: True, gen throughput (token/s): 400.25, #queue-req: 0\n",
                number / 60,
                number % 60
            );
            Scanner::new(0).lines(line.as_bytes(), &mut |place, record| recorder.add(place, record));
            assert_eq!(recorder.few.is_some(), recorder.head.len() > FEW, "{number}");
        }
        let mut few = recorder.head.clone();
        few.cut(recorder.few.unwrap());
        assert!((FEW - 100..=FEW).contains(&few.len()), "{}", few.len());
    }
}
