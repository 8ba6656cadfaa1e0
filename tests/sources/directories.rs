//! Directories with all that can lie in them.

#[cfg(unix)]
use std::os::unix::fs::symlink;
use std::path::Path;
use std::{fs, thread};

use accsim::evidence::{Failure, Limit, Limits, Why};
use tempfile::TempDir;

use crate::read::{self, Outcome, short_log};

/// A directory with a log under each of these paths.
fn logs(paths: &[&str]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for path in paths {
        let path = directory.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, short_log()).unwrap();
    }
    directory
}

/// The names that were read, without the directory itself.
fn below<'a>(directory: &TempDir, read: &'a Outcome) -> Vec<&'a str> {
    read.names().into_iter().map(|name| inside(directory, name)).collect()
}

fn inside<'a>(directory: &TempDir, name: &'a str) -> &'a str {
    name.strip_prefix(directory.path().to_str().unwrap()).and_then(|name| name.strip_prefix('/')).unwrap()
}

fn passed<'a>(directory: &TempDir, read: &'a Outcome) -> Vec<(&'a str, Why)> {
    read.passed_over.iter().map(|passed| (inside(directory, &passed.name), passed.why)).collect()
}

#[test]
fn files_come_in_the_order_of_their_names() {
    let directory = logs(&["b.log", "a/z.log", "a/b/c.log", "C.log", "d/a.log", "a.log"]);
    let read = read::path(directory.path());
    let expected = ["C.log", "a.log", "b.log", "a/z.log", "a/b/c.log", "d/a.log"];
    assert_eq!(below(&directory, &read), expected);
    assert_eq!((read.records().len(), read.errors.len(), read.passed_over.len()), (18, 0, 0));
}

#[test]
fn a_path_that_is_not_there() {
    let read = read::path(Path::new("/nowhere/at/all.log"));
    let [error] = &read.errors[..] else { panic!("{:?}", read.errors) };
    assert_eq!(error.to_string(), "cannot read /nowhere/at/all.log: No such file or directory (os error 2)");
}

#[cfg(unix)]
#[test]
fn links_are_followed_to_files_outside_and_nowhere_else() {
    let outside = logs(&["o.log", "dir/p.log"]);
    let directory = logs(&["a.log", "sub/b.log"]);
    let link = |target: &Path, name: &str| symlink(target, directory.path().join(name)).unwrap();
    link(&outside.path().join("o.log"), "to-file");
    link(&outside.path().join("dir"), "to-directory");
    link(Path::new("a.log"), "to-sibling");
    link(Path::new(".."), "sub/loop");
    link(Path::new("self"), "self");
    link(Path::new("gone"), "nowhere");
    let read = read::path(directory.path());
    assert_eq!(read.errors, []);
    assert_eq!(below(&directory, &read), ["a.log", "to-file", "sub/b.log"]);
    assert_eq!(
        passed(&directory, &read),
        [
            ("nowhere", Why::LinkToNothing),
            ("self", Why::LinkToNothing),
            ("to-directory", Why::LinkToDirectory),
            ("to-sibling", Why::LinkInside),
            ("sub/loop", Why::LinkToDirectory),
        ]
    );
    // Named itself, a link is what it points to.
    assert_eq!(read::path(&directory.path().join("to-directory")).records().len(), 3);
    assert_eq!(read::path(&directory.path().join("to-sibling")).records().len(), 3);
}

/// Makes a pipe; `false` where the system has none.
#[cfg(unix)]
fn make_pipe(path: &Path) -> bool {
    std::process::Command::new("mkfifo").arg(path).status().is_ok_and(|status| status.success())
}

#[cfg(unix)]
#[test]
fn pipes_and_sockets_are_read_only_when_they_are_named() {
    let directory = logs(&["a.log"]);
    let pipe = directory.path().join("pipe");
    if !make_pipe(&pipe) {
        return;
    }
    let _socket = std::os::unix::net::UnixListener::bind(directory.path().join("socket")).unwrap();
    symlink("pipe", directory.path().join("to-pipe")).unwrap();
    let read = read::path(directory.path());
    assert_eq!(below(&directory, &read), ["a.log"]);
    let special = |name| (name, Why::Special);
    assert_eq!(passed(&directory, &read), [special("pipe"), special("socket"), special("to-pipe")]);
    let writer = thread::spawn({
        let pipe = pipe.clone();
        move || fs::write(pipe, crate::pack::gzip(&short_log())).unwrap()
    });
    assert_eq!(read::path(&pipe).records().len(), 3);
    writer.join().unwrap();
}

/// A file that cannot be read is named, and the others are read. Memory of a process can be opened and not read.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_cannot_be_read() {
    let directory = logs(&["a.log", "z.log"]);
    symlink("/proc/self/mem", directory.path().join("memory")).unwrap();
    let read = read::path(directory.path());
    assert_eq!(below(&directory, &read), ["a.log", "z.log"]);
    let [error] = &read.errors[..] else { panic!("{:?}", read.errors) };
    assert_eq!(inside(&directory, &error.name), "memory");
    assert!(matches!(&error.failure, Failure::Io { .. }) && error.bytes == 0);
}

#[cfg(unix)]
#[test]
fn a_file_and_a_directory_without_permission() {
    use std::os::unix::fs::PermissionsExt;
    let directory = logs(&["a.log", "b.log", "closed/c.log"]);
    for closed in ["a.log", "closed"] {
        let path = directory.path().join(closed);
        fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
    }
    let read = read::path(directory.path());
    let open = fs::File::open(directory.path().join("a.log")).is_ok();
    fs::set_permissions(directory.path().join("closed"), fs::Permissions::from_mode(0o700)).unwrap();
    // The one who runs the tests may be allowed everything.
    if open {
        return;
    }
    assert_eq!(below(&directory, &read), ["b.log"]);
    let named: Vec<_> = read.errors.iter().map(|error| inside(&directory, &error.name)).collect();
    assert_eq!(named, ["closed", "a.log"]);
}

#[cfg(target_os = "linux")]
#[test]
fn names_on_disk_are_shown_as_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let directory = tempfile::tempdir().unwrap();
    for name in [&b"\x1b[2J.log"[..], b"\xff.log"] {
        fs::write(directory.path().join(OsStr::from_bytes(name)), short_log()).unwrap();
    }
    let read = read::path(directory.path());
    assert_eq!(below(&directory, &read), ["\\u{1b}[2J.log", "\u{fffd}.log"]);
    assert_eq!(read.records().len(), 6);
}

#[test]
fn files_that_are_no_text_are_passed_over_unless_they_are_named() {
    let directory = logs(&["a.log"]);
    let elf = directory.path().join("server");
    fs::write(&elf, [b"\x7fELF....\n", &short_log()[..]].concat()).unwrap();
    let read = read::path(directory.path());
    assert_eq!(passed(&directory, &read), [("server", Why::NotText("ELF"))]);
    assert_eq!(below(&directory, &read), ["a.log"]);
    assert_eq!(read::path(&elf).records().len(), 3);
}

#[test]
fn a_directory_with_too_much_in_it() {
    let directory = logs(&["a.log", "b.log", "c.log", "d/e.log", "d/f.log"]);
    assert_eq!(read::path_within(directory.path(), Limits::default().with_entries(6)).errors, []);
    let read = read::path_within(directory.path(), Limits::default().with_entries(5));
    assert_eq!(read.names().len(), 4);
    let root = directory.path().to_str().unwrap();
    assert_eq!(read.failures(), [(root, &Failure::OverLimit(Limit::Entries(5)))]);
}

#[test]
fn a_directory_too_deep() {
    let directory = logs(&["a.log", "1/b.log", "1/2/c.log", "z/d.log"]);
    let read = read::path_within(directory.path(), Limits::default().with_depth(1));
    assert_eq!(below(&directory, &read), ["a.log", "1/b.log", "z/d.log"]);
    assert_eq!(inside(&directory, &read.errors[0].name), "1/2");
    assert_eq!(read.errors[0].failure, Failure::OverLimit(Limit::Depth(1)));
}
