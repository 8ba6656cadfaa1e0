//! Finds the commands that a Markdown page shows, and says how each is run.

use std::fmt::Write as _;

/// A stretch of a page. The pieces of a page, written one after another, are the page.
#[derive(Debug, PartialEq)]
pub(crate) enum Piece<'a> {
    /// What is copied as it stands.
    Text(&'a str),
    /// A command with what the page shows below it.
    Step(Step<'a>),
}

/// One `$ ` line of a `console` block and the lines down to the next one.
#[derive(Debug, PartialEq)]
pub(crate) struct Step<'a> {
    /// Line of the page, from 1.
    pub(crate) line: usize,
    /// The command behind `$ `.
    pub(crate) command: &'a str,
    /// `? 3` for an exit code other than 0, then stdout and stderr as they came.
    pub(crate) shown: &'a str,
}

/// What to do about a command.
#[derive(Debug, PartialEq)]
pub(crate) enum Action<'a> {
    /// Run accsim with these arguments.
    Run(Vec<&'a str>),
    /// Give it to a shell: a search with other people's tools.
    Shell(&'a str),
    /// Nothing: it is on the list of [`NOT_RUN`].
    Skip,
}

/// Commands that pages show and this test does not run, each for a reason.
pub(crate) const NOT_RUN: &[&str] = &[
    // It would run this very test.
    "./.ci/test",
    // It would write outside the project.
    "cargo install --path . --locked",
    // It opens a browser.
    "cargo doc --open",
    // It rewrites these very pages.
    "SNAPSHOTS=overwrite cargo test --test docs --test reports",
    // It takes a browser, and rewrites the pictures.
    "SCREENSHOTS=overwrite cargo test --manifest-path tests/browser/Cargo.toml",
    // It installs; `.ci/python` does the same in an environment of its own.
    "pip install ./python",
    // They install mdBook and serve the book until told to stop; `.ci/book` builds it.
    "python3 -m venv target/mdbook",
    "target/mdbook/bin/pip install --no-deps --require-hashes -r .ci/mdbook.txt",
    "target/mdbook/bin/mdbook serve --open",
    // They write files where they are run; tests/reports/html.rs runs their like elsewhere.
    "accsim audit tests/data/h200/e3k5_al351.log tests/data/h200/dp2_k5_al351.log --accept-length 3.51 --html audit.html",
    "accsim audit tests/data/h200/e3k5_al351.log --accept-length 3.51 -o audit.svg",
    "accsim throughput sweep tests/data/throughput/h200_k3_k5.json --curve glm5.2_mtp --html sweep.html",
    "accsim curves plot dsv41flash_dspark --html curves.html",
    // It measures; tests do not.
    "cargo bench",
    // It writes the page that it stands on; a test of its own compares the two.
    "cargo run --release --example accuracy",
    // They give thousands of files to the release binary: minutes.
    "cargo build --release",
    "cargo run --example hostile -- --files 2000 --commands 2",
    "cargo test --manifest-path tests/api/Cargo.toml",
    // They install a tool, build the crate several times, and take an hour.
    "cargo install cargo-mutants --locked --version 27.1.0",
    "cargo run --manifest-path tests/mutants/Cargo.toml -- ../mutation weave reach hunt table",
    "ACCSIM_TARGETS=--lib cargo run --manifest-path tests/mutants/Cargo.toml -- ../mutation weave reach again hunt table",
    // It takes half an hour.
    "cargo run --release --example calibrate",
    "./benches/anchors.sh /dev/shm/logs",
    // They take a nightly compiler and ten minutes.
    "cargo test --release --test replay foreign -- --ignored --nocapture",
    "fuzz/run.sh 600",
];

/// Fences whose commands would escape the check.
const SHELLS: &[&str] = &["sh", "bash", "zsh", "fish", "shell", "shell-session", "shellsession"];

/// Cuts a page into pieces.
pub(crate) fn pieces(page: &str) -> Result<Vec<Piece<'_>>, String> {
    let mut pieces = Vec::new();
    let mut fence: Option<(&str, usize)> = None;
    // Start of the piece that is being read, and its `$ ` line where it is a step.
    let mut from = 0;
    let mut step: Option<(usize, &str)> = None;
    let mut at = 0;
    for (index, line) in page.split_inclusive('\n').enumerate() {
        let number = index + 1;
        let text = line.trim_end();
        let is_console = matches!(fence, Some(("console", _)));
        let is_fence = text.trim_start().starts_with("```");
        if is_console && (is_fence || text.starts_with("$ ")) {
            match step.take() {
                Some((line, command)) => {
                    pieces.push(Piece::Step(Step { line, command, shown: &page[from..at] }));
                }
                None => pieces.push(Piece::Text(&page[from..at])),
            }
            from = at;
        }
        match fence {
            None if is_fence => {
                let info = text.trim_start_matches(['`', ' ']);
                if SHELLS.contains(&info) {
                    return Err(format!("line {number}: a {info} block is not checked; use console"));
                }
                if info == "console" && text != "```console" {
                    return Err(format!("line {number}: a console fence starts its line"));
                }
                fence = Some((info, number));
            }
            Some((info, opened)) if is_fence => {
                if text.trim_start() != "```" {
                    return Err(format!("line {number}: a fence inside the one of line {opened}"));
                }
                if info == "console"
                    && !matches!(pieces.last(), Some(Piece::Step(step)) if step.line > opened)
                {
                    return Err(format!("line {opened}: a console block without a command"));
                }
                fence = None;
            }
            Some(("console", _)) => {
                if let Some(command) = text.strip_prefix("$ ") {
                    step = Some((number, command));
                    pieces.push(Piece::Text(&page[from..at + line.len()]));
                    from = at + line.len();
                } else if step.is_none() {
                    return Err(format!("line {number}: a console block begins with a command"));
                }
            }
            Some(_) if text.starts_with("$ ") => {
                return Err(format!("line {number}: a command outside a console block"));
            }
            _ => {}
        }
        at += line.len();
    }
    if let Some((_, opened)) = fence {
        return Err(format!("line {opened}: a fence that is never closed"));
    }
    pieces.push(Piece::Text(&page[from..]));
    pieces.retain(|piece| *piece != Piece::Text(""));
    Ok(pieces)
}

impl<'a> Step<'a> {
    /// How the command is run: words between blanks, no shell in between unless it searches with grep.
    pub(crate) fn action(&self) -> Result<Action<'a>, String> {
        if NOT_RUN.contains(&self.command) {
            if self.shown.trim().is_empty() {
                return Ok(Action::Skip);
            }
            return Err(format!("line {}: output is shown of a command that is not run", self.line));
        }
        if is_search(self.command) {
            return Ok(Action::Shell(self.command));
        }
        let words = self
            .command
            .strip_prefix("accsim ")
            .or_else(|| self.command.strip_prefix("cargo run --release -- "))
            .ok_or_else(|| {
                format!("line {}: not checked and not on the list: {}", self.line, self.command)
            })?;
        if let Some(sign) = words.chars().find(|sign| r#"|&;<>()$`\"'*?[]{}#~!"#.contains(*sign)) {
            return Err(format!("line {}: no shell reads '{sign}' here: {}", self.line, self.command));
        }
        Ok(Action::Run(words.split_whitespace().collect()))
    }

    /// The shown text without the blank lines that set it off from what follows, and those lines.
    pub(crate) fn split_shown(&self) -> (&'a str, &'a str) {
        let end = self.shown.trim_end();
        let body = match self.shown[end.len()..].find('\n') {
            Some(newline) if !end.is_empty() => end.len() + newline + 1,
            _ => 0,
        };
        self.shown.split_at(body)
    }

    /// Whether the shown text elides everything, so that any output would do.
    pub(crate) fn shows_nothing(&self) -> bool {
        self.shown
            .lines()
            .all(|line| line.trim() == "..." || line.starts_with("? ") || line.trim().is_empty())
    }
}

/// Whether a command only reads: grep, or grep into awk.
fn is_search(command: &str) -> bool {
    let is_harmless = !command.contains(['>', '<', '`', ';', '&', '\n']) && !command.contains("$(");
    let searched = command.starts_with("grep ") && !command.contains("system");
    let mut parts = command.split(" | ");
    let is_one = |part: &str| !part.contains('|');
    parts.next().is_some_and(is_one)
        && parts.all(|part| part.starts_with("awk ") && is_one(part))
        && searched
        && is_harmless
}

/// What a page shows for an exit code and an output.
pub(crate) fn as_shown(code: i32, output: &str) -> Result<String, String> {
    let mut shown = String::new();
    if code != 0 {
        writeln!(shown, "? {code}").unwrap();
    }
    shown.push_str(output.trim_end_matches('\n'));
    if !shown.is_empty() && !shown.ends_with('\n') {
        shown.push('\n');
    }
    if shown.lines().any(|line| line.starts_with("$ ") || line.starts_with("```")) {
        return Err("the output would end its own block".to_owned());
    }
    Ok(shown)
}

const PAGE: &str = "\
# Title
```text
plain
```
```console
$ accsim one --flag
first
second

$ cargo run --release -- two
? 1
third
```
```console
$ ./.ci/test
```
end
";

fn steps(page: &str) -> Vec<Step<'_>> {
    let steps = pieces(page).unwrap().into_iter().filter_map(|piece| match piece {
        Piece::Step(step) => Some(step),
        Piece::Text(_) => None,
    });
    steps.collect()
}

#[test]
fn steps_are_found_with_their_lines_and_output() {
    let found = steps(PAGE);
    assert_eq!(
        found,
        [
            Step { line: 6, command: "accsim one --flag", shown: "first\nsecond\n\n" },
            Step { line: 10, command: "cargo run --release -- two", shown: "? 1\nthird\n" },
            Step { line: 15, command: "./.ci/test", shown: "" },
        ]
    );
    assert_eq!(found[0].split_shown(), ("first\nsecond\n", "\n"));
    assert_eq!(found[1].split_shown(), ("? 1\nthird\n", ""));
    assert_eq!(found[2].split_shown(), ("", ""));
    assert_eq!(found[0].action(), Ok(Action::Run(vec!["one", "--flag"])));
    assert_eq!(found[1].action(), Ok(Action::Run(vec!["two"])));
    assert_eq!(found[2].action(), Ok(Action::Skip));
}

#[test]
fn pieces_together_are_the_page() {
    for page in [PAGE, "", "no fence\n", "no newline at the end", "```console\n$ accsim x\n```"] {
        let whole: String = pieces(page)
            .unwrap()
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => *text,
                Piece::Step(step) => step.shown,
            })
            .collect();
        assert_eq!(whole, page);
    }
}

#[test]
fn what_would_escape_the_check_is_refused() {
    for (page, reason) in [
        ("```sh\naccsim one\n```\n", "line 1: a sh block"),
        ("```text\n$ accsim one\n```\n", "line 2: a command outside"),
        ("```console\naccsim one\n```\n", "line 2: a console block begins"),
        ("```console\n```\n", "line 1: a console block without"),
        ("```console\n$ accsim one\n```\n```console\n```\n", "line 4: a console block without"),
        ("  ```console\n  $ accsim one\n  ```\n", "line 1: a console fence starts"),
        ("```console\n$ accsim one\n", "line 1: a fence that is never closed"),
        ("```console\n$ accsim one\n```text\n", "line 3: a fence inside"),
    ] {
        let refusal = pieces(page).unwrap_err();
        assert!(refusal.starts_with(reason), "{page}: {refusal}");
    }
}

#[test]
fn commands_that_need_a_shell_or_are_unknown_are_refused() {
    for command in ["accsim one | head", "accsim one > file", "accsim $HOME", "accsim 'a b'", "accsim *.log"]
    {
        let refusal = Step { line: 7, command, shown: "" }.action().unwrap_err();
        assert!(refusal.starts_with("line 7: no shell"), "{command}: {refusal}");
    }
    for command in ["accsim", "ls", "cargo test", "cargo run -- one", "./.ci/test --fast"] {
        let refusal = Step { line: 7, command, shown: "" }.action().unwrap_err();
        assert!(refusal.starts_with("line 7: not checked"), "{command}: {refusal}");
    }
    assert!(Step { line: 1, command: "./.ci/test", shown: "made up\n" }.action().is_err());
}

#[test]
fn searches_go_to_a_shell_and_nothing_else_does() {
    for command in ["grep -c 'a b' x.log", "grep -o 'a: [0-9.]*' x.log | awk '{ s += $2 } END { print s }'"] {
        assert_eq!(Step { line: 1, command, shown: "" }.action(), Ok(Action::Shell(command)), "{command}");
    }
    for command in
        ["awk 1 x", "grep a x > y", "grep a x; rm y", "grep a x | sh", "grep a x|sh", "grep a $(ls)"]
    {
        assert!(Step { line: 1, command, shown: "" }.action().is_err(), "{command}");
    }
}

#[test]
fn output_that_is_all_elided_shows_nothing() {
    for (shown, nothing) in [("", true), ("...\n", true), ("? 1\n...\n\n", true), ("...\nlast\n", false)] {
        assert_eq!(Step { line: 1, command: "accsim x", shown }.shows_nothing(), nothing, "{shown:?}");
    }
}

#[test]
fn codes_and_output_are_shown_as_pages_write_them() {
    assert_eq!(as_shown(0, "3.51\n\n").unwrap(), "3.51\n");
    assert_eq!(as_shown(2, "error: no\n").unwrap(), "? 2\nerror: no\n");
    assert_eq!(as_shown(0, "").unwrap(), "");
    assert_eq!(as_shown(3, "").unwrap(), "? 3\n");
    assert!(as_shown(0, "```\n").is_err());
}
