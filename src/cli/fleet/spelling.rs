//! One spelling for each name of a log.

use std::fs;
use std::path::Path;

/// A name without `.`, doubled slashes and folders that are left again (`x/..`): for these the file system is asked, as `..`
/// leads elsewhere where `x` is a link to another folder. Then the name stays as it is, and so does what stands before its own
/// beginning (`../a.log`), a URL, and what an archive calls its members.
pub(in crate::cli) fn spelled(name: &str) -> String {
    spelled_in(Path::new(""), name)
}

/// The same for a name that starts in this folder.
pub(super) fn spelled_in(folder: &Path, name: &str) -> String {
    if name.contains("://") {
        return name.to_owned();
    }
    let (outside, inside) = match name.split_once("!/") {
        Some((outside, inside)) => (outside, Some(inside)),
        None => (name, None),
    };
    let root = if outside.starts_with('/') { "/" } else { "" };
    let is_folder = |steps: &[&str]| {
        let path = folder.join(format!("{root}{}", steps.join("/")));
        fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir())
    };
    let mut steps: Vec<&str> = Vec::new();
    for step in outside.split('/') {
        match (step, steps.last()) {
            ("" | ".", _) => {}
            ("..", Some(last)) if *last != ".." && is_folder(&steps) => drop(steps.pop()),
            ("..", None) if !root.is_empty() => {}
            _ => steps.push(step),
        }
    }
    let mut short = format!("{root}{}", steps.join("/"));
    if short.is_empty() && !outside.is_empty() {
        short.push('.');
    }
    match inside {
        Some(inside) => format!("{short}!/{inside}"),
        None => short,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_has_one_spelling() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("x/y")).unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        for (name, one) in [
            ("a.log", "a.log"),
            ("./a.log", "a.log"),
            ("x/../a.log", "a.log"),
            ("x/y/../../a.log", "a.log"),
            ("dd/./x//y.log", "dd/x/y.log"),
            ("../../a.log", "../../a.log"),
            ("x/../../a.log", "../a.log"),
            ("none/../a.log", "none/../a.log"),
            ("file/../a.log", "file/../a.log"),
            ("/../a/", "/a"),
            ("./", "."),
            (".", "."),
            ("x/..", "."),
            ("", ""),
            ("./a.tar!/./b/../c.log", "a.tar!/./b/../c.log"),
            ("s3://bucket/./a//b/../c", "s3://bucket/./a//b/../c"),
            ("...", "..."),
        ] {
            let found = spelled_in(folder.path(), name);
            assert_eq!(found, one, "{name}");
            assert_eq!(spelled_in(folder.path(), &found), found);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_left_by_its_words() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("else/d/x")).unwrap();
        std::os::unix::fs::symlink("else/d", folder.path().join("ln")).unwrap();
        for (name, one) in [
            ("ln/../b.log", "ln/../b.log"),
            ("ln/x/../b.log", "ln/b.log"),
            ("ln/x/../../b.log", "ln/../b.log"),
        ] {
            assert_eq!(spelled_in(folder.path(), name), one, "{name}");
        }
    }
}
