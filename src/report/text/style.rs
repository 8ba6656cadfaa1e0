//! Terminal colours as escape codes. The command line strips them where they do not belong.

pub(super) const BOLD: &str = "\x1b[1m";
pub(super) const RED: &str = "\x1b[1;31m";
pub(super) const GREEN: &str = "\x1b[1;32m";
pub(super) const YELLOW: &str = "\x1b[1;33m";
pub(super) const RESET: &str = "\x1b[0m";
