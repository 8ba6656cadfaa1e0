//! The `accsim` command: all of it lives in [`accsim::cli`].

fn main() -> std::process::ExitCode {
    accsim::cli::main()
}
