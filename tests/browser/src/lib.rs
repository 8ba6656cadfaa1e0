//! The tests are in `tests/`; there is nothing to call here.
