//! The names that srt-slurm gives to the logs of its workers.

/// Which worker of a run a log belongs to, from its file name: srt-slurm writes `{node}_{mode}_w{worker}.out`, and
/// `.err` in older versions.
///
/// ```
/// use accsim::evidence::{Mode, WorkerName};
///
/// let name = WorkerName::parse("logs/gb200-01_node_decode_w12.out").unwrap();
/// assert_eq!((name.node, name.mode, name.worker), ("gb200-01_node", Mode::Decode, 12));
/// assert_eq!(WorkerName::parse("logs/server.log"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkerName<'a> {
    /// The host that wrote the log.
    pub node: &'a str,
    /// What the worker does.
    pub mode: Mode,
    /// Its number among the workers of its mode; one worker may run on several nodes.
    pub worker: u32,
}

/// What a worker of a deployment does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// Prefill only.
    Prefill,
    /// Decode only.
    Decode,
    /// Both (`agg`).
    Aggregated,
}

impl Mode {
    /// The word in the file name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Prefill => "prefill",
            Self::Decode => "decode",
            Self::Aggregated => "agg",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        [Self::Prefill, Self::Decode, Self::Aggregated].into_iter().find(|mode| mode.name() == word)
    }
}

impl<'a> WorkerName<'a> {
    /// Reads the last part of a path. A compression suffix behind the name (`.out.gz`) is passed over.
    #[must_use]
    pub fn parse(path: &'a str) -> Option<Self> {
        let file = path.rsplit('/').next()?;
        let file = [".gz", ".zst", ".xz"].iter().find_map(|suffix| file.strip_suffix(suffix)).unwrap_or(file);
        let stem = file.strip_suffix(".out").or_else(|| file.strip_suffix(".err"))?;
        let (rest, worker) = stem.rsplit_once("_w")?;
        let (node, mode) = rest.rsplit_once('_')?;
        if node.is_empty() || !worker.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        Some(Self { node, mode: Mode::parse(mode)?, worker: worker.parse().ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_workers() {
        let parsed = |path| WorkerName::parse(path).map(|name| (name.node, name.mode, name.worker));
        assert_eq!(parsed("node-7_prefill_w0.out"), Some(("node-7", Mode::Prefill, 0)));
        assert_eq!(parsed("a.tar.gz!/logs/n_agg_w3.err"), Some(("n", Mode::Aggregated, 3)));
        assert_eq!(parsed("n_decode_w1.out.gz"), Some(("n", Mode::Decode, 1)));
        assert_eq!(parsed("a_w1_decode_w2.out"), Some(("a_w1", Mode::Decode, 2)));
    }

    #[test]
    fn other_names() {
        for name in [
            "_decode_w0.out",
            "decode_w0.out",
            "n_decode_w.out",
            "n_decode_w+1.out",
            "n_decode_w0.log",
            "n_decode_w99999999999.out",
            "n_frontend_w0.out",
            "n_decode_0.out",
            "n_decode_w0.out/other",
        ] {
            assert_eq!(WorkerName::parse(name), None, "{name}");
        }
    }
}
