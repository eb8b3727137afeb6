//! The reference engine's finer rules: what its journal, its rows and its documents must hold beyond what any host owes.
//!
//! They are judged from the view and the history alone. A family is a file or a folder, an invariant a struct. Where a rule
//! needs to know what the host was told, it reads the `wire` module; what the host could not know is never held against it.

mod claude_order;
mod document;
mod driver;
mod frames;
mod frames_without_effect;
mod journal;
mod pill_and_rows;
#[cfg(test)]
mod tests;
mod typed_forks;
mod wire;

use super::Invariant;

/// A fresh judge for each rule: D, N, C, T, V, M, J.
pub fn all() -> Vec<Box<dyn Invariant>> {
    let mut all = driver::all();
    all.extend(frames_without_effect::all());
    all.extend(claude_order::all());
    all.extend(typed_forks::all());
    all.extend(pill_and_rows::all());
    all.extend(document::all());
    all.extend(journal::all());
    all
}
