//! What the targets of single engines share.

use accsim::audit::{Options, PointBuilder, judge};
use accsim::evidence::{Place, Record, Scanner};
use accsim::golden::Target;
use accsim::report::json::write_record;

/// The first byte picks a head for every line; all lines are read at once and one by one, and must say the same.
pub(crate) fn check(bytes: &[u8], heads: &[&str]) {
    let Some((pick, rest)) = bytes.split_first() else { return };
    let mut text = Vec::new();
    for (index, line) in rest.split_inclusive(|byte| *byte == b'\n').enumerate() {
        text.extend_from_slice(heads[(usize::from(*pick) + index) % heads.len()].as_bytes());
        text.extend_from_slice(line);
    }
    let mut point = PointBuilder::new("log");
    let mut found = Vec::new();
    let mut scanner = Scanner::new(0);
    scanner.lines(&text, &mut |place: Place, record: &Record<'_>| {
        point.add(place, record);
        found.push(format!("{record:?}"));
        let mut json = Vec::new();
        write_record(&mut json, "log", place.line, record).expect("memory takes all");
        serde_json::from_slice::<serde_json::Value>(&json).expect("JSON");
    });
    let mut again = Vec::new();
    let mut scanner = Scanner::new(0);
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        scanner.lines(line, &mut |_, record: &Record<'_>| again.push(format!("{record:?}")));
    }
    assert_eq!(found, again);

    let seen = point.finish();
    let report = judge(&seen, Target::explicit(2.5, 4).ok().as_ref(), &Options::default());
    if let Some(accept_len) = report.accept_len {
        assert!(accept_len.mean >= 1.0 && accept_len.mean.is_finite());
    }
}
