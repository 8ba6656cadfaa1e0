//! accsim as release builds have it: with object stores.

fn main() -> std::process::ExitCode {
    accsim::cli::main()
}
