//! Foreign text in Markdown as GitHub reads it: no markup, no links, no mentions.

use std::fmt::Write as _;

use crate::report::excerpt::printable;

/// A name or a value as code. Backticks and bars, which would end the code or the cell of a table, are written as
/// character references, and so is every other mark beside them.
pub(crate) fn code(text: &str) -> String {
    let text = printable(text);
    if text.is_empty() {
        return "(empty)".to_owned();
    }
    if !text.contains(['`', '|']) {
        return format!("`{text}`");
    }
    let mut shown = String::from("<code>");
    for letter in text.chars() {
        if letter.is_ascii_punctuation() {
            // Writing to a string does not fail.
            let _ = write!(shown, "&#{};", u32::from(letter));
        } else {
            shown.push(letter);
        }
    }
    shown.push_str("</code>");
    shown
}

/// A sentence. What its author put between backticks stays code.
pub(crate) fn prose(text: &str) -> String {
    let text = printable(text);
    let parts: Vec<&str> = text.split('`').collect();
    let is_paired = parts.len() % 2 == 1;
    let mut shown = String::with_capacity(text.len());
    for (index, part) in parts.into_iter().enumerate() {
        if is_paired && index % 2 == 1 {
            shown.push_str(&code(part));
        } else {
            if index > 0 && !is_paired {
                shown.push_str("\\`");
            }
            shown.push_str(&escape(part));
        }
    }
    shown
}

fn escape(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut before = ' ';
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_within = before.is_alphanumeric() && letters.peek().is_some_and(|next| next.is_alphanumeric());
        before = letter;
        match letter {
            // Within a word it marks nothing.
            '_' if is_within => shown.push('_'),
            '\\' | '*' | '_' | '[' | ']' | '~' | '!' => {
                shown.push('\\');
                shown.push(letter);
            }
            // A reference and not a backslash: within a table a bar behind a backslash may still end the cell.
            '|' | '<' | '>' | '&' | '$' => {
                let _ = write!(shown, "&#{};", u32::from(letter));
            }
            // GitHub sees no name behind a piece of code.
            '@' => shown.push_str("<code>@</code>"),
            _ => shown.push(letter),
        }
    }
    // Addresses become links by themselves.
    shown.replace("://", ":<!-- -->//").replace("www.", "www<!-- -->.").replace("WWW.", "WWW<!-- -->.")
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;
    use pulldown_cmark::{Event, Options, Parser, Tag};

    use super::*;

    #[test]
    fn code_cannot_be_left() {
        assert_eq!(code("runs/c192.log"), "`runs/c192.log`");
        assert_eq!(code("<b>@all\n"), "`<b>@all\\n`");
        assert_eq!(code("a`|<b>"), "<code>a&#96;&#124;&#60;b&#62;</code>");
        assert_eq!(code(""), "(empty)");
    }

    #[test]
    fn prose_is_no_markup() {
        assert_eq!(
            prose("drawn by `multinomial`, not by `match-expected`"),
            "drawn by `multinomial`, not by `match-expected`"
        );
        assert_eq!(
            prose("![x](http://y) <img> a|b @all __z__ \x1b[0m"),
            "\\!\\[x\\](http:<!-- -->//y) &#60;img&#62; a&#124;b <code>@</code>all \\_\\_z\\_\\_ \\\\u{1b}\\[0m"
        );
        assert_eq!(prose("one ` alone <"), "one \\` alone &#60;");
        assert_eq!(prose("`a|b` c"), "<code>a&#124;b</code> c");
    }

    /// What a reader of GitHub's Markdown sees, and whether any of it is more than text and code.
    fn seen(markdown: &str) -> (String, Vec<String>) {
        let options = Options::ENABLE_TABLES
            | Options::ENABLE_STRIKETHROUGH
            | Options::ENABLE_MATH
            | Options::ENABLE_GFM;
        let (mut text, mut others) = (String::new(), Vec::new());
        for event in Parser::new_ext(markdown, options) {
            match event {
                Event::Text(part) | Event::Code(part) => text.push_str(&part),
                Event::InlineHtml(tag) if matches!(&*tag, "<!-- -->" | "<code>" | "</code>") => {}
                Event::Start(
                    Tag::Paragraph | Tag::Table(_) | Tag::TableHead | Tag::TableRow | Tag::TableCell,
                )
                | Event::End(_) => {}
                other => others.push(format!("{other:?}")),
            }
        }
        (text, others)
    }

    /// Markup and what becomes some beside it.
    const PIECES: &[&str] = &[
        "a",
        "b c",
        " ",
        "*",
        "**",
        "*a*",
        "_",
        "_a_",
        "__b__",
        "~~a~~",
        "`",
        "``",
        "`a`",
        "|",
        "\\",
        "\\|",
        "[a](b)",
        "![a](b)",
        "[a]",
        "]",
        "<b>",
        "</code>",
        "<!--",
        "-->",
        "<http://a>",
        "&lt;",
        "&",
        "$a$",
        "$$",
        "@all",
        "#1",
        "://",
        "www.",
        "\n",
        "\u{1b}[1m",
        "\u{202e}",
        "- ",
        "> ",
        "(empty)",
    ];

    proptest! {
        #[test]
        fn any_text_is_read_back_as_text(
            text in vec(select(PIECES), 0..16).prop_map(|pieces| pieces.concat())
        ) {
            let expected: String = printable(&text);
            let cell = format!("|a|b|\n|---|---|\n| {} | end |\n", code(&text));
            let (found, others) = seen(&cell);
            prop_assert!(others.is_empty(), "{cell}{others:?}");
            let shown = found.strip_prefix("ab").and_then(|found| found.strip_suffix("end"));
            let wanted = if text.is_empty() { "(empty)" } else { expected.trim_matches(' ') };
            prop_assert_eq!(shown.map(|shown| shown.trim_matches(' ')), Some(wanted), "{}", cell);

            let sentence = format!("says {}.", prose(&text));
            let (found, others) = seen(&sentence);
            prop_assert!(others.is_empty(), "{sentence}{others:?}");
            // What its author put between backticks lost these.
            let letters = |text: &str| text.replace(['`', ' '], "");
            prop_assert_eq!(
                letters(&found).replace("(empty)", ""),
                letters(&format!("says {expected}.")).replace("(empty)", ""),
                "{}",
                sentence
            );
        }
    }
}
