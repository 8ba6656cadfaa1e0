//! The line on stderr that says how far the reading is.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::evidence::Progress;
use crate::replay::{SEEDS, SeedSearch};

/// What takes less shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// Time between two looks at the counters.
const TICK: Duration = Duration::from_millis(100);

/// Time between two lines where stderr is no terminal.
const PLAIN_TICK: Duration = Duration::from_secs(30);

/// Characters that fit a narrow terminal.
const WIDTH: usize = 79;

/// Takes the line away again.
const CLEAR: &[u8] = b"\r\x1b[K";

/// A line on stderr that shows the progress of a reader, from one second on, until it is dropped.
///
/// Nothing is shown when stderr is no terminal. The line is drawn by a thread of its own, which looks at the reader's
/// counters; the reader does not know of it.
#[derive(Debug)]
pub(crate) struct ProgressLine {
    /// Dropped to end the thread.
    running: Option<(Sender<()>, JoinHandle<()>)>,
}

impl ProgressLine {
    /// Begins to watch; `quiet` shows nothing.
    #[must_use]
    pub(crate) fn show(progress: Arc<Progress>, quiet: bool) -> Self {
        Self::watch(quiet, move |elapsed| line(progress.read(), progress.total(), elapsed))
    }

    /// The same where it may take minutes: without a terminal, a plain line now and then.
    fn watch_or_print(quiet: bool, text: impl Fn(Duration) -> String + Send + 'static) -> Self {
        if quiet || io::stderr().is_terminal() {
            return Self::watch(quiet, text);
        }
        let running = terminal().ok().map(|stderr| {
            let (running, ended) = channel();
            let thread = thread::spawn(move || print_now_and_then(&stderr, &ended, PLAIN_TICK, &text));
            (running, thread)
        });
        Self { running }
    }

    /// Draws what `text` says of the time since the beginning.
    fn watch(quiet: bool, text: impl Fn(Duration) -> String + Send + 'static) -> Self {
        let terminal = if quiet || !io::stderr().is_terminal() { None } else { terminal().ok() };
        let running = terminal.map(|terminal| {
            let (running, ended) = channel();
            let thread = thread::spawn(move || {
                let began = Instant::now();
                let mut wait = PATIENCE;
                let mut drawn = false;
                while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                    wait = TICK;
                    drawn = true;
                    draw(&terminal, &text(began.elapsed()));
                }
                if drawn {
                    draw(&terminal, "");
                }
            });
            (running, thread)
        });
        Self { running }
    }
}

/// The same for a search through all seeds.
#[derive(Debug)]
pub(crate) struct SearchLine(#[expect(dead_code, reason = "held until the search is over")] ProgressLine);

impl SearchLine {
    /// Begins to watch; `quiet` shows nothing.
    #[must_use]
    pub(crate) fn show(search: Arc<SeedSearch>, quiet: bool) -> Self {
        Self(ProgressLine::watch_or_print(quiet, move |elapsed| seeds(search.tried(), elapsed)))
    }
}

/// The same for logs that grow: what is said last.
#[derive(Debug)]
pub(crate) struct FollowLine {
    said: Arc<Mutex<String>>,
    #[expect(dead_code, reason = "held until the following is over")]
    line: ProgressLine,
}

impl FollowLine {
    /// Begins to show; `quiet` shows nothing.
    #[must_use]
    pub(crate) fn show(quiet: bool) -> Self {
        let said = Arc::new(Mutex::new(String::new()));
        let heard = Arc::clone(&said);
        let line = ProgressLine::watch(quiet, move |_| {
            heard.lock().map_or_else(|_| String::new(), |said| said.clone())
        });
        Self { said, line }
    }

    /// Shows this from now on, cut to a narrow terminal.
    pub(crate) fn say(&self, text: &str) {
        if let Ok(mut said) = self.said.lock() {
            *said = text.chars().take(WIDTH).collect();
        }
    }
}

/// `trying seeds: 40 %, 5.1 million a second, 126 s left`.
fn seeds(tried: u64, elapsed: Duration) -> String {
    let percent = u128::from(tried) * 100 / u128::from(SEEDS);
    let per_second = u128::from(tried) * 1000 / elapsed.as_millis().max(1);
    let left = u128::from(SEEDS.saturating_sub(tried)).checked_div(per_second);
    let left = left.map_or(String::new(), |seconds| format!(", {seconds} s left"));
    let tenths = per_second / 100_000;
    format!("trying seeds: {percent} %, {}.{} million a second{left}", tenths / 10, tenths % 10)
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        if let Some((running, thread)) = self.running.take() {
            drop(running);
            // A thread that panicked has nothing left to clear.
            let _ = thread.join();
        }
    }
}

/// stderr by a handle of its own: the command holds the lock of the shared one while it runs.
#[cfg(unix)]
fn terminal() -> io::Result<File> {
    use std::os::fd::AsFd;
    Ok(io::stderr().as_fd().try_clone_to_owned()?.into())
}

/// See above.
#[cfg(windows)]
fn terminal() -> io::Result<File> {
    use std::os::windows::io::AsHandle;
    Ok(io::stderr().as_handle().try_clone_to_owned()?.into())
}

/// Writes a line each time so much time has gone, until the other end is dropped.
fn print_now_and_then(
    mut stderr: impl Write,
    ended: &Receiver<()>,
    tick: Duration,
    text: impl Fn(Duration) -> String,
) {
    let began = Instant::now();
    while ended.recv_timeout(tick) == Err(RecvTimeoutError::Timeout) {
        // Nobody can be told that stderr does not work.
        let _ = stderr.write_all(format!("{}\n", text(began.elapsed())).as_bytes());
    }
}

fn draw(mut terminal: &File, text: &str) {
    // Nobody can be told that stderr does not work.
    let _ = terminal.write_all(&[CLEAR, text.as_bytes()].concat());
}

/// `reading 1.20 GB of 4.00 GB (30 %), 512 MB/s, 5 s left`, short enough for a narrow terminal.
fn line(read: u64, total: Option<u64>, elapsed: Duration) -> String {
    let per_second = u128::from(read) * 1000 / elapsed.as_millis().max(1);
    // xz on a slow machine comes to a few.
    let speed = match per_second / 100_000 {
        tenths @ ..100 => format!("{}.{} MB/s", tenths / 10, tenths % 10),
        tenths => format!("{} MB/s", tenths / 10),
    };
    // A file that grows can be longer than it was.
    match total.filter(|total| *total >= read) {
        None => format!("reading {}, {speed}", amount(read)),
        Some(total) => {
            let percent = u128::from(read) * 100 / u128::from(total.max(1));
            let left = u128::from(total - read).checked_div(per_second);
            let left = left.map_or(String::new(), |seconds| format!(", {seconds} s left"));
            format!("reading {} of {} ({percent} %), {speed}{left}", amount(read), amount(total))
        }
    }
}

fn amount(bytes: u64) -> String {
    const GIGA: u64 = 1_000_000_000;
    if bytes < GIGA {
        format!("{} MB", bytes / 1_000_000)
    } else {
        format!("{}.{:02} GB", bytes / GIGA, bytes % GIGA / 10_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_lines_come_now_and_then() {
        let (running, ended) = channel();
        let (said, heard) = channel();
        let thread = thread::spawn(move || {
            let mut written = Vec::new();
            print_now_and_then(&mut written, &ended, Duration::from_millis(1), |elapsed| {
                let _ = said.send(());
                seeds(SEEDS / 2 + 1, elapsed + Duration::from_secs(100))
            });
            written
        });
        heard.recv().unwrap();
        drop(running);
        let written = String::from_utf8(thread.join().unwrap()).unwrap();
        assert!(written.lines().count() > 0 && written.ends_with('\n'), "{written}");
        assert!(
            written.lines().all(|line| line.starts_with("trying seeds: 50 %, ") && line.ends_with(" s left"))
        );
    }

    #[test]
    fn lines_with_and_without_an_end_in_sight() {
        let line = |read, total| line(read, total, Duration::from_millis(2_500));
        assert_eq!(
            line(1_250_000_000, Some(4_000_000_000)),
            "reading 1.25 GB of 4.00 GB (31 %), 500 MB/s, 5 s left"
        );
        assert_eq!(line(30_000_000, None), "reading 30 MB, 12 MB/s");
        assert_eq!(line(30_000_000, Some(20_000_000)), "reading 30 MB, 12 MB/s");
        assert_eq!(line(0, Some(20_000_000)), "reading 0 MB of 20 MB (0 %), 0.0 MB/s");
        let tried = seeds(SEEDS * 2 / 5, Duration::from_secs(100));
        assert_eq!(tried, "trying seeds: 40 %, 4.2 million a second, 150 s left");
        assert!(line(999_000_000_000, Some(999_000_000_000)).len() < 80);
    }
}
