//! Documents of figures that end in the middle, or are damaged there: a finding names them as that.

use crate::audit::finding::{FindingCode, Severity};
use crate::evidence::{JSON_BROKEN, JSON_CUT, Place, Skipped, TEXT_CUT};

use super::Figures;

/// How a document ended before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::audit) enum Cut {
    /// JSON inside a value.
    Json,
    /// Prometheus text inside a line.
    Text,
    /// JSON that is none from some place on.
    Broken,
}

impl Cut {
    /// What was passed over, where it is the end of a document.
    pub(in crate::audit) fn of(skipped: &Skipped<'_>) -> Option<Self> {
        match skipped.text {
            text if text == JSON_CUT.as_bytes() => Some(Self::Json),
            text if text == TEXT_CUT.as_bytes() => Some(Self::Text),
            text if text == JSON_BROKEN.as_bytes() => Some(Self::Broken),
            _ => None,
        }
    }
}

impl Figures {
    /// Names a document that is not whole.
    pub(in crate::audit) fn cut(&mut self, place: Place, cut: Cut) {
        let message = match cut {
            Cut::Json => {
                "the JSON is truncated: it ends inside a value here, and what that value says is not used; fetch or copy the \
                 document again"
            }
            Cut::Text => {
                "the scrape is truncated: it ends inside a line, so counters are missing, and none of it is used; scrape \
                 again"
            }
            Cut::Broken => {
                "the JSON is damaged: from here on it is none, and nothing behind this place is used; fetch or copy the \
                 document again"
            }
        };
        self.say(FindingCode::DocumentCut, Severity::Warning, place, message.to_owned());
    }
}
