//! Any number of threads gives what one gives, in the same order.

use std::fs;
use std::num::NonZeroUsize;

use accsim::evidence::{Input, Limits, Place, Reader, Record, RecordSink};

use crate::pack::{gzip, tar, zip};
use crate::read::{self, Outcome, decode_line, short_log};

/// A log of a group: its number, its name, and its records with their lines.
type Log = (u32, String, Vec<(u64, String)>);

/// The logs of a group, and how many have ended.
#[derive(Default)]
struct Logs(Vec<Log>, usize);

impl RecordSink for Logs {
    fn begin(&mut self, file: u32, name: &str, _input: &str) {
        assert!(self.0.last().is_none_or(|(last, ..)| *last < file), "{file} {name}");
        assert_eq!(self.0.len(), self.1, "the last log has ended");
        self.0.push((file, name.to_owned(), Vec::new()));
    }

    fn record(&mut self, place: Place, record: &Record<'_>) {
        let (file, _, records) = self.0.last_mut().unwrap();
        assert_eq!(place.file, *file);
        records.push((place.line, format!("{record:?}")));
    }

    fn end(&mut self) {
        self.1 += 1;
    }
}

/// Reads with `threads` threads, each log into its group.
fn on_threads(inputs: &[Input], threads: usize, group: impl Fn(&str) -> String + Sync) -> Outcome {
    let mut reader = Reader::new(Limits::default()).with_threads(NonZeroUsize::new(threads).unwrap());
    let (groups, errors) = reader.read_groups(inputs, |log, _| group(log), |_| Logs::default());
    let firsts: Vec<u32> = groups.iter().map(|(_, logs)| logs.0[0].0).collect();
    assert!(firsts.is_sorted(), "{firsts:?}");
    let mut logs: Vec<_> = groups
        .into_iter()
        .flat_map(|(key, logs)| {
            assert!(logs.0.iter().all(|(_, name, _)| group(name) == key));
            logs.0
        })
        .collect();
    logs.sort_by_key(|(file, ..)| *file);
    for ((file, name, _), (number, expected)) in logs.iter().zip((0..).zip(reader.files())) {
        assert_eq!((*file, name), (number, &expected.name));
    }
    let logs = logs.into_iter().map(|(_, name, records)| (name, records)).collect();
    Outcome { logs, errors, passed_over: reader.passed_over().to_vec() }
}

#[test]
fn threads_change_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, content: &[u8]| fs::write(directory.path().join(name), content).unwrap();
    for file in 0..40 {
        let log = decode_line(file).repeat(1 + file * 37 % 11);
        match file % 3 {
            0 => write(&format!("{file:02}.log.gz"), &gzip(log.as_bytes())),
            _ => write(&format!("{file:02}.log"), log.as_bytes()),
        }
    }
    // Longer than what is read ahead, and read by as many threads as are free.
    for file in [3, 38] {
        let log = decode_line(file).repeat(7_000);
        write(&format!("{file:02}-long.log.gz"), &gzip(log.as_bytes()));
        write(&format!("{file:02}-long.log"), log.as_bytes());
    }
    let names: Vec<String> = (0..50).map(|entry| format!("{entry}.log")).collect();
    let log = short_log();
    let entries: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &log[..])).collect();
    write("10-many.tar.gz", &gzip(&tar(&entries)));
    write("11-many.zip", &zip(&entries, ::zip::CompressionMethod::Deflated));
    let cut = gzip(&tar(&entries));
    write("12-cut.tar.gz", &cut[..cut.len() / 2]);
    write("12-cut.log.gz", &gzip(&log)[..100]);
    write("13.png", b"\x89PNG\r\n\x1a\n");
    let inputs = [Input::from(directory.path()), Input::from(&*directory.path().join("05.log"))];

    let expected = read::with(Limits::default(), |reader, sink| reader.read_all(&inputs, sink));
    assert!(expected.names().len() > 141 && expected.errors.len() == 2 && expected.passed_over.len() == 1);
    for threads in [1, 2, 8, 64] {
        let each = on_threads(&inputs, threads, str::to_owned);
        let together = on_threads(&inputs, threads, |_| "all".to_owned());
        let some =
            on_threads(&inputs, threads, |log| log.bytes().map(|byte| byte % 5).sum::<u8>().to_string());
        for outcome in [each, together, some] {
            assert!(outcome == expected, "{threads} threads");
        }
    }
}

#[test]
fn no_files_at_all() {
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(on_threads(&[], 4, str::to_owned), Outcome::default());
    assert_eq!(on_threads(&[Input::from(directory.path())], 4, str::to_owned), Outcome::default());
}

/// Who asks to stop is heard, also within a file, and what was not read is no error.
#[test]
fn reading_stops_when_it_is_asked_to() {
    let log = decode_line(1).repeat(20_000);
    for content in
        [log.clone().into_bytes(), gzip(log.as_bytes()), tar(&[("a", log.as_bytes()), ("b", b"x")])]
    {
        let mut reader = Reader::default();
        let progress = reader.progress();
        let mut records = 0;
        let errors = reader.read_stream("x", &mut &content[..], &mut |_, _| {
            records += 1;
            progress.stop();
        });
        assert_eq!((errors.len(), reader.files().len()), (0, 1));
        assert!((1..20_000).contains(&records), "{records}");
    }
}

#[test]
fn progress_counts_what_lies_on_disk() {
    let directory = tempfile::tempdir().unwrap();
    let (plain, packed) = (short_log(), gzip(&short_log()));
    fs::write(directory.path().join("a"), &plain).unwrap();
    fs::write(directory.path().join("b"), &packed).unwrap();
    let length = (plain.len() + packed.len()) as u64;
    let mut reader = Reader::default();
    let progress = reader.progress();
    assert_eq!((progress.read(), progress.total()), (0, None));
    reader.read(&Input::from(directory.path()), &mut |_, _| assert_eq!(progress.total(), Some(length)));
    assert_eq!(progress.read(), length);
    reader.read_stream("x", &mut &plain[..], &mut |_, _| {});
    assert_eq!((progress.read(), progress.total()), (length + plain.len() as u64, None));
}
