//! Texts in cells.

/// A text that comes from outside. One that a spreadsheet would run as a formula gets an apostrophe in front.
pub(super) fn text(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{text}") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_texts() {
        for formula in ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"] {
            assert_eq!(text(formula), format!("'{formula}"));
        }
        for plain in ["", "a=1", "run/a.log", "'=1"] {
            assert_eq!(text(plain), plain);
        }
    }
}
