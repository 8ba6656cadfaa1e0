//! What is wrong with a JSON text, in words for whoever named the file.

use std::fmt;

use serde_json::error::Category;

/// Why a text is not the JSON that it should be.
#[derive(Debug)]
pub struct JsonFault(serde_json::Error);

impl From<serde_json::Error> for JsonFault {
    fn from(error: serde_json::Error) -> Self {
        Self(error)
    }
}

impl fmt::Display for JsonFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let error = &self.0;
        match error.classify() {
            Category::Eof => write!(f, "it ends early, on line {}: the file is cut", error.line()),
            Category::Syntax => {
                write!(f, "it is no JSON (line {}, column {})", error.line(), error.column())
            }
            Category::Data | Category::Io => write!(f, "{error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> String {
        let error = serde_json::from_str::<std::collections::BTreeMap<String, u32>>(text).unwrap_err();
        JsonFault::from(error).to_string()
    }

    #[test]
    fn says_what_is_wrong_in_plain_words() {
        assert_eq!(fault("{\"a\": 1,\n"), "it ends early, on line 2: the file is cut");
        assert_eq!(fault("not a log"), "it is no JSON (line 1, column 2)");
        assert!(fault("{\"a\": true}").starts_with("invalid type: boolean `true`, expected u32"));
    }
}
