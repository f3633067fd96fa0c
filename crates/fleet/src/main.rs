//! The `fleet` command.

fn main() -> std::process::ExitCode {
    codefleet::main()
}
