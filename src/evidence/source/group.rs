//! Which logs make one point: one run of one server.

use std::collections::{HashMap, HashSet};

use super::log::LogFile;
use super::worker::{Mode, WorkerName};

/// What makes logs one point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PointBy {
    /// Each input, be it a file, a directory or an archive; but one point a worker where files have the names of
    /// srt-slurm's workers.
    #[default]
    Path,
    /// Each directory, on disk or in an archive, that holds logs.
    Directory,
    /// Each worker where files have the names of srt-slurm's workers; each other file for itself.
    Worker,
}

/// The logs of one point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The input, the directory, the file, or `{directory}/{mode}_w{worker}`.
    pub name: String,
    /// What the worker does, where the files have the names of srt-slurm's workers.
    pub mode: Option<Mode>,
    /// Indices of the logs, rising.
    pub files: Vec<u32>,
}

/// Groups logs into points, in the order of the first log of each.
///
/// One worker that ran on several nodes is one point, whichever input led to its files, and so are its `.out` and its
/// `.err`. Workers of the same number in different directories are different ones.
///
/// Files without records (configurations, results, notes) belong to no point. But a worker's log does, except by
/// directory; and all files of an input that would have no point make one.
///
/// ```
/// use accsim::evidence::{LogFile, PointBy, group};
///
/// let file = |name: &str| LogFile { name: name.to_owned(), input: "run".into(), has_records: true };
/// let files = ["run/a_decode_w0.out", "run/a_decode_w1.out", "run/b_decode_w0.out"].map(file);
/// let points = group(&files, PointBy::Path);
/// assert_eq!(points[0].name, "run/decode_w0");
/// assert_eq!(points[0].files, [0, 2]);
/// assert_eq!(points[1].files, [1]);
/// ```
#[must_use]
pub fn group(files: &[LogFile], by: PointBy) -> Vec<Group> {
    let counts = |file: &LogFile| {
        file.has_records || (by != PointBy::Directory && WorkerName::parse(&file.name).is_some())
    };
    let with_points: HashSet<&str> =
        files.iter().filter(|file| counts(file)).map(|file| &*file.input).collect();
    let mut groups: Vec<Group> = Vec::new();
    let mut places: HashMap<Key<'_>, usize> = HashMap::new();
    for (index, file) in (0..).zip(files) {
        let key = if counts(file) {
            Key::of(&file.name, &file.input, by)
        } else if with_points.contains(&*file.input) {
            continue;
        } else {
            Key::Whole(&file.input)
        };
        let place = *places.entry(key).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.files.push(index),
            None => groups.push(Group { name: key.name(), mode: key.mode(), files: vec![index] }),
        }
    }
    groups
}

/// The name of the point that a log's records belong to, known before it is read: as [`group`] names it.
#[must_use]
pub fn point_name(log: &str, input: &str, by: PointBy) -> String {
    Key::of(log, input, by).name()
}

/// What the logs of a point have in common.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key<'a> {
    /// An input, a directory or a file.
    Whole(&'a str),
    Worker {
        directory: &'a str,
        mode: Mode,
        worker: u32,
    },
}

impl<'a> Key<'a> {
    fn of(log: &'a str, input: &'a str, by: PointBy) -> Self {
        let directory = directory(log);
        match (by, WorkerName::parse(log)) {
            (PointBy::Directory, _) => Self::Whole(if directory.is_empty() { "." } else { directory }),
            (_, Some(WorkerName { mode, worker, .. })) => Self::Worker { directory, mode, worker },
            (PointBy::Path, None) => Self::Whole(input),
            (PointBy::Worker, None) => Self::Whole(log),
        }
    }

    fn mode(self) -> Option<Mode> {
        match self {
            Self::Whole(_) => None,
            Self::Worker { mode, .. } => Some(mode),
        }
    }

    fn name(self) -> String {
        match self {
            Self::Whole(name) => name.to_owned(),
            Self::Worker { directory: "", mode, worker } => format!("{}_w{worker}", mode.name()),
            Self::Worker { directory, mode, worker } => {
                format!("{directory}/{}_w{worker}", mode.name())
            }
        }
    }
}

/// The directory of a log, on disk or in an archive; the archive itself for what lies at its top.
fn directory(name: &str) -> &str {
    let name = name.strip_prefix("./").unwrap_or(name);
    match name.rsplit_once('/') {
        Some((archive, _)) if archive.ends_with('!') => archive.strip_suffix('!').unwrap_or(archive),
        Some((directory, _)) => directory,
        None => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(list: &[(&str, &str, bool)]) -> Vec<LogFile> {
        let file = |(input, name, has_records): &(&str, &str, bool)| LogFile {
            name: (*name).to_owned(),
            input: (*input).into(),
            has_records: *has_records,
        };
        list.iter().map(file).collect()
    }

    fn named(files: &[LogFile], by: PointBy) -> Vec<(String, Vec<u32>)> {
        group(files, by).into_iter().map(|group| (group.name, group.files)).collect()
    }

    fn expected(groups: &[(&str, &[u32])]) -> Vec<(String, Vec<u32>)> {
        groups.iter().map(|(name, files)| ((*name).to_owned(), files.to_vec())).collect()
    }

    #[test]
    fn each_path_is_a_point() {
        let files = files(&[
            ("a.log", "a.log", true),
            ("runs", "runs/1.log", true),
            ("runs", "runs/deep/2.log", true),
            ("runs", "runs/results.json", false),
            ("b.tar", "b.tar!/x/3.log", true),
            ("-", "(standard input)", false),
        ]);
        let groups: &[(&str, &[u32])] = &[("a.log", &[0]), ("runs", &[1, 2]), ("b.tar", &[4]), ("-", &[5])];
        assert_eq!(named(&files, PointBy::Path), expected(groups));
    }

    #[test]
    fn each_directory_that_holds_logs_is_a_point() {
        let files = files(&[
            ("a.log", "a.log", true),
            ("./b.log", "./b.log", true),
            ("runs", "runs/n_decode_w0.out", true),
            ("runs", "runs/n_decode_w1.out", false),
            ("runs", "runs/2/x.log", true),
            ("b.tar", "b.tar!/3.log", true),
            ("b.tar", "b.tar!/y/4.log", true),
            ("notes", "notes/a/1.txt", false),
            ("notes", "notes/b/2.txt", false),
        ]);
        let groups: &[(&str, &[u32])] = &[
            (".", &[0, 1]),
            ("runs", &[2]),
            ("runs/2", &[4]),
            ("b.tar", &[5]),
            ("b.tar!/y", &[6]),
            ("notes", &[7, 8]),
        ];
        assert_eq!(named(&files, PointBy::Directory), expected(groups));
    }

    #[test]
    fn a_worker_is_one_point_over_its_nodes_and_inputs() {
        let files = files(&[
            ("one/a_decode_w0.out", "one/a_decode_w0.out", true),
            ("one/b_decode_w0.out", "one/b_decode_w0.out", false),
            ("one/a_prefill_w0.out", "one/a_prefill_w0.out", true),
            ("two", "two/a_decode_w0.out", true),
            ("two", "two/a_decode_w0.err", true),
            ("two", "two/router.log", true),
            ("two", "two/config.yaml", false),
            ("a_decode_w0.out", "a_decode_w0.out", true),
        ]);
        let groups: &[(&str, &[u32])] = &[
            ("one/decode_w0", &[0, 1]),
            ("one/prefill_w0", &[2]),
            ("two/decode_w0", &[3, 4]),
            ("two", &[5]),
            ("decode_w0", &[7]),
        ];
        assert_eq!(named(&files, PointBy::Path), expected(groups));
        let modes: Vec<_> = group(&files, PointBy::Path).into_iter().map(|group| group.mode).collect();
        assert_eq!(
            modes,
            [Some(Mode::Decode), Some(Mode::Prefill), Some(Mode::Decode), None, Some(Mode::Decode)]
        );
        let by_worker = named(&files, PointBy::Worker);
        assert_eq!(by_worker[3], ("two/router.log".to_owned(), vec![5]));
        assert_eq!(by_worker.len(), 5);
    }
}
