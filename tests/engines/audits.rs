//! Audits.
