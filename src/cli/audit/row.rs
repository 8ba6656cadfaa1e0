//! One run of a manifest, audited as the command line would audit it alone.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::ensure;
use clap::{Args as _, FromArgMatches as _, ValueEnum as _};

use super::settings::SettingFiles;
use super::{AuditArgs, Folders, Judged, LogEngine, Options, Replaying, Wanted, once, wanted};
use crate::audit::{Confidence, Margin, Moment, RivalCell, Verdict};
use crate::cli::Global;
use crate::cli::fleet::spelled;
use crate::cli::format::ReportFlags;
use crate::evidence::Input;
use crate::recipe::Selector;
use crate::report::AuditRun;
use crate::report::fleet::FleetPoint;

/// The target of rows, with what there is to say about it.
pub(in crate::cli) type RowTarget = (Wanted, Vec<String>);

/// What came of a row.
#[derive(Debug, Default)]
pub(in crate::cli) struct RowResult {
    pub(in crate::cli) points: Vec<FleetPoint>,
    pub(in crate::cli) failures: Vec<String>,
    pub(in crate::cli) notes: Vec<String>,
}

impl AuditArgs {
    /// These flags, of a row, with what they leave open as the command line has it.
    pub(in crate::cli) fn inherit(
        mut self,
        base: &Self,
        has_target: bool,
        has: impl Fn(&str) -> bool,
    ) -> Self {
        let base = base.clone();
        if !has_target {
            (self.model, self.method, self.draft_length) = (base.model, base.method, base.draft_length);
            (self.cell, self.expect_real) = (base.cell, base.expect_real);
            (self.accept_length, self.max_accept_length) = (base.accept_length, base.max_accept_length);
            (self.env, self.recipe) = (base.env, base.recipe);
        }
        let mut set = |name: &str, set: &mut dyn FnMut(&mut Self)| {
            if !has(name) {
                set(&mut self);
            }
        };
        set("margin", &mut |row| row.margin = base.margin);
        set("confidence", &mut |row| row.confidence = base.confidence);
        set("decode_log_interval", &mut |row| row.decode_log_interval = base.decode_log_interval);
        set("since", &mut |row| row.since.clone_from(&base.since));
        set("until", &mut |row| row.until.clone_from(&base.until));
        set("engine", &mut |row| row.engine = base.engine);
        set("skip_lines", &mut |row| row.skip_lines = base.skip_lines);
        set("point_by", &mut |row| row.point_by = base.point_by);
        self.replay = self.replay.inherit(&base.replay, has("replay"));
        self.limits = base.limits;
        self
    }

    /// No flags but how to print.
    pub(in crate::cli) fn bare(format: ReportFlags, output: Option<PathBuf>) -> anyhow::Result<Self> {
        let command = Self::augment_args(clap::Command::new("audit"));
        let args = Self::from_arg_matches(&command.try_get_matches_from(["audit", "-"])?)?;
        Ok(Self { format, output, ..args })
    }

    /// Refuses flags that do not go together.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        self.replay.check()?;
        match (&self.since, &self.until) {
            (Some(since), Some(until)) => Ok(Moment::check_order(since, until)?),
            _ => Ok(()),
        }
    }

    /// How to judge, against these other cells.
    pub(super) fn options(&self, cells: Vec<RivalCell>) -> Options {
        Options {
            margin: self.margin,
            confidence: self.confidence,
            decode_log_interval: self.decode_log_interval,
            expect_real: self.expect_real,
            cells,
            replay: self.replay.mode(),
        }
    }

    /// What decides about the verdict, as columns of a manifest. Files about the run are not among them: what they say
    /// is.
    pub(in crate::cli) fn flags(&self) -> BTreeMap<String, String> {
        let mut flags = BTreeMap::new();
        let mut set = |name: &str, value: Option<String>| {
            flags.extend(value.map(|value| (name.to_owned(), value)));
        };
        set("model", self.model.clone());
        set("method", self.method.clone());
        set("draft_length", self.draft_length.map(|length| length.to_string()));
        set("draft_model", self.cell.draft_model.clone());
        set("draft_sample_method", self.cell.draft_sample_method.clone());
        let thinking = self.cell.thinking.to_possible_value();
        set("thinking", thinking.filter(|_| self.model.is_some()).map(|value| value.get_name().to_owned()));
        set("accept_length", self.accept_length.map(|length| length.to_string()));
        set("max_accept_length", self.max_accept_length.map(|length| length.to_string()));
        set("expect_real", self.expect_real.then(|| "true".to_owned()));
        set("margin", (self.margin != Margin::default()).then(|| margin(self.margin)));
        let confidence = self.confidence.get();
        set("confidence", (self.confidence != Confidence::default()).then(|| confidence.to_string()));
        set("decode_log_interval", self.decode_log_interval.map(|interval| interval.to_string()));
        let engine = self.engine.to_possible_value();
        set(
            "engine",
            engine.filter(|_| self.engine != LogEngine::Auto).map(|value| value.get_name().to_owned()),
        );
        set("since", self.since.as_ref().map(ToString::to_string));
        set("until", self.until.as_ref().map(ToString::to_string));
        for (name, value) in self.replay.columns() {
            set(name, Some(value));
        }
        flags
    }

    /// The same flags with paths that are spelled in another way.
    pub(in crate::cli) fn with_paths(&self, spelled: impl Fn(&str) -> String) -> Self {
        let path = |path: &PathBuf| path.to_str().map_or_else(|| path.clone(), |path| spelled(path).into());
        Self { paths: self.paths.iter().map(path).collect(), ..self.clone() }
    }

    /// All files and folders that the result rests on.
    pub(in crate::cli) fn inputs(&self) -> Vec<PathBuf> {
        // A selector is no part of the file's name.
        let recipe = self.recipe.as_ref().map(|recipe| {
            recipe.to_str().map_or_else(|| recipe.clone(), |recipe| PathBuf::from(Selector::split(recipe).0))
        });
        self.paths.iter().chain(&self.env).cloned().chain(recipe).collect()
    }

    /// Files beside the logs that say what the run was told, where the flags do not: they are read with logs that are named
    /// one by one. Beside those of a folder lie others of its files.
    pub(in crate::cli) fn beside(&self, folders: &Folders) -> Vec<PathBuf> {
        if self.env.is_some() || self.recipe.is_some() {
            return Vec::new();
        }
        folders.saying_beside(&self.paths)
    }

    /// What rows with an equal one have their target in common by.
    pub(in crate::cli) fn target_key(&self) -> String {
        let explicit = (self.accept_length, self.max_accept_length, self.expect_real);
        format!("{:?}", (&self.model, &self.method, self.draft_length, &self.cell, explicit))
    }

    /// The target of a row.
    pub(in crate::cli) fn row_target(&self, global: &Global) -> anyhow::Result<RowTarget> {
        wanted(self, global)
    }
}

/// A margin as it is written on a command line.
fn margin(margin: Margin) -> String {
    match margin {
        // What binary arithmetic leaves behind the 12th digit was not typed.
        Margin::Share(share) => {
            let percent: f64 = format!("{:.11e}", share * 100.0).parse().unwrap_or(share * 100.0);
            format!("{percent}%")
        }
        Margin::Tokens(tokens) => tokens.to_string(),
    }
}

/// Audits a row.
pub(in crate::cli) fn audit_row(
    args: &AuditArgs,
    global: &Global,
    target: &RowTarget,
    cells: &[RivalCell],
    folders: &Folders,
) -> anyhow::Result<RowResult> {
    args.check()?;
    ensure!(
        args.paths.iter().all(|path| path != Path::new("-")),
        "standard input is no run of a manifest; name a file"
    );
    let (wanted, notes) = target;
    let mut told = SettingFiles::named(args.env.as_deref(), args.recipe.as_deref(), folders)?;
    let options = args.options(cells.to_vec());
    let replay = Replaying::new(args, wanted, &options);
    let inputs: Vec<Input> = args.paths.iter().map(|path| Input::from(path.as_path())).collect();
    let judged = once(args, &inputs, replay, wanted, &mut told, &options, global, &mut io::sink(), true)?;
    let Judged { mut points, files, failures, notes: own } = judged;
    // As parts have them.
    for point in &mut points {
        point.name = spelled(&point.name);
    }
    let verdict = points.iter().map(|point| point.verdict).reduce(Verdict::worst);
    let logs = files.iter().map(|file| file.name.as_str());
    let files: Vec<String> = logs.chain(told.names().iter().map(String::as_str)).map(spelled).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let run = AuditRun {
        points: &points,
        verdict: verdict.unwrap_or(Verdict::Insufficient),
        files: &files,
        errors: &failures,
        notes: &[],
    };
    let points = points.iter().map(|point| FleetPoint::new(&run, point)).collect::<Result<_, _>>()?;
    Ok(RowResult { points, failures, notes: notes.iter().cloned().chain(own).collect() })
}
