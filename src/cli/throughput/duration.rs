//! Seconds on the command line.

/// Longest time that is simulated: a year.
const LONGEST_S: f64 = 31_622_400.0;

/// A number of seconds above 0, up to a year.
pub(super) fn seconds(text: &str) -> Result<f64, String> {
    let value = text.trim().parse::<f64>().ok().filter(|value| *value > 0.0 && *value <= LONGEST_S);
    value.ok_or_else(|| format!("expected seconds above 0 and up to {LONGEST_S:.0}, like 120"))
}

/// A number of seconds from 0 to a year.
pub(super) fn seconds_or_none(text: &str) -> Result<f64, String> {
    let value = text.trim().parse::<f64>().ok().filter(|value| (0.0..=LONGEST_S).contains(value));
    value.ok_or_else(|| format!("expected seconds from 0 to {LONGEST_S:.0}, like 20"))
}

/// A share from 0 to 1, or a percentage.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let (number, scale) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 0.01));
    let value = number.trim().parse::<f64>().ok().map(|value| value * scale);
    value
        .filter(|value| (0.0..=1.0).contains(value))
        .ok_or_else(|| "expected a share like 0.3 or 30%".to_owned())
}
