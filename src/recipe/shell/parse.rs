//! The grammar, with a bound on its work.

use std::ops::ControlFlow;

use tree_sitter::{ParseOptions, ParseState, Parser, Tree};

/// Reports of progress after which a text is given up. One comes every 100 or so operations of the parser; a script of
/// 1 MiB has some ten thousand.
const MOST_REPORTS: usize = 400_000;

/// The tree of a script; none for a text that the grammar cannot cope with in bounded time.
pub(super) fn tree(text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    let bytes = text.as_bytes();
    let mut reports = 0_usize;
    let mut progress = |_: &ParseState| {
        reports += 1;
        if reports > MOST_REPORTS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options))
}

/// Whether the grammar reads all of a text as shell.
pub(crate) fn is_sound(text: &str) -> bool {
    tree(text).is_some_and(|tree| !tree.root_node().has_error())
}
