//! The command `rehearsal`.

fn main() -> std::process::ExitCode {
    sim::cli::main()
}
