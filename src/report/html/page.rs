//! What all pages share: title, policy, style and script.

/// The look of plots, then of pages.
const STYLE: &str = concat!(include_str!("../plot/templates/plot.css"), include_str!("templates/page.css"));

/// Sorts tables and copies text; a page without it shows the same.
const SCRIPT: &str = include_str!("templates/page.js");

/// SHA-256 of [`STYLE`] and of [`SCRIPT`], as the policy names them; a test computes them anew.
const STYLE_HASH: &str = "V8vHxJa4OVYfZQN0mIwrVbAQYARJSNja+Rh1+InBMIE=";
const SCRIPT_HASH: &str = "seNI0tbZUsoo02KLIYV4EE6y544ctPQGEv+WfLEZg80=";

/// The frame of a page.
pub(super) struct Page {
    pub(super) title: String,
    /// Nothing may be loaded or run but what the file brings.
    pub(super) policy: String,
    pub(super) style: &'static str,
    pub(super) script: &'static str,
    pub(super) version: &'static str,
}

impl Page {
    pub(super) fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            policy: format!(
                "default-src 'none'; style-src 'sha256-{STYLE_HASH}'; script-src 'sha256-{SCRIPT_HASH}'; img-src data:; \
                 base-uri 'none'; form-action 'none'"
            ),
            style: STYLE,
            script: SCRIPT,
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::prelude::BASE64_STANDARD;
    use sha2::{Digest as _, Sha256};

    use super::*;

    fn hash(text: &str) -> String {
        BASE64_STANDARD.encode(Sha256::digest(text.as_bytes()))
    }

    #[test]
    fn the_policy_names_this_style_and_this_script() {
        assert_eq!(hash(STYLE), STYLE_HASH);
        assert_eq!(hash(SCRIPT), SCRIPT_HASH);
    }

    #[test]
    fn nothing_in_them_ends_their_element_or_asks_the_network() {
        for text in [STYLE, SCRIPT] {
            for forbidden in ["</", "<!--", "url(", "@import", "http", "fetch(", "innerHTML", "eval("] {
                assert!(!text.contains(forbidden), "{forbidden}");
            }
        }
    }

    /// Only the style sheet and the script are printed as they are.
    #[test]
    fn templates_escape_all_else() {
        for folder in ["src/report/html/templates", "src/report/plot/templates"] {
            let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
            for file in std::fs::read_dir(folder).unwrap() {
                let path = file.unwrap().path();
                let text = std::fs::read_to_string(&path).unwrap();
                let bare = text.matches("|safe").count() + text.matches("| safe").count();
                let allowed = text.matches("{{ page.style|safe }}").count()
                    + text.matches("{{ page.script|safe }}").count()
                    + text.matches("{{ style|safe }}").count();
                assert_eq!(bare, allowed, "{}", path.display());
                assert!(!text.contains("autoescape") && !text.contains("escape ="), "{}", path.display());
            }
        }
    }
}
