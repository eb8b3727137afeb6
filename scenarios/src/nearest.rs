//! The nearest name: what somebody who mistyped probably meant.

/// The candidate that is closest to `given`, if one is close enough to be worth saying.
///
/// Close enough is a third of the longer name's letters, so that two unrelated short names never suggest each other.
pub fn nearest<'a>(given: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (distance(given, candidate), candidate))
        .filter(|(distance, candidate)| *distance * 3 <= given.chars().count().max(candidate.chars().count()))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// `did you mean …?` when a name is near, else the names that exist.
pub fn advice<'a>(what: &str, given: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let known = candidates.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match (nearest(given, candidates.iter().copied()), candidates.is_empty()) {
        (Some(name), _) => format!("did you mean `{name}`? {what}: {known}"),
        (None, false) => format!("{what}: {known}"),
        (None, true) => format!("{what}: none"),
    }
}

/// Edits (insert, delete, replace, exchange two neighbours) between two names, upper and lower case alike.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().flat_map(char::to_lowercase).collect();
    let b: Vec<char> = b.chars().flat_map(char::to_lowercase).collect();
    let width = b.len() + 1;
    let mut table = vec![0; (a.len() + 1) * width];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            let at = |i: usize, j: usize| table[i * width + j];
            table[i * width + j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replace = at(i - 1, j - 1) + usize::from(a[i - 1] != b[j - 1]);
                let mut best = replace.min(at(i - 1, j) + 1).min(at(i, j - 1) + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best = best.min(at(i - 2, j - 2) + 1);
                }
                best
            };
        }
    }
    table[a.len() * width + b.len()]
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn a_slip_of_the_hand_is_one_edit() {
        assert_eq!(distance("sned", "send"), 1);
        assert_eq!(distance("expct", "expect"), 1);
        assert_eq!(distance("Send", "send"), 0);
        assert_eq!(distance("", "send"), 4);
    }

    #[test]
    fn an_unrelated_name_suggests_nothing() {
        assert_eq!(nearest("zzz", ["send", "stop"]), None);
        assert_eq!(nearest("sotp", ["send", "stop"]), Some("stop"));
    }
}
