//! The bridge of the Python package: command lines in, documents out.
//!
//! It has two functions. Everything typed is made in Python from the documents of the command line, so that both say
//! the same and there is one format to keep.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Carries command lines of accsim out, within this process.
#[pymodule]
mod _accsim {
    use pyo3::types::PyBytes;

    use super::{Bound, OsString, Python, pyfunction};

    /// Version of the library that is built in.
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "the name that Python modules give it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    /// Runs one command line and collects what it prints: exit code, result, messages.
    ///
    /// Other threads of Python run meanwhile.
    #[pyfunction]
    fn run(py: Python<'_>, args: Vec<OsString>) -> (u8, Bound<'_, PyBytes>, Bound<'_, PyBytes>) {
        let (exit, out, err) = py.detach(|| {
            let (mut out, mut err) = (Vec::new(), Vec::new());
            let exit = accsim::cli::run(super::with_name(args), &mut out, &mut err);
            (exit, out, err)
        });
        (exit.code(), PyBytes::new(py, &out), PyBytes::new(py, &err))
    }

    /// Runs one command line on the streams of the process and returns its exit code.
    #[pyfunction]
    fn main(py: Python<'_>, args: Vec<OsString>) -> u8 {
        py.detach(|| accsim::cli::main_with(super::with_name(args))).code()
    }
}

fn with_name(args: Vec<OsString>) -> impl Iterator<Item = OsString> {
    std::iter::once(OsString::from("accsim")).chain(args)
}
