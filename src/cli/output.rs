//! `-o FILE`: a result that is there as a whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{anyhow, ensure};

/// Writes to `out`, or to the file that was named; `-` stands for `out`.
pub(crate) fn write_to(
    file: Option<&Path>,
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> anyhow::Result<()> {
    ensure!(
        !is_svg(file),
        "cannot write {}: what was asked for is no drawing; name a file of another kind",
        file.unwrap_or(Path::new("")).display()
    );
    write_drawing(file, out, write)
}

/// As [`write_to`], for what is written as SVG.
pub(crate) fn write_drawing(
    file: Option<&Path>,
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> anyhow::Result<()> {
    let Some(file) = file.filter(|file| !is_stdout(file)) else { return Ok(write(out)?) };
    ensure!(
        !is_other_picture(file),
        "cannot write {}: drawings are written as SVG; name a FILE.svg",
        file.display()
    );
    let written = whole_file(file, |created| {
        let mut buffer = BufWriter::new(created);
        write(&mut buffer)?;
        buffer.flush()
    });
    written.map_err(|error| refused(file, error))
}

/// Why a file could not be written, in the words of whoever named it.
fn refused(file: &Path, error: io::Error) -> anyhow::Error {
    let name = file.display();
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder {
        _ if file.is_dir() => anyhow!("cannot write {name}: it is a folder; name a file in it"),
        Some(folder) if error.kind() == io::ErrorKind::NotFound && !folder.exists() => {
            anyhow!("cannot write {name}: there is no folder {}; make it first", folder.display())
        }
        _ => anyhow::Error::new(error).context(format!("cannot write {name}")),
    }
}

/// As [`write_to`], for texts that may have colours: a file is no terminal and gets none.
pub(crate) fn write_text(
    file: Option<&Path>,
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> anyhow::Result<()> {
    if file.is_none() {
        return write_to(None, out, write);
    }
    let plain = plain(write)?;
    write_to(file, out, |out| out.write_all(&plain))
}

/// A text without the colours that it is written with.
pub(crate) fn plain(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    write(&mut text)?;
    Ok(anstream::adapter::strip_bytes(&text).into_vec())
}

/// Whether a result that goes there goes to standard output.
pub(crate) fn is_stdout(file: &Path) -> bool {
    file == Path::new("-")
}

/// Whether a result that goes there is to be a drawing: the name ends in `.svg`.
pub(crate) fn is_svg(file: Option<&Path>) -> bool {
    file.and_then(Path::extension).is_some_and(|extension| extension.eq_ignore_ascii_case("svg"))
}

/// Whether the name asks for a picture of a kind that nothing here writes.
fn is_other_picture(file: &Path) -> bool {
    const KINDS: [&str; 8] = ["png", "jpg", "jpeg", "gif", "webp", "pdf", "eps", "ps"];
    file.extension().is_some_and(|extension| KINDS.iter().any(|kind| extension.eq_ignore_ascii_case(kind)))
}

/// Writes a file beside the one that was named and renames it, so that nobody reads half of it.
///
/// A link stays a link: the file that it leads to is replaced. What is no regular file (a device, a pipe) is written
/// to as it is: renaming would put a file in its place.
pub(crate) fn whole_file<T>(file: &Path, write: impl FnOnce(&mut File) -> io::Result<T>) -> io::Result<T> {
    let target = match fs::metadata(file) {
        Ok(kind) if kind.is_file() => fs::canonicalize(file)?,
        Ok(_) => return write(&mut OpenOptions::new().write(true).open(file)?),
        Err(_) => file.to_owned(),
    };
    let (beside, mut created) = beside(&target)?;
    let written = write(&mut created).and_then(|result| fs::rename(&beside, &target).map(|()| result));
    if written.is_err() {
        // Whatever is left of it is of no use; the error says why.
        let _ = fs::remove_file(&beside);
    }
    written
}

/// A new file beside `target`; one that exists is nobody's to overwrite.
fn beside(target: &Path) -> io::Result<(PathBuf, File)> {
    let mut taken = None;
    for number in 0..16 {
        let mut name = target.as_os_str().to_owned();
        name.push(format!(".{}.{number}.tmp", std::process::id()));
        let path = PathBuf::from(name);
        match File::create_new(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => taken = Some(error),
            Err(error) => return Err(error),
        }
    }
    Err(taken.unwrap_or_else(|| io::ErrorKind::AlreadyExists.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_that_nobody_writes_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("curves.PNG");
        let refused = write_to(Some(&file), &mut io::sink(), |out| out.write_all(b"text")).unwrap_err();
        assert!(refused.to_string().ends_with("drawings are written as SVG; name a FILE.svg"), "{refused}");
        assert!(!file.exists());
    }

    #[test]
    fn a_drawing_is_asked_for_by_name_and_nothing_else_gets_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("report.svg");
        let refused = write_to(Some(&file), &mut io::sink(), |out| out.write_all(b"{}")).unwrap_err();
        assert!(refused.to_string().ends_with("is no drawing; name a file of another kind"), "{refused}");
        assert!(!file.exists());
        write_drawing(Some(&file), &mut io::sink(), |out| out.write_all(b"<svg/>")).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"<svg/>");
    }

    #[test]
    fn a_dash_is_standard_output() {
        let mut out = Vec::new();
        write_to(Some(Path::new("-")), &mut out, |out| out.write_all(b"result")).unwrap();
        assert_eq!(out, b"result");
        assert!(!Path::new("-").exists());
    }

    #[test]
    fn says_what_stands_in_the_way() {
        let folder = tempfile::tempdir().unwrap();
        let write = |file: &Path| {
            let refused = write_to(Some(file), &mut io::sink(), |out| out.write_all(b"text")).unwrap_err();
            format!("{refused:#}")
        };
        let found = write(folder.path());
        assert!(found.ends_with("it is a folder; name a file in it"), "{found}");
        let found = write(&folder.path().join("new/report.txt"));
        assert!(found.contains("there is no folder ") && found.ends_with("make it first"), "{found}");
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("report.txt");
        whole_file(&file, |created| created.write_all(b"old")).unwrap();
        whole_file(&file, |created| {
            created.write_all(b"ne")?;
            Err::<(), _>(io::Error::other("full"))
        })
        .unwrap_err();
        assert_eq!(fs::read(&file).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("real.txt"), folder.path().join("link.txt"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        whole_file(&link, |created| created.write_all(b"new")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_written_to_and_stays_a_pipe() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read(pipe).unwrap()
        });
        whole_file(&pipe, |opened| opened.write_all(b"through")).unwrap();
        assert_eq!(reader.join().unwrap(), b"through");
        assert!(!fs::symlink_metadata(&pipe).unwrap().is_file());
    }
}
