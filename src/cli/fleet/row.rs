//! One row of a manifest, and the flags of an audit that it stands for.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args as _, Command, FromArgMatches as _};
use serde_json::Value;

use super::spelling::spelled;
use crate::cli::audit::AuditArgs;
use crate::evidence::Input;
use crate::recipe::Selector;

/// Columns that name the target: a row with one of them says all about its target.
pub(in crate::cli) const TARGET: [&str; 11] = [
    "model",
    "method",
    "draft_length",
    "thinking",
    "draft_model",
    "draft_sample_method",
    "accept_length",
    "max_accept_length",
    "env",
    "recipe",
    "expect_real",
];

/// Other columns that stand for the flag of their name.
pub(in crate::cli) const OTHERS: [&str; 10] = [
    "engine",
    "replay",
    "margin",
    "confidence",
    "decode_log_interval",
    "random_seed",
    "since",
    "until",
    "skip_lines",
    "point_by",
];

/// What stands before the name of a label.
const LABEL: &str = "label_";

/// How alike a column is to one that it may have been meant for.
const ALIKE: f64 = 0.75;

/// One run.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    /// From 1, the heading not counted.
    pub(super) number: u64,
    /// Where it begins in the manifest, from 1.
    pub(super) line: u64,
    pub(super) paths: Vec<String>,
    /// Columns of flags with their values.
    pub(super) flags: BTreeMap<String, String>,
    pub(super) labels: BTreeMap<String, String>,
    /// Why it cannot be audited.
    pub(super) failure: Option<String>,
}

/// Refuses a column that nobody knows, by the nearest that somebody does.
pub(super) fn check_column(name: &str) -> Result<(), String> {
    let is_known = name == "path" || is_label(name) || TARGET.contains(&name) || OTHERS.contains(&name);
    if is_known {
        return Ok(());
    }
    if name == LABEL {
        return Err(format!("column '{name}': the label has no name; expected {LABEL}NAME"));
    }
    let known = ["path", "labels"].into_iter().chain(TARGET).chain(OTHERS);
    let alike = known.map(|known| (strsim::jaro(name, known), known)).filter(|(alike, _)| *alike >= ALIKE);
    Err(match alike.max_by(|left, right| left.0.total_cmp(&right.0)) {
        Some((_, nearest)) => {
            format!("unknown column '{name}'; did you mean '{nearest}', or, as a label, '{LABEL}{name}'?")
        }
        None => format!("unknown column '{name}'; if it is a label, name it '{LABEL}{name}'"),
    })
}

/// Whether a column is a label.
pub(super) fn is_label(name: &str) -> bool {
    name.strip_prefix(LABEL).is_some_and(|label| !label.is_empty())
}

/// The same for a key of a JSON line.
fn check_key(name: &str) -> Result<(), String> {
    if name == "labels" { Ok(()) } else { check_column(name) }
}

impl Row {
    /// A row of which nothing is known but why it cannot be audited.
    pub(super) fn failed(number: u64, line: u64, failure: String) -> Self {
        Self { number, line, failure: Some(failure), ..Self::default() }
    }

    /// A row of fields. What is wrong with one of them is a failure of the row, which keeps the others: whoever reads the
    /// result has to find it again.
    pub(super) fn new<'a>(
        number: u64,
        line: u64,
        fields: impl IntoIterator<Item = (&'a str, Value)>,
    ) -> Self {
        let mut row = Self { number, line, ..Self::default() };
        for (name, value) in fields {
            if let Err(error) = check_key(name).and_then(|()| row.field(name, value)) {
                row.failure.get_or_insert(error);
            }
        }
        if row.paths.is_empty() {
            row.failure.get_or_insert("no path".to_owned());
        }
        row
    }

    /// The row with the failure that it is read with.
    pub(super) fn failing(self, failure: String) -> Self {
        Self { failure: Some(failure), ..self }
    }

    /// All files and folders that it names.
    pub(super) fn inputs(&self, folder: &Path) -> Vec<PathBuf> {
        let files = ["env", "recipe"].into_iter().filter_map(|name| self.flags.get(name));
        let files = files.map(|file| Selector::split(file).0);
        self.paths.iter().map(String::as_str).chain(files).map(|path| under(folder, path)).collect()
    }

    /// Its paths, as tables show them.
    pub(super) fn name(&self, folder: &Path) -> String {
        let names = self.paths.iter().map(|path| spelled(&Input::from(under(folder, path).as_path()).name()));
        names.collect::<Vec<_>>().join(" ")
    }

    fn field(&mut self, name: &str, value: Value) -> Result<(), String> {
        match (name, value) {
            (_, Value::Null) => {}
            ("path", Value::Array(paths)) => {
                for path in paths {
                    self.path(&path)?;
                }
            }
            ("path", value) => self.path(&value)?,
            ("labels", Value::Object(labels)) => {
                for (label, value) in labels {
                    if !value.is_null() {
                        self.labels.insert(label.clone(), scalar(&label, &value)?);
                    }
                }
            }
            ("labels", _) => return Err("labels: expected an object".to_owned()),
            (name, value) => {
                let value = scalar(name, &value)?;
                match name.strip_prefix(LABEL) {
                    Some(label) => self.labels.insert(label.to_owned(), value),
                    None => self.flags.insert(name.to_owned(), value),
                };
            }
        }
        Ok(())
    }

    fn path(&mut self, value: &Value) -> Result<(), String> {
        let path = scalar("path", value)?;
        // It would be the manifest's own folder, and all that lies in it.
        if path.trim().is_empty() {
            return Err("the path is empty".to_owned());
        }
        self.paths.push(path);
        Ok(())
    }

    /// Whether the row names a target of its own.
    pub(super) fn has_target(&self) -> bool {
        TARGET.iter().any(|name| self.flags.contains_key(*name))
    }

    /// The flags of the row's audit: its own, and those of the command line where it has none.
    ///
    /// # Errors
    ///
    /// What clap says about a value.
    pub(super) fn args(&self, base: &AuditArgs, folder: &Path) -> Result<AuditArgs, String> {
        let mut words: Vec<OsString> = vec!["row".into()];
        for (name, value) in &self.flags {
            let flag = format!("--{}", name.replace('_', "-"));
            match name.as_str() {
                "expect_real" => match value.as_str() {
                    "true" | "1" => words.push(flag.into()),
                    "false" | "0" => {}
                    other => return Err(format!("expect_real: expected true or false, found '{other}'")),
                },
                "env" | "recipe" => {
                    let mut word = OsString::from(format!("{flag}="));
                    word.push(under(folder, value));
                    words.push(word);
                }
                _ => words.push(format!("{flag}={value}").into()),
            }
        }
        words.push("--".into());
        words.extend(self.paths.iter().map(|path| under(folder, path).into_os_string()));
        let command = AuditArgs::augment_args(Command::new("row").no_binary_name(false));
        let matches = command.try_get_matches_from(words).map_err(|error| first_line(&error))?;
        let row = AuditArgs::from_arg_matches(&matches).map_err(|error| first_line(&error))?;
        Ok(row.inherit(base, self.has_target(), |name| self.flags.contains_key(name)))
    }
}

/// What an error of clap says, without its advice about usage.
fn first_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let lines =
        text.lines().map(str::trim).take_while(|line| !line.is_empty() && !line.starts_with("Usage:"));
    lines.collect::<Vec<_>>().join(" ").trim_start_matches("error: ").to_owned()
}

/// A path as the manifest's folder has it; what names an object store is left alone.
fn under(folder: &Path, path: &str) -> PathBuf {
    if path.contains("://") { PathBuf::from(path) } else { folder.join(path) }
}

fn scalar(name: &str, value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Bool(flag) => Ok(flag.to_string()),
        // Numbers come as texts.
        _ => Err(format!("{name}: expected a text or a number")),
    }
}
