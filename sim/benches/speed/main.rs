//! How fast and how large: one command, one table in plain text.
//!
//! `cargo bench -p sim` runs everything, `cargo bench -p sim -- WORD…` the rows whose name has one of the words. Wall clocks are
//! allowed here and nowhere in a run. Rows are no `criterion` groups because half of them are a process: its first frame, its
//! peak memory, its end.

mod engine;
mod measure;
mod process;

use std::process::ExitCode;

use measure::Row;

/// One measurement: its name, and what makes its rows.
type Bench = (&'static str, fn() -> anyhow::Result<Vec<Row>>);

const BENCHES: [Bench; 6] = [
    ("runs", engine::runs),
    ("idle", engine::idle),
    ("sweep", engine::sweep),
    ("first-frame", process::first_frame),
    ("check", process::check),
    ("startup", process::startup),
];

fn main() -> ExitCode {
    // `--bench` is cargo's own word.
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    println!("{cores} cores\n\n{}", Row::HEAD);
    let mut missed = false;
    for (name, bench) in BENCHES {
        if !words.is_empty() && !words.iter().any(|word| name.contains(word.as_str())) {
            continue;
        }
        match bench() {
            Ok(rows) => {
                for row in rows {
                    missed |= !row.is_met();
                    println!("{row}");
                }
            }
            Err(error) => {
                eprintln!("failed to measure {name}: {error:#}");
                return ExitCode::from(2);
            }
        }
    }
    // A machine that is busy with something else misses aims too: the exit code is for a quiet one.
    if missed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
