//! Any number of threads gives what one gives, in the same order.

use std::fs;
use std::num::NonZeroUsize;

use accsim::evidence::{Input, Limits, Reader};

use crate::pack::{gzip, tar, zip};
use crate::read::{self, Outcome, decode_line, short_log};

/// Reads with `threads` threads, each log into a list of its own.
fn on_threads(inputs: &[Input], threads: usize) -> Outcome {
    let mut reader = Reader::new(Limits::default());
    let mut logs = Vec::new();
    let errors = reader.read_each(
        inputs,
        NonZeroUsize::new(threads).unwrap(),
        |_| Vec::new(),
        |found, line, record| found.push((line, format!("{record:?}"))),
        |index, found| {
            assert_eq!(index as usize, logs.len());
            logs.push(found);
        },
    );
    let names = reader.files().iter().map(|file| file.name.clone());
    Outcome { logs: names.zip(logs).collect(), errors, passed_over: reader.passed_over().to_vec() }
}

#[test]
fn threads_change_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, content: &[u8]| fs::write(directory.path().join(name), content).unwrap();
    for file in 0..40 {
        let log = decode_line(file).repeat(1 + file * 37 % 11);
        write(&format!("{file:02}.log"), log.as_bytes());
    }
    // More logs in one file than a thread may have waiting.
    let names: Vec<String> = (0..50).map(|entry| format!("{entry}.log")).collect();
    let log = short_log();
    let entries: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &log[..])).collect();
    write("10-many.tar.gz", &gzip(&tar(&entries)));
    write("11-many.zip", &zip(&entries, ::zip::CompressionMethod::Deflated));
    let cut = gzip(&tar(&entries));
    write("12-cut.tar.gz", &cut[..cut.len() / 2]);
    write("13.png", b"\x89PNG\r\n\x1a\n");
    let inputs = [Input::from(directory.path()), Input::from(&*directory.path().join("05.log"))];

    let expected = read::with(Limits::default(), |reader, sink| reader.read_all(&inputs, sink));
    assert!(expected.names().len() > 141 && expected.errors.len() == 1 && expected.passed_over.len() == 1);
    for threads in [1, 2, 3, 8, 64] {
        assert_eq!(on_threads(&inputs, threads), expected, "{threads} threads");
    }
}

#[test]
fn no_files_at_all() {
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(on_threads(&[], 4), Outcome::default());
    assert_eq!(on_threads(&[Input::from(directory.path())], 4), Outcome::default());
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
