//! The HTML reports in headless Chromium: they render without a word on the console, sort, copy, link, print, and fit a phone, in
//! both colour schemes; logs that want to write the page themselves do not.
//!
//! Needs `chromium` and `chromedriver` (Debian: chromium, chromium-driver). `ACCSIM` names the program under test; without it the
//! main package is built. With `SCREENSHOTS=overwrite` the pictures of the documentation are written anew.

mod browser;
mod hostile;
mod large;
mod looks;
mod made;
mod works;
