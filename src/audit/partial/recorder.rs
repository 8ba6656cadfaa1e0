//! Takes the records of one log while it is read.

use crate::audit::{PointBuilder, Scope};
use crate::evidence::{Place, Record};

use super::head::{Head, Mark};
use super::log::LogPart;
use super::rest::Rest;
use super::wire::pack;

/// Bytes of columns that are kept of a log which has more records than a part holds.
const FEW: usize = 28 << 10;

/// Bytes of columns from which on no packing helps.
const MANY: usize = 256 << 10;

/// Packed bytes of a log whose records are all kept.
const MOST_PACKED: usize = 44 << 10;

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
}

impl LogRecorder {
    /// A log by its name, of which the scope's lines count. `ignores_settings` says that settings in it are none of the
    /// run's: it is a script.
    #[must_use]
    pub fn new(name: &str, scope: Scope, ignores_settings: bool) -> Self {
        Self {
            name: name.to_owned(),
            ignores_settings,
            head: Head::default(),
            few: None,
            is_long: false,
            builder: PointBuilder::new(name).with_scope(scope),
        }
    }

    /// The next record.
    pub fn add(&mut self, place: Place, record: &Record<'_>) {
        if self.ignores_settings && matches!(record, Record::Setting(_)) {
            return;
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
        let Self { name, mut head, few, is_long, builder, .. } = self;
        let Some(few) = few else { return LogPart::new(name, head.bytes(), None) };
        if !is_long {
            let all = head.bytes();
            if pack(&all).len() <= MOST_PACKED {
                return LogPart::new(name, all, None);
            }
            head.cut(few);
        }
        LogPart::new(name, head.bytes(), Some(Rest::of(&builder.finish())))
    }
}
