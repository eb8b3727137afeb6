//! The fake `claude`. `REHEARSAL_SCENE` names the capture whose model and tools it plays; without it every reply repeats the
//! prompt's first words.

fn main() -> std::process::ExitCode {
    fake_clis::process::main(fake_clis::claude::from_launch)
}
