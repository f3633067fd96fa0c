//! The `flt` command: `fleet` for those who type it often.

fn main() -> std::process::ExitCode {
    codefleet::main()
}
