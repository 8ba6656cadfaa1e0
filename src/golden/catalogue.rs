//! The curves at hand: the compiled-in ones, or those of a directory.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::builtin::BUILTIN;
use super::directory::{self, DirectoryError, PROVENANCE_DIR, ReadError};
use super::{Curve, CurveIssue, IssueKind, check_provenance, parse_curve};

/// Where a catalogue's curves are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CatalogueOrigin {
    /// `golden_al/` as it was when the program was built.
    BuiltIn,
    /// A directory that the user named.
    Directory(PathBuf),
}

/// Curves by name. A curve is parsed when it is first asked for.
///
/// ```
/// use accsim::golden::{Catalogue, Thinking};
///
/// let catalogue = Catalogue::builtin();
/// let curve = catalogue.get("glm5.2_mtp").and_then(|entry| entry.load().curve.as_ref().ok());
/// let cells: Vec<String> = curve.into_iter().flat_map(|curve| curve.values(Thinking::On)).map(|(_, al)| al.to_string()).collect();
/// assert_eq!(cells[..4].join(" "), "1.84 2.50 2.99 3.33");
/// assert_eq!(catalogue.nearest("glm5.2_mpt")[0], "glm5.2_mtp");
/// ```
#[derive(Debug)]
pub struct Catalogue {
    origin: CatalogueOrigin,
    entries: BTreeMap<String, Entry>,
    unnamed: Vec<PathBuf>,
}

/// One curve of a catalogue, not necessarily a usable one.
#[derive(Debug)]
pub struct Entry {
    name: String,
    file: String,
    curve: Text,
    provenance: Option<Text>,
    loaded: OnceLock<Loaded>,
}

type Text = Result<Cow<'static, [u8]>, ReadError>;

/// What became of a curve file and of the provenance beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The curve with its provenance, or the finding that makes its file as a whole unusable.
    pub curve: Result<Curve, CurveIssue>,
    /// Findings in the curve file.
    pub issues: Vec<CurveIssue>,
    /// Findings in the provenance file.
    pub provenance_issues: Vec<CurveIssue>,
}

impl Catalogue {
    /// The curves of `golden_al/` as compiled in.
    #[must_use]
    pub fn builtin() -> Self {
        let entries = BUILTIN.iter().map(|file| {
            let curve = Ok(Cow::Borrowed(file.curve.as_bytes()));
            let provenance = Some(Ok(Cow::Borrowed(file.provenance.as_bytes())));
            Entry::new(file.name.to_owned(), format!("golden_al/{}.yaml", file.name), curve, provenance)
        });
        Self {
            origin: CatalogueOrigin::BuiltIn,
            entries: entries.map(|entry| (entry.name.clone(), entry)).collect(),
            unnamed: Vec::new(),
        }
    }

    /// The curve files (`*.yaml`) directly in `directory`, each with `provenance/<curve>.yaml` where that exists.
    ///
    /// A file that cannot be read or used spoils no other curve: asking for it says what is wrong.
    pub fn from_dir(directory: &Path) -> Result<Self, DirectoryError> {
        let read = directory::read_catalogue(directory)?;
        let entries = read.curves.into_iter().map(|file| {
            let label = file.path.display().to_string();
            let owned = |text: Result<Vec<u8>, ReadError>| text.map(Cow::Owned);
            Entry::new(file.name, label, owned(file.curve), file.provenance.map(owned))
        });
        Ok(Self {
            origin: CatalogueOrigin::Directory(directory.to_owned()),
            entries: entries.map(|entry| (entry.name.clone(), entry)).collect(),
            unnamed: read.unnamed,
        })
    }

    /// One curve file, wherever it lies, with `provenance/<curve>.yaml` beside it where that exists.
    #[must_use]
    pub fn of_file(path: &Path) -> Entry {
        let file = directory::read_curve(path);
        let owned = |text: Result<Vec<u8>, ReadError>| text.map(Cow::Owned);
        Entry::new(file.name, path.display().to_string(), owned(file.curve), file.provenance.map(owned))
    }

    /// Where the curves are.
    #[must_use]
    pub fn origin(&self) -> &CatalogueOrigin {
        &self.origin
    }

    /// The names in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// The curves in the order of their names.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }

    /// The curve of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.get(name)
    }

    /// YAML files of the directory whose names no lookup can use.
    #[must_use]
    pub fn unnamed(&self) -> &[PathBuf] {
        &self.unnamed
    }

    /// Names that look like `name`, the most similar first.
    #[must_use]
    pub fn nearest(&self, name: &str) -> Vec<String> {
        super::nearest::nearest(name, self.names())
    }
}

impl Entry {
    fn new(name: String, file: String, curve: Text, provenance: Option<Text>) -> Self {
        Self { name, file, curve, provenance, loaded: OnceLock::new() }
    }

    /// The curve's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The curve's file, for display.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The file of the provenance, for display.
    #[must_use]
    pub fn provenance_file(&self) -> String {
        let (directory, file) = self.file.rsplit_once(['/', '\\']).unwrap_or((".", &self.file));
        format!("{directory}/{PROVENANCE_DIR}/{file}")
    }

    /// The curve, parsed at the first call.
    pub fn load(&self) -> &Loaded {
        self.loaded.get_or_init(|| self.parse())
    }

    fn parse(&self) -> Loaded {
        let mut loaded = match &self.curve {
            Ok(bytes) => {
                let parsed = parse_curve(&self.name, bytes);
                Loaded { curve: parsed.curve, issues: parsed.issues, provenance_issues: Vec::new() }
            }
            Err(error) => {
                let issue = unreadable(error);
                Loaded { curve: Err(issue.clone()), issues: vec![issue], provenance_issues: Vec::new() }
            }
        };
        match &self.provenance {
            None => {}
            Some(Err(error)) => loaded.provenance_issues.push(unreadable(error)),
            Some(Ok(bytes)) => match check_provenance(&self.name, bytes, loaded.curve.as_ref().ok()) {
                Ok((provenance, issues)) => {
                    loaded.provenance_issues = issues;
                    if let Ok(curve) = &mut loaded.curve {
                        curve.method = Some(provenance.method.clone());
                        curve.provenance = Some(provenance);
                    }
                }
                Err(issue) => loaded.provenance_issues.push(issue),
            },
        }
        loaded
    }
}

fn unreadable(error: &ReadError) -> CurveIssue {
    CurveIssue { at: None, kind: IssueKind::Unreadable(error.to_string()) }
}
