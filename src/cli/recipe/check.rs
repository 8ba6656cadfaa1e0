//! `accsim recipe check`.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, bail};
use rayon::prelude::*;

use crate::cli::apart::{apart, is_same};
use crate::cli::global::{Color, Global};
use crate::cli::output::{write_text, write_to};
use crate::cli::{Exit, catalogue};
use crate::golden::{Catalogue, Severity};
use crate::recipe::{
    Date, Judged, Kind, Master, Options, ReadError, SelectorError, is_candidate, judge, parse_master, read,
};
use crate::report::json::recipe::CheckDocument;
use crate::report::recipe::CheckRun;
use crate::report::{github, json, junit, sarif, text};

use super::collect::{Target, targets};
use super::command::{CheckArgs, CheckFormat};
use super::settings::{Rule, Settings};
use super::{git, place};

/// What one file came to.
enum Outcome {
    Judged {
        servers: usize,
        judged: Judged,
        rule: Rule,
    },
    /// A master configuration.
    Master,
    /// Another kind of file.
    Unknown,
    /// Left out, or nothing that a walk should report.
    Skipped,
    Failed(String),
}

pub(super) fn run(
    args: &CheckArgs,
    global: &Global,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let settings = Settings::open(args.config.as_deref(), args.no_config)?;
    let catalogue = catalogue::open(global)?;
    let (mut files, errors) = targets(&paths(args, &settings)?);
    let masters = masters(args, &settings, &files)?;
    if settings.is_present() && !args.paths.is_empty() {
        files.extend(pinned_by(&files, &masters, &settings));
    }
    if let Some(output) = &args.output {
        let is_read = |file: &Target| {
            let outcome = one(file, args, &settings, &catalogue, &[]);
            matches!(outcome, Outcome::Judged { .. } | Outcome::Master)
        };
        spared(output, &files, &masters, &settings, is_read)?;
    }
    if let Some(base) = &args.base {
        let touched = git::touched(base)?;
        // With other rules every file may be judged otherwise.
        if !settings.file().is_some_and(|file| touched.contains(file)) {
            files.retain(|file| is_touched(file, &touched, &masters));
        }
    }
    let today = args.today.unwrap_or_else(today);
    let masters: Vec<Master> = masters.into_iter().map(|(_, master)| master).collect();
    let outcomes = global.on_threads(|| {
        files
            .par_iter()
            .map(|file| one(file, args, &settings, &catalogue, &masters))
            .collect::<Vec<Outcome>>()
    })?;
    let mut run = CheckRun { errors, ..CheckRun::default() };
    for (file, outcome) in files.iter().zip(outcomes) {
        take(&mut run, file, outcome, &settings, today);
    }
    run.findings.sort_by(|a, b| (&a.file, a.at).cmp(&(&b.file, b.at)));
    tell(&run, args, global, err)?;
    if matches!(format(args), CheckFormat::Sarif | CheckFormat::Github) {
        place::from_the_top(&mut run);
    }
    write(&run, args, global, out)?;
    let mut exit = if run.is_undecided { Exit::Undecided } else { Exit::Ok };
    if run.files.is_empty() && !args.skip_unknown && args.base.is_none() {
        exit = Exit::Undecided;
    }
    if run.count(Severity::Error) > 0 {
        exit = exit.worst(Exit::Wrong);
    }
    if !run.errors.is_empty() {
        exit = Exit::Failed;
    }
    Ok(exit)
}

/// Refuses to write the report over what it is about: a file that is checked, a master configuration, the settings.
fn spared(
    output: &Path,
    files: &[Target],
    masters: &[(PathBuf, Master)],
    settings: &Settings,
    is_read: impl Fn(&Target) -> bool,
) -> anyhow::Result<()> {
    // A report of an earlier run, which a walk finds again, is none of them.
    let is_about = |file: &&Target| file.is_named || is_same(&file.path, output) && is_read(file);
    let files = files.iter().filter(is_about).map(|file| file.path.as_path());
    let masters = masters.iter().map(|(path, _)| path.as_path());
    apart(files.chain(masters).chain(settings.file()), [Some(output)])
}

/// The paths of the command line, else those of the configuration, else its folder.
fn paths(args: &CheckArgs, settings: &Settings) -> anyhow::Result<Vec<String>> {
    if !args.paths.is_empty() {
        return Ok(args.paths.clone());
    }
    if !settings.is_present() {
        if args.base.is_some() {
            return Ok(vec![".".to_owned()]);
        }
        bail!(
            "no path was given, and there is no accsim.toml that names any; name files or folders, as accsim recipe check ."
        );
    }
    Ok(of_configuration(settings))
}

/// The paths of the configuration, else its folder.
fn of_configuration(settings: &Settings) -> Vec<String> {
    let own = [".".to_owned()];
    let named = if settings.config.paths.is_empty() { &own[..] } else { &settings.config.paths };
    settings.here(named).into_iter().map(|path| path.to_string_lossy().into_owned()).collect()
}

/// The master configurations of flags and configuration; with a flag, also those among the files.
fn masters(
    args: &CheckArgs,
    settings: &Settings,
    files: &[Target],
) -> anyhow::Result<Vec<(PathBuf, Master)>> {
    let mut paths: Vec<PathBuf> = args.master.clone();
    paths.extend(settings.here(&settings.config.master));
    let mut masters = Vec::new();
    paths.dedup();
    for path in &paths {
        let shown = path.display();
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
        let master = parse_master(&path.to_string_lossy(), &text).with_context(|| shown.to_string())?;
        masters.push((path.clone(), master));
    }
    if !args.master.is_empty() {
        // `--master A B RECIPE`: what is a master configuration among the files is one.
        for file in files.iter().filter(|file| file.is_named && !paths.contains(&file.path)) {
            let Ok(Ok(text)) = file_text(file) else { continue };
            if let Ok(master) = parse_master(&file.name(), &text) {
                masters.push((file.path.clone(), master));
            }
        }
    }
    Ok(masters)
}

/// The recipes of the configuration that a master configuration among the files names: a change of it may be one of theirs.
fn pinned_by(files: &[Target], masters: &[(PathBuf, Master)], settings: &Settings) -> Vec<Target> {
    let named: BTreeSet<PathBuf> =
        files.iter().filter(|file| file.is_named).map(|file| place::whole(&file.path)).collect();
    let given: Vec<&Master> = masters
        .iter()
        .filter(|(path, _)| named.contains(&place::whole(path)))
        .map(|(_, master)| master)
        .collect();
    if given.is_empty() {
        return Vec::new();
    }
    let held: BTreeSet<PathBuf> = files.iter().map(|file| place::whole(&file.path)).collect();
    // What the configuration's own paths lack is for a check of all of it to say.
    let (mut all, _) = targets(&of_configuration(settings));
    all.retain(|file| {
        !held.contains(&place::whole(&file.path)) && given.iter().any(|master| master.names(&file.name()))
    });
    all
}

/// The text of a file that is no standard input.
fn file_text(file: &Target) -> std::io::Result<Result<String, std::string::FromUtf8Error>> {
    if file.path == Path::new("-") {
        return Ok(Ok(String::new()));
    }
    file.bytes().map(String::from_utf8)
}

/// A file that the change touches, or that a touched master configuration pins.
fn is_touched(file: &Target, touched: &BTreeSet<PathBuf>, masters: &[(PathBuf, Master)]) -> bool {
    touched.contains(&place::whole(&file.path))
        || masters
            .iter()
            .any(|(path, master)| touched.contains(&place::whole(path)) && master.names(&file.name()))
}

fn one(
    file: &Target,
    args: &CheckArgs,
    settings: &Settings,
    catalogue: &Catalogue,
    masters: &[Master],
) -> Outcome {
    let name = file.name();
    let failed = |why: &dyn std::fmt::Display| Outcome::Failed(format!("{name}: {why}"));
    let bytes = match file.bytes() {
        Ok(bytes) => bytes,
        Err(error) => return failed(&error),
    };
    if !file.is_named && !is_candidate(&name, &bytes) {
        return Outcome::Skipped;
    }
    let rule = settings.rule(&file.path);
    if rule.is_excluded {
        return Outcome::Skipped;
    }
    if let Some(kind) = packed(&bytes) {
        return failed(&format!(
            "{kind}: recipes are read as plain files; unpack it, and give the files or their folder"
        ));
    }
    let Ok(text) = String::from_utf8(bytes) else { return failed(&"not UTF-8; expected text") };
    let document = match read(&name, &text) {
        Ok(Some(document)) => document,
        Ok(None) => return Outcome::Unknown,
        Err(error) => return Outcome::Failed(located(&name, &error)),
    };
    if document.kind == Kind::Master {
        return Outcome::Master;
    }
    if let Some(selector) = &file.selector {
        let known = document.variant_names();
        if known.is_empty() {
            return failed(&SelectorError::NoBase(selector.to_string()));
        }
        if !known.iter().any(|name| selector.matches(name)) {
            return failed(&SelectorError::NoMatch { selector: selector.to_string(), known });
        }
    }
    let options = Options {
        model: args.model.as_deref().or(rule.model.as_deref()),
        thinking: args.thinking.map(Into::into).or(rule.thinking),
        masters,
        scenario: rule.scenario,
        selector: file.selector.as_ref(),
    };
    let judged = judge(&document, &name, catalogue, &options);
    Outcome::Judged { servers: document.servers(), judged, rule }
}

/// What kind of archive or compressed file begins like this.
fn packed(bytes: &[u8]) -> Option<&'static str> {
    const HEADS: [(&[u8], &str); 6] = [
        (b"\x1f\x8b", "a gzip file"),
        (b"\x28\xb5\x2f\xfd", "a zstd file"),
        (b"\xfd7zXZ\0", "an xz file"),
        (b"PK\x03\x04", "a zip archive"),
        (b"PK\x05\x06", "a zip archive"),
        (b"BZh", "a bzip2 file"),
    ];
    let head = HEADS.iter().find(|(head, _)| bytes.starts_with(head)).map(|(_, kind)| *kind);
    // A tar archive says so behind its first name.
    head.or_else(|| (bytes.get(257..262) == Some(b"ustar")).then_some("a tar archive"))
}

/// `file:line:column: what`, as editors jump to it.
fn located(name: &str, error: &ReadError) -> String {
    let message = error.to_string();
    match error.at() {
        // An error that begins with its place does not say it twice.
        Some(at) => {
            let bare = message.strip_prefix(&format!("{at}: ")).unwrap_or(&message);
            format!("{name}:{}:{}: {bare}", at.line, at.column)
        }
        None => format!("{name}: {error}"),
    }
}

fn take(run: &mut CheckRun, file: &Target, outcome: Outcome, settings: &Settings, today: Date) {
    match outcome {
        Outcome::Judged { servers, judged, rule } => {
            run.files.push(file.name());
            run.servers += servers;
            run.notes.extend(judged.notes);
            run.is_undecided |= judged.is_undecided;
            for mut finding in judged.findings {
                let about: Vec<_> = settings
                    .config
                    .allow
                    .iter()
                    .filter(|entry| entry.is_about(&rule.path, &finding))
                    .collect();
                if let Some(entry) = about.iter().find(|entry| entry.holds_on(today)) {
                    run.allowed.push((finding, (*entry).clone()));
                    continue;
                }
                if let Some(entry) = about.first() {
                    finding.message =
                        format!("{}; the exception for it expired on {}", finding.message, entry.expires);
                }
                run.findings.push(finding);
            }
        }
        Outcome::Master => run.files.push(file.name()),
        Outcome::Unknown => {
            if file.is_named {
                run.unknown.push(file.name());
            }
        }
        Outcome::Skipped => {}
        Outcome::Failed(why) => run.errors.push(why),
    }
}

/// What is no result goes to stderr; JSON carries it itself.
fn tell(run: &CheckRun, args: &CheckArgs, global: &Global, err: &mut dyn Write) -> anyhow::Result<()> {
    for error in &run.errors {
        writeln!(err, "error: {error}")?;
    }
    if global.quiet || format(args) == CheckFormat::Json {
        return Ok(());
    }
    for note in &run.notes {
        writeln!(err, "note: {}:{}:{}: {}", note.file, note.at.line, note.at.column, note.message)?;
    }
    let is_nothing = run.files.is_empty() && run.unknown.is_empty() && run.errors.is_empty();
    if is_nothing && !args.skip_unknown && args.base.is_none() {
        writeln!(err, "note: no recipe, launcher or environment file was found there")?;
    }
    for name in &run.unknown {
        writeln!(
            err,
            "note: {name}: nothing here can be checked: no server or setting of an engine known here"
        )?;
    }
    Ok(())
}

fn format(args: &CheckArgs) -> CheckFormat {
    if args.json { CheckFormat::Json } else { args.format }
}

fn write(run: &CheckRun, args: &CheckArgs, global: &Global, out: &mut dyn Write) -> anyhow::Result<()> {
    if format(args) == CheckFormat::Text && global.color != Color::Always {
        return write_text(args.output.as_deref(), out, |out| text::recipe::check(out, run));
    }
    write_to(args.output.as_deref(), out, |out| match format(args) {
        CheckFormat::Json => json::write(out, &CheckDocument::new(run)),
        CheckFormat::Text => text::recipe::check(out, run),
        CheckFormat::Sarif => sarif::write_check(run, out),
        CheckFormat::Junit => junit::write_check(run, out),
        CheckFormat::Github => github::write_check(run, out),
    })
}

/// Today, UTC: the one thing that depends on the clock, and only exceptions ask for it.
fn today() -> Date {
    const DAY_S: u64 = 86_400;
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    Date::from_days(u32::try_from(since / DAY_S).unwrap_or(u32::MAX))
}
