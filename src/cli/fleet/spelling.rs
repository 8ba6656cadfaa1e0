//! One spelling for each name of a log, by its words alone: no file system is asked.

/// A name without `.`, doubled slashes and folders that are left again (`x/..`). What stands before the name's own beginning
/// (`../a.log`) stays, and so does a URL, and what an archive calls its members. A link is not followed: `x/../a.log` may be
/// another file than `a.log`, and then it is told from it by what it holds.
pub(in crate::cli) fn spelled(name: &str) -> String {
    folded(name, true)
}

/// The same with `x/..` as it is: the file is surely the same.
pub(super) fn plain(name: &str) -> String {
    folded(name, false)
}

fn folded(name: &str, folds_parents: bool) -> String {
    if name.contains("://") {
        return name.to_owned();
    }
    let (outside, inside) = match name.split_once("!/") {
        Some((outside, inside)) => (outside, Some(inside)),
        None => (name, None),
    };
    let root = if outside.starts_with('/') { "/" } else { "" };
    let mut steps: Vec<&str> = Vec::new();
    for step in outside.split('/') {
        match (step, steps.last()) {
            ("" | ".", _) => {}
            ("..", Some(last)) if folds_parents && *last != ".." => drop(steps.pop()),
            ("..", None) if folds_parents && !root.is_empty() => {}
            _ => steps.push(step),
        }
    }
    let mut folded = format!("{root}{}", steps.join("/"));
    if folded.is_empty() && !outside.is_empty() {
        folded.push('.');
    }
    match inside {
        Some(inside) => format!("{folded}!/{inside}"),
        None => folded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_has_one_spelling() {
        for (name, one, same) in [
            ("a.log", "a.log", "a.log"),
            ("./a.log", "a.log", "a.log"),
            ("x/../a.log", "a.log", "x/../a.log"),
            ("dd/./x//y.log", "dd/x/y.log", "dd/x/y.log"),
            ("../../a.log", "../../a.log", "../../a.log"),
            ("x/../../a.log", "../a.log", "x/../../a.log"),
            ("/../a/", "/a", "/../a"),
            ("./", ".", "."),
            (".", ".", "."),
            ("x/..", ".", "x/.."),
            ("", "", ""),
            ("./a.tar!/./b/../c.log", "a.tar!/./b/../c.log", "a.tar!/./b/../c.log"),
            ("s3://bucket/./a//b/../c", "s3://bucket/./a//b/../c", "s3://bucket/./a//b/../c"),
            ("...", "...", "..."),
        ] {
            assert_eq!((spelled(name).as_str(), plain(name).as_str()), (one, same), "{name}");
            assert_eq!(spelled(&spelled(name)), spelled(name));
        }
    }
}
