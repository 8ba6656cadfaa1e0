//! `--change-at`: the server is started again with another setting.

use std::fmt;
use std::str::FromStr;

use super::args::SimulateArgs;

/// Keys of a change.
const KEYS: &str = "accept-length, num-steps, block-size, max-accept-length";

/// A change of the configuration in the middle of a log.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Change {
    text: String,
    /// Decode lines of each rank before it.
    pub(super) after_lines: u64,
    /// The new accept length; the old one where none is named.
    pub(super) accept_length: Option<f64>,
    maximum: Option<Maximum>,
}

/// How the most tokens of a step are said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Maximum {
    Steps(u32),
    Block(u32),
    Tokens(u32),
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Change {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let expected =
            || format!("expected LINE:KEY=VALUE,.. like 30:accept-length=2.5,num-steps=3; keys are {KEYS}");
        let (lines, settings) =
            text.split_once(':').ok_or_else(|| format!("'{text}' is not a change; {}", expected()))?;
        let after_lines = lines
            .trim()
            .parse()
            .ok()
            .filter(|lines| *lines > 0)
            .ok_or_else(|| format!("'{lines}' is not a number of lines; {}", expected()))?;
        let mut change = Self { text: text.to_owned(), after_lines, accept_length: None, maximum: None };
        for setting in settings.split(',') {
            let (key, value) = setting
                .split_once('=')
                .map(|(key, value)| (key.trim(), value.trim()))
                .ok_or_else(|| format!("'{setting}' has no value; {}", expected()))?;
            let whole =
                || {
                    value.parse::<u32>().ok().filter(|number| (1..=1_000_000).contains(number)).ok_or_else(
                        || format!("{key} must be a whole number from 1 to 1000000, found '{value}'"),
                    )
                };
            let maximum = match key {
                "accept-length" => {
                    let length = value
                        .parse()
                        .map_err(|_| format!("{key} must be a number like 3.51, found '{value}'"))?;
                    if change.accept_length.replace(length).is_some() {
                        return Err(format!("{key} is given twice"));
                    }
                    continue;
                }
                "num-steps" => Maximum::Steps(whole()?),
                "block-size" => Maximum::Block(whole()?),
                "max-accept-length" => Maximum::Tokens(whole()?),
                _ => return Err(format!("unknown key '{key}'; keys are {KEYS}")),
            };
            if change.maximum.replace(maximum).is_some() {
                return Err("give one of num-steps, block-size and max-accept-length".to_owned());
            }
        }
        Ok(change)
    }
}

impl Change {
    /// The flags of a server that is started so.
    pub(super) fn apply(&self, args: &SimulateArgs, accept_length: f64) -> SimulateArgs {
        let mut changed = args.clone();
        // Another length is no rate and no cell; its drafting method stays.
        changed.rates.clear();
        changed.conditional_rates.clear();
        changed.accept_length = Some(self.accept_length.unwrap_or(accept_length));
        if let Some(maximum) = self.maximum {
            (changed.num_steps, changed.block_size, changed.max_accept_length) = match maximum {
                Maximum::Steps(steps) => (Some(steps), None, None),
                Maximum::Block(size) => (None, Some(size), None),
                Maximum::Tokens(tokens) => (None, None, Some(tokens)),
            };
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_read() {
        let change: Change = "30:accept-length=2.5,num-steps=3".parse().unwrap();
        assert_eq!((change.after_lines, change.accept_length), (30, Some(2.5)));
        assert_eq!(change.maximum, Some(Maximum::Steps(3)));
        assert_eq!(change.to_string(), "30:accept-length=2.5,num-steps=3");
        let block: Change = "1: block-size = 7".parse().unwrap();
        assert_eq!((block.accept_length, block.maximum), (None, Some(Maximum::Block(7))));
    }

    #[test]
    fn what_is_no_change_is_refused() {
        for (text, message) in [
            ("30", "'30' is not a change; expected LINE:KEY=VALUE"),
            ("0:accept-length=2", "'0' is not a number of lines"),
            ("-3:accept-length=2", "'-3' is not a number of lines"),
            ("30:", "'' has no value"),
            ("30:accept-length", "'accept-length' has no value"),
            ("30:accept-length=x", "accept-length must be a number like 3.51, found 'x'"),
            ("30:accept-length=2,accept-length=3", "accept-length is given twice"),
            ("30:num-steps=0", "num-steps must be a whole number from 1"),
            ("30:num-steps=3,block-size=3", "give one of num-steps, block-size"),
            ("30:model=x", "unknown key 'model'; keys are accept-length"),
        ] {
            let error = text.parse::<Change>().unwrap_err();
            assert!(error.starts_with(message), "{text}: {error}");
        }
    }
}
