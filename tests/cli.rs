//! What holds for every command: exit codes, streams, global options, colour, completions, the manual.

#![cfg(feature = "cli")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "Clippy's leave for tests ends at the test functions; their helpers fail the same way"
)]

use std::ffi::OsStr;
use std::io::Read;
use std::process::{Command, Output, Stdio};

use accsim::cli::{EXIT_FAILED, EXIT_OK, EXIT_UNDECIDED, EXIT_WRONG, Exit};

const ESCAPE: char = '\u{1b}';

fn accsim<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_accsim"));
    command.args(args).stdin(Stdio::null());
    for name in ["ACCSIM_GOLDEN_DIR", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command
}

fn words(line: &str) -> Command {
    accsim(line.split_whitespace())
}

fn run(line: &str) -> Output {
    words(line).output().unwrap()
}

fn code(output: &Output) -> u8 {
    u8::try_from(output.status.code().unwrap()).unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn bare_name_shows_help_on_stderr_and_fails() {
    for golden_dir in [None, Some("anywhere")] {
        let mut command = words("");
        if let Some(dir) = golden_dir {
            command.env("ACCSIM_GOLDEN_DIR", dir);
        }
        let output = command.output().unwrap();
        assert_eq!(code(&output), EXIT_FAILED);
        assert_eq!(stdout(&output), "");
        assert!(stderr(&output).contains("Usage: accsim"), "{}", stderr(&output));
    }
}

#[test]
fn help_and_version_are_results() {
    for line in ["--help", "-h", "help", "--version", "-V", "man --help", "help man", "man --version"] {
        let output = run(line);
        assert_eq!(code(&output), EXIT_OK, "{line}");
        assert_ne!(stdout(&output), "", "{line}");
        assert_eq!(stderr(&output), "", "{line}");
    }
    assert_eq!(stdout(&run("--version")), concat!("accsim ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn bad_command_lines_fail_and_say_why() {
    for (line, word) in [
        ("--no-such-flag", "--no-such-flag"),
        ("no-such-command", "no-such-command"),
        ("--color puce man", "never"),
        ("completions tcsh", "powershell"),
        ("completions", "<SHELL>"),
        ("man nothing", "completions"),
        ("man man nothing", "accsim man"),
    ] {
        let output = run(line);
        assert_eq!(code(&output), EXIT_FAILED, "{line}");
        assert_eq!(stdout(&output), "", "{line}");
        assert!(stderr(&output).starts_with("error: "), "{line}: {}", stderr(&output));
        assert!(stderr(&output).contains(word), "{line}: {}", stderr(&output));
    }
}

#[test]
fn codes_are_the_published_ones() {
    assert_eq!([EXIT_OK, EXIT_WRONG, EXIT_FAILED, EXIT_UNDECIDED], [0, 1, 2, 3]);
    assert_eq!(Exit::ALL.map(Exit::code), [0, 1, 2, 3]);
}

#[test]
fn every_help_lists_the_exit_codes() {
    for line in ["--help", "-h", "man --help", "completions -h"] {
        let help = stdout(&run(line));
        let (_, codes) = help.split_once("\nExit codes:\n").unwrap_or_else(|| panic!("{line}: {help}"));
        let listed: Vec<&str> = codes.lines().filter_map(|row| row.split_whitespace().next()).collect();
        assert_eq!(listed, ["0", "1", "2", "3"], "{line}");
    }
}

#[test]
fn worse_outcomes_win_in_the_published_order() {
    let order = [Exit::Ok, Exit::Undecided, Exit::Wrong, Exit::Failed];
    for (rank, better) in order.iter().enumerate() {
        for worse in &order[rank..] {
            assert_eq!(better.worst(*worse), *worse);
            assert_eq!(worse.worst(*better), *worse);
        }
    }
}

#[test]
fn global_options_stand_before_or_after_the_command() {
    let plain = stdout(&run("man completions"));
    for line in [
        "--quiet man completions",
        "man --quiet completions",
        "man completions -q",
        "--color never man completions",
        "man completions --color=never",
        "--golden-dir anywhere man completions",
        "man --golden-dir anywhere completions",
    ] {
        let output = run(line);
        assert_eq!(code(&output), EXIT_OK, "{line}: {}", stderr(&output));
        assert_eq!(stdout(&output), plain, "{line}");
    }
}

#[test]
fn empty_golden_dir_variable_counts_as_unset() {
    let output = words("man").env("ACCSIM_GOLDEN_DIR", "").output().unwrap();
    assert_eq!(code(&output), EXIT_OK, "{}", stderr(&output));
    assert_eq!(code(&accsim(["--golden-dir", "", "man"]).output().unwrap()), EXIT_FAILED);
}

/// Results of this size meet the closed pipe when they are flushed at the end.
#[test]
fn closed_pipe_ends_quietly() {
    for line in ["--help", "man", "completions zsh"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = words(line).stdout(writer).output().unwrap();
        assert_eq!(code(&output), EXIT_OK, "{line}");
        assert_eq!(stderr(&output), "", "{line}");
    }
}

/// Whoever stops reading still learns the verdict from the exit code.
#[test]
fn verdict_stands_when_nobody_reads_the_report() {
    let audit = "audit tests/data/h200/dspark_k5_al351.log --accept-length 3.51 --max-accept-length 6";
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = words(audit).current_dir(env!("CARGO_MANIFEST_DIR")).stdout(writer).output().unwrap();
    assert_eq!(code(&output), EXIT_WRONG, "{}", stderr(&output));
}

#[test]
fn closed_stderr_does_not_change_the_code() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let status = words("man nothing").stdout(Stdio::null()).stderr(writer).status().unwrap();
    assert_eq!(status.code(), Some(i32::from(EXIT_FAILED)));
}

#[cfg(target_os = "linux")]
#[test]
fn result_that_cannot_be_written_fails() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = words("man").stdout(full).output().unwrap();
    assert_eq!(code(&output), EXIT_FAILED);
    assert!(stderr(&output).starts_with("error: cannot write the result"), "{}", stderr(&output));
}

/// What a file holds or how it is called may stand in a message, and moves no terminal from there.
#[test]
fn messages_hold_nothing_that_a_terminal_obeys() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("accsim.toml");
    std::fs::write(&config, "a = '\u{1b}[2J\u{202e}'\r\u{9b}31m b\n").unwrap();
    let odd = folder.path().join("\u{1b}]0;title\u{7}");
    for args in [
        vec!["recipe".as_ref(), "check".as_ref(), ".".as_ref(), "--config".as_ref(), config.as_os_str()],
        vec!["audit".as_ref(), "--manifest".as_ref(), odd.as_os_str()],
        vec!["merge".as_ref(), odd.as_os_str()],
    ] {
        let output = accsim(args).output().unwrap();
        assert_eq!(code(&output), EXIT_FAILED);
        let acts = |letter: char| letter != '\n' && (letter.is_control() || letter == '\u{202e}');
        assert!(!stderr(&output).contains(acts), "{:?}", stderr(&output));
    }
}

#[test]
fn library_entry_writes_to_the_given_streams() {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let exit = accsim::cli::run(["accsim", "man", "nothing"], &mut out, &mut err);
    assert_eq!(exit, Exit::Failed);
    assert!(out.is_empty());
    assert!(String::from_utf8(err).unwrap().starts_with("error: no page for 'nothing'"));
}

#[test]
fn pipes_get_no_colour_unless_asked() {
    for line in
        ["--help", "man nothing", "--no-such-flag", "--color never --help", "--color never man nothing"]
    {
        let output = run(line);
        assert!(!stdout(&output).contains(ESCAPE), "{line}");
        assert!(!stderr(&output).contains(ESCAPE), "{line}");
    }
}

#[test]
fn always_colours_results_and_errors() {
    for line in ["--color always --help", "--color=always --help", "--help --color always"] {
        assert!(stdout(&run(line)).contains(ESCAPE), "{line}");
    }
    for line in
        ["man nothing --color always", "--color always --no-such-flag", "--no-such-flag --color=always"]
    {
        assert!(stderr(&run(line)).contains(ESCAPE), "{line}");
    }
}

/// `CLICOLOR_FORCE` stands in for a terminal here: it makes `auto` colour a pipe.
#[test]
fn no_color_counts_under_auto_and_a_flag_wins_over_it() {
    let coloured = |line: &str, variables: &[&str]| {
        let mut command = words(line);
        command.envs(variables.iter().map(|name| (name, "1")));
        stdout(&command.output().unwrap()).contains(ESCAPE)
    };
    assert!(coloured("--help", &["CLICOLOR_FORCE"]));
    assert!(!coloured("--help", &["CLICOLOR_FORCE", "NO_COLOR"]));
    assert!(!coloured("--help --color never", &["CLICOLOR_FORCE"]));
    assert!(coloured("--help --color always", &["NO_COLOR"]));
}

#[test]
fn completions_know_the_commands_and_shells() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let output = run(&format!("completions {shell}"));
        assert_eq!(code(&output), EXIT_OK, "{shell}");
        let script = stdout(&output);
        for word in ["accsim", "completions", "man", "golden-dir"] {
            assert!(script.contains(word), "{shell} lacks {word}");
        }
    }
}

/// Bash itself reads the script, where there is one.
#[test]
fn bash_accepts_its_script() {
    let Ok(mut bash) = Command::new("bash").arg("-n").stdin(Stdio::piped()).stderr(Stdio::piped()).spawn()
    else {
        return;
    };
    let script = words("completions bash").output().unwrap().stdout;
    std::io::Write::write_all(&mut bash.stdin.take().unwrap(), &script).unwrap();
    let mut complaints = String::new();
    bash.stderr.take().unwrap().read_to_string(&mut complaints).unwrap();
    assert!(bash.wait().unwrap().success(), "{complaints}");
}

/// The folder of a release: a page for each command at every depth, the same as printed one by one.
#[test]
fn all_pages_of_the_manual_go_to_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let output = accsim(["man", "--all", folder.path().to_str().unwrap()]).output().unwrap();
    assert_eq!((code(&output), stdout(&output)), (EXIT_OK, String::new()), "{}", stderr(&output));
    for (file, line) in [
        ("accsim.1", "man"),
        ("accsim-audit.1", "man audit"),
        ("accsim-throughput-pareto.1", "man throughput pareto"),
    ] {
        let page = std::fs::read_to_string(folder.path().join(file)).unwrap();
        assert_eq!(page, stdout(&run(line)), "{file}");
    }
    assert_eq!(code(&run("man --all no/such/folder")), EXIT_FAILED);
}

#[test]
fn manual_has_a_page_for_every_command() {
    let top = stdout(&run("man"));
    assert!(top.lines().any(|line| line.starts_with(".TH accsim 1 ")), "{top}");
    assert!(top.contains(r#".SH "EXIT STATUS""#), "{top}");

    let suffix = "(1)";
    let pages: Vec<&str> =
        top.lines().filter_map(|line| line.strip_prefix(r"accsim\-")?.strip_suffix(suffix)).collect();
    assert!(pages.contains(&"completions") && pages.contains(&"man"), "{pages:?}");
    for name in pages {
        let page = stdout(&run(&format!("man {name}")));
        assert!(page.lines().any(|line| line.starts_with(&format!(".TH accsim-{name} 1 "))), "{page}");
    }
}

/// A result that went to a file which it is made of would destroy what was measured.
#[test]
fn no_command_replaces_what_it_reads() {
    let folder = tempfile::tempdir().unwrap();
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/");
    let here = |name: &str| folder.path().join(name).display().to_string();
    std::fs::copy(format!("{root}tests/data/h200/e3k3_al299.log"), here("a.log")).unwrap();
    std::fs::copy(format!("{root}golden_al/glm5.2_mtp.yaml"), here("glm5.2_mtp.yaml")).unwrap();
    std::fs::write(here("told.env"), "SGLANG_SIMULATE_ACC_LEN=2.99\n").unwrap();
    std::fs::write(here("runs.csv"), "path,accept_length\na.log,2.99\n").unwrap();
    std::fs::write(here("launch.sh"), "python3 -m sglang.launch_server --model-path m\n").unwrap();
    assert_eq!(code(&run(&format!("audit {} --partial -o {}", here("a.log"), here("part")))), EXIT_OK);
    let (log, told, runs) = (here("a.log"), here("told.env"), here("runs.csv"));
    let (part, launch, curve) = (here("part"), here("launch.sh"), here("glm5.2_mtp.yaml"));
    for (line, file) in [
        (format!("audit {log} --accept-length 2.99 -o {log}"), &log),
        (format!("audit {log} --accept-length 2.99 --html {log}"), &log),
        (format!("audit {log} --accept-length 2.99 --partial -o {log}"), &log),
        (format!("audit {log} --env {told} -o {told}"), &told),
        (format!("audit --manifest {runs} -o {runs}"), &runs),
        (format!("audit --manifest {runs} --journal {runs}"), &runs),
        (format!("records {log} -o {log}"), &log),
        (format!("merge {part} -o {part}"), &part),
        (format!("signoff {log} -o {log}"), &log),
        (format!("signoff launch-diff {launch} {launch} -o {launch}"), &launch),
        (format!("curves plot {curve} -o {curve}"), &curve),
        (format!("throughput calibrate {log} --plot {log}"), &log),
    ] {
        let before = std::fs::read(file).unwrap();
        let output = run(&line);
        assert_eq!(code(&output), EXIT_FAILED, "{line}: {}", stdout(&output));
        assert!(stderr(&output).contains("it is an input; name another file"), "{line}: {}", stderr(&output));
        assert!(std::fs::read(file).unwrap() == before, "{line}");
    }
    let twice = run(&format!("audit {log} --accept-length 2.99 --html {0} -o {0}", here("x")));
    assert!(stderr(&twice).contains("cannot write two results"), "{}", stderr(&twice));
}

#[test]
fn only_drawings_go_to_svg_files() {
    let folder = tempfile::tempdir().unwrap();
    let log = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/h200/e3k3_al299.log");
    let file = folder.path().join("x.svg");
    let svg = file.display();
    for line in [
        format!("audit {log} --accept-length 2.99 --json -o {svg}"),
        format!("records {log} -o {svg}"),
        format!("simulate --accept-length 3 --num-steps 5 --json -o {svg}"),
        format!("throughput predict {log} --accept-length 2 --json -o {svg}"),
        format!("throughput calibrate {log} -o {svg}"),
    ] {
        let output = run(&line);
        assert_eq!(code(&output), EXIT_FAILED, "{line}");
        assert!(stderr(&output).contains("no drawing; name a file of another kind"), "{}", stderr(&output));
        assert!(!file.exists(), "{line}");
    }
    for line in [
        format!("audit {log} --accept-length 2.99 -o {svg}"),
        format!("simulate --accept-length 3.5 --num-steps 5 -o {svg}"),
        format!("throughput predict {log} --accept-length 2,2.5 -o {svg}"),
        format!("throughput calibrate {log} --plot {svg}"),
        format!("curves plot glm5.2_mtp -o {svg}"),
    ] {
        let output = run(&line);
        assert_eq!(code(&output), EXIT_OK, "{line}: {}", stderr(&output));
        assert!(std::fs::read_to_string(&file).unwrap().starts_with("<svg"), "{line}");
        std::fs::remove_file(&file).unwrap();
    }
}

/// Headings of groups of flags hold for their own flags alone.
#[test]
fn flags_of_the_result_stand_together() {
    for command in ["audit", "simulate", "signoff", "throughput predict", "throughput calibrate", "records"] {
        let help = stdout(&run(&format!("{command} --help")));
        let section = |heading: &str| -> Vec<&str> {
            let lines = help.lines().skip_while(|line| *line != heading).skip(1);
            lines.take_while(|line| line.is_empty() || line.starts_with(' ')).collect()
        };
        let result = section("The result:").join("\n");
        let limits = section("Limits on hostile input (per file):").join("\n");
        assert!(!limits.contains("--format") && !limits.contains("--output"), "{command}: {help}");
        assert!(result.contains("-o, --output"), "{command}: {help}");
    }
}
