//! Which files are of one server: logs of overlapping times are of different ones.

use crate::evidence::Place;
use crate::law::float;

use std::collections::BTreeMap;

/// Files that are told apart; later ones count as the first server's.
const MOST: usize = 1 << 12;

/// Throughputs that are kept in all, and per engine of a file.
const SPEEDS: usize = 1 << 24;
const SPEEDS_EACH: usize = 1 << 16;

/// The files with windows, each with its server, and the throughputs that engines printed.
#[derive(Clone, Debug, Default)]
pub(super) struct Sources {
    files: Vec<Source>,
    servers: usize,
    /// The first window of a second server.
    second: Option<Place>,
    /// Throughputs by file and engine.
    speeds: BTreeMap<(u32, usize), Vec<f64>>,
    kept: usize,
}

#[derive(Clone, Debug)]
struct Source {
    file: u32,
    server: usize,
    first: String,
    last: String,
}

impl Sources {
    /// The server of a window that no file had before: that of its file. A file that begins within the time of another one is
    /// of another server; one that goes on where another one ended may be its continuation.
    pub(super) fn server(&mut self, place: Place, time: Option<&str>) -> usize {
        let Some(time) = time else { return self.known(place.file) };
        if let Some(source) = self.files.iter_mut().rev().find(|source| source.file == place.file) {
            if source.last.as_str() < time {
                time.clone_into(&mut source.last);
            }
            return source.server;
        }
        if self.files.len() >= MOST {
            return 0;
        }
        let is_within = |source: &Source| source.first.as_str() <= time && time < source.last.as_str();
        let is_free =
            |server: &usize| !self.files.iter().any(|source| source.server == *server && is_within(source));
        let server = (0..self.servers).find(is_free).unwrap_or(self.servers);
        self.servers = self.servers.max(server + 1);
        if server > 0 {
            self.second.get_or_insert(place);
        }
        self.files.push(Source { file: place.file, server, first: time.to_owned(), last: time.to_owned() });
        server
    }

    /// The servers, where there are several, and the first window of the second one.
    pub(super) fn apart(&self) -> Option<(usize, Place)> {
        Some((self.servers, self.second?))
    }

    /// Keeps the throughput of an engine.
    pub(super) fn speed(&mut self, file: u32, engine: usize, speed: f64) {
        let speeds = self.speeds.entry((file, engine)).or_default();
        if speeds.len() < SPEEDS_EACH && self.kept < SPEEDS {
            speeds.push(speed);
            self.kept += 1;
        }
    }

    /// What another engine's lines said counts no more.
    pub(super) fn forget_speeds(&mut self) {
        self.speeds.clear();
        self.kept = 0;
    }

    /// The throughputs of each engine of each server.
    pub(super) fn speeds(&mut self) -> Vec<Vec<f64>> {
        let mut engines: BTreeMap<(usize, usize), Vec<f64>> = BTreeMap::new();
        for ((file, engine), speeds) in std::mem::take(&mut self.speeds) {
            engines.entry((self.known(file), engine)).or_default().extend(speeds);
        }
        engines.into_values().collect()
    }

    /// The server of a file; the first one's for files without windows of their own, such as copies.
    fn known(&self, file: u32) -> usize {
        self.files.iter().find(|source| source.file == file).map_or(0, |source| source.server)
    }
}

/// Median and mean of the throughputs of all engines, each summed over them.
pub(super) fn speed(engines: &[Vec<f64>]) -> (Option<f64>, Option<f64>) {
    let (mut median, mut mean) = (None, None);
    for speeds in engines.iter().filter(|speeds| !speeds.is_empty()) {
        let mut sorted = speeds.clone();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.get(sorted.len() / 2).copied().unwrap_or(0.0);
        let sum: f64 = sorted.iter().sum();
        let count = float(u64::try_from(sorted.len()).unwrap_or(1));
        median = Some(median.unwrap_or(0.0) + middle);
        mean = Some(mean.unwrap_or(0.0) + sum / count);
    }
    (median, mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The servers of files, each with its first and its last time.
    fn servers(files: &[(&str, &str)]) -> Vec<usize> {
        let mut sources = Sources::default();
        let mut found = Vec::new();
        for (file, (first, last)) in (0..).zip(files) {
            let server = sources.server(Place { file, line: 1 }, Some(first));
            assert_eq!(sources.server(Place { file, line: 2 }, Some(last)), server);
            found.push(server);
        }
        found
    }

    #[test]
    fn files_of_one_time_are_of_several_servers() {
        let (early, late) = (("10-12 01:00:00", "10-12 02:00:00"), ("10-12 02:00:00", "10-12 03:00:00"));
        assert_eq!(servers(&[early, late]), [0, 0]);
        assert_eq!(servers(&[late, early]), [0, 0]);
        assert_eq!(servers(&[early, early, early]), [0, 1, 2]);
        assert_eq!(servers(&[early, late, early, late]), [0, 0, 1, 1]);
        assert_eq!(servers(&[early, early, late, late]), [0, 1, 0, 1]);
        assert_eq!(servers(&[early, ("10-12 01:30:00", "10-12 04:00:00")]), [0, 1]);
    }

    #[test]
    fn throughputs_of_servers_add_up() {
        let mut sources = Sources::default();
        for file in 0..3 {
            sources.speed(file, 0, 70.0);
        }
        let window = |file| Place { file, line: 1 };
        sources.server(window(0), Some("10-12 01:00:00"));
        sources.server(window(0), Some("10-12 02:00:00"));
        sources.server(window(1), Some("10-12 01:00:00"));
        // The third one is a copy of the first: it has no window of its own.
        assert_eq!(speed(&sources.speeds()), (Some(140.0), Some(140.0)));
    }
}
