//! `recipe.yaml:override_deep`: which variants are meant.

use std::fmt;

/// A pattern over names of variants: `base`, `override_x`, `zip_override_x[1]`, `zip_override_x` for all of its members,
/// with `*` and `?`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector(String);

/// A selector that selects nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectorError {
    /// The recipe has no variants.
    #[error("the selector '{0}' needs a recipe with base; this one has no variants")]
    NoBase(String),
    /// None of its variants is meant.
    #[error("no variant matches '{selector}'; there are {}", .known.join(", "))]
    NoMatch {
        /// The selector.
        selector: String,
        /// The variants.
        known: Vec<String>,
    },
}

impl Selector {
    /// The selector of this text.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Splits `path:selector`; a path without one stays whole.
    ///
    /// ```
    /// use accsim::recipe::Selector;
    ///
    /// let (path, selector) = Selector::split("a/b.yaml:zip_override_x[1]");
    /// assert_eq!(path, "a/b.yaml");
    /// assert!(selector.unwrap().matches("zip_override_x[1]"));
    /// assert_eq!(Selector::split("C:/b.yaml"), ("C:/b.yaml", None));
    /// ```
    #[must_use]
    pub fn split(text: &str) -> (&str, Option<Self>) {
        match text.rsplit_once(':') {
            Some((path, selector))
                if is_yaml(path) && !selector.is_empty() && !selector.contains(['/', '\\']) =>
            {
                (path, Some(Self::new(selector)))
            }
            _ => (text, None),
        }
    }

    /// Whether the variant of this name is meant.
    #[must_use]
    pub fn matches(&self, variant: &str) -> bool {
        let whole = variant.split_once('[').map_or(variant, |(name, _)| name);
        is_match(self.0.as_bytes(), variant.as_bytes()) || is_match(self.0.as_bytes(), whole.as_bytes())
    }

    /// Whether it names a member of a zip by its index.
    #[must_use]
    pub fn has_index(&self) -> bool {
        self.0.ends_with(']')
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a path has the extension of YAML.
fn is_yaml(path: &str) -> bool {
    let extension = std::path::Path::new(path).extension();
    extension.is_some_and(|extension| {
        extension.eq_ignore_ascii_case("yaml") || extension.eq_ignore_ascii_case("yml")
    })
}

/// `*` for any text, `?` for one byte; linear apart from one step back a star.
pub(crate) fn is_match(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while let Some(byte) = text.get(t) {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(other) if other == byte || *other == b'?' => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    p = at + 1;
                    t = from + 1;
                    star = Some((at, t));
                }
                None => return false,
            },
        }
    }
    pattern.get(p..).unwrap_or_default().iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_select() {
        let matches = |selector: &str, variant: &str| Selector::new(selector).matches(variant);
        assert!(matches("base", "base") && !matches("base", "override_base"));
        assert!(matches("zip_override_x[1]", "zip_override_x[1]"));
        assert!(!matches("zip_override_x[1]", "zip_override_x[0]"));
        assert!(matches("zip_override_x", "zip_override_x[0]"));
        assert!(matches("*override_*", "zip_override_x[0]") && matches("override_?", "override_a"));
        assert!(!matches("override_?", "override_ab") && matches("*", "base"));
    }
}
