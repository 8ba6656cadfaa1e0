//! The formats that hostile files are made of.

use std::path::Path;

/// What a file was before it was damaged: decides which commands it is given to, and the row it counts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Format {
    Sglang,
    Vllm,
    Trtllm,
    Atom,
    Packed,
    Counters,
    Export,
    Parquet,
    Curve,
    Recipe,
    Launcher,
    Settings,
    Manifest,
    Journal,
    Part,
    Model,
    Table,
    Profile,
}

impl Format {
    pub(crate) const ALL: [Self; 18] = [
        Self::Sglang,
        Self::Vllm,
        Self::Trtllm,
        Self::Atom,
        Self::Packed,
        Self::Counters,
        Self::Export,
        Self::Parquet,
        Self::Curve,
        Self::Recipe,
        Self::Launcher,
        Self::Settings,
        Self::Manifest,
        Self::Journal,
        Self::Part,
        Self::Model,
        Self::Table,
        Self::Profile,
    ];

    /// As the tables call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sglang => "logs of SGLang",
            Self::Vllm => "logs of vLLM",
            Self::Trtllm => "logs of TensorRT-LLM",
            Self::Atom => "logs of ATOM",
            Self::Packed => "archives, compressed files",
            Self::Counters => "Prometheus text",
            Self::Export => "JSON, JSON lines of exports",
            Self::Parquet => "Parquet exports",
            Self::Curve => "curves, provenance",
            Self::Recipe => "recipes",
            Self::Launcher => "launchers, compose, Dockerfiles",
            Self::Settings => "env files, traces",
            Self::Manifest => "manifests",
            Self::Journal => "journals",
            Self::Part => "parts",
            Self::Model => "throughput models",
            Self::Table => "CSV tables, traces",
            Self::Profile => "profiles, configurations",
        }
    }

    /// As the folder of its seeds is called.
    pub(crate) fn folder(self) -> &'static str {
        match self {
            Self::Sglang => "sglang",
            Self::Vllm => "vllm",
            Self::Trtllm => "trtllm",
            Self::Atom => "atom",
            Self::Packed => "packed",
            Self::Counters => "counters",
            Self::Export => "export",
            Self::Parquet => "parquet",
            Self::Curve => "curve",
            Self::Recipe => "recipe",
            Self::Launcher => "launcher",
            Self::Settings => "settings",
            Self::Manifest => "manifest",
            Self::Journal => "journal",
            Self::Part => "part",
            Self::Model => "model",
            Self::Table => "table",
            Self::Profile => "profile",
        }
    }

    pub(crate) fn named(folder: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.folder() == folder)
    }

    /// Of a file that lies in the repository. `None`: not a file that the program reads.
    pub(crate) fn of_repository(path: &Path) -> Option<Self> {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let is_below = |folder: &str| path.starts_with(folder);
        Some(match extension {
            "md" | "png" | "rs" => return None,
            _ if is_below("golden_al") => Self::Curve,
            _ if is_below("profiles") => Self::Profile,
            _ if is_below("fuzz/seeds/vllm") => Self::Vllm,
            _ if is_below("fuzz/seeds/trtllm") => Self::Trtllm,
            _ if is_below("fuzz/seeds/atom") => Self::Atom,
            _ if is_below("fuzz/seeds/recipe") => Self::Launcher,
            _ if is_below("tests/data/packed") && extension != "log" => Self::Packed,
            "log" => Self::Sglang,
            "prom" => Self::Counters,
            "trace" => Self::Settings,
            "yaml" => Self::Recipe,
            "csv" => Self::Table,
            "json" if is_below("tests/data/throughput") => Self::Model,
            "json" | "jsonl" => Self::Export,
            _ => return None,
        })
    }
}
