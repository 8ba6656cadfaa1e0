//! Object stores, in a build without them.

use std::io::{self, Read};

use super::failure::Failure;
use super::limits::Limits;
use super::walk::Found;

/// An object: there is none.
pub(super) enum Object {}

impl Read for Object {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        match *self {}
    }
}

fn absent() -> Failure {
    Failure::Unsupported("an object store, by a build without the feature object-store,".to_owned())
}

pub(super) fn walk(_url: &str, _limits: &Limits) -> Result<Vec<Found>, Failure> {
    Err(absent())
}

pub(super) fn open(_url: &str) -> Result<Object, Failure> {
    Err(absent())
}
