//! `accsim signoff launch-diff`.
