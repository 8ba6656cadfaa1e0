//! The reader of TensorRT-LLM's iteration log (`print_iter_log`), of every era. No era prints acceptance.

mod iteration;

pub use iteration::TrtllmIteration;
