//! Models: names, prices, sizes.

use serde::{Deserialize, Serialize};

/// A model by the name that the CLI offers it under.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Model {
    /// `haiku`.
    pub value: String,
    /// `claude-haiku-5-5`.
    pub resolved: String,
}

/// `claude-haiku-5-5` as people read it: `Haiku 5.5`. Other names are themselves.
pub fn display_name(resolved: &str) -> String {
    let mut parts = resolved.strip_prefix("claude-").unwrap_or(resolved).split('-');
    let family = parts.next().unwrap_or_default();
    let numbers: Vec<&str> = parts.take_while(|part| part.chars().all(|c| c.is_ascii_digit())).collect();
    if !resolved.starts_with("claude-") || numbers.is_empty() {
        return resolved.to_owned();
    }
    let mut letters = family.chars();
    let first = letters.next().map(|c| c.to_ascii_uppercase()).into_iter();
    format!("{} {}", first.chain(letters).collect::<String>(), numbers.join("."))
}

/// Price of a token in dollars, input and output, as the CLI's own list states it.
pub fn price(resolved: &str) -> (f64, f64) {
    if resolved.contains("haiku") {
        (0.1e-6, 0.5e-6)
    } else if resolved.contains("sonnet") {
        (2e-6, 10e-6)
    } else {
        (4e-6, 20e-6)
    }
}
