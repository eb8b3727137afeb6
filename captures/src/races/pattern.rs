//! Whether a class of the table covers the class of a frame.

/// True if every frame of `class` is one that `pattern` speaks of.
pub(super) fn covers(pattern: &str, class: &str) -> bool {
    let (pattern, wanted) = split(pattern);
    let (class, said) = split(class);
    if wanted.is_some() && wanted != said {
        return false;
    }
    if pattern == "*" || pattern == class {
        return true;
    }
    if let Some(stream) = pattern.strip_suffix("/*") {
        return class.split_once('/').is_some_and(|(name, _)| name == stream);
    }
    match (pattern.strip_suffix("[*]"), class.split_once('[')) {
        (Some(kind), Some((name, _))) => kind == name,
        _ => false,
    }
}

/// A class without the words in brackets at its end, and those words.
fn split(class: &str) -> (&str, Option<&str>) {
    match class.strip_suffix(')').and_then(|head| head.split_once(" (")) {
        Some((head, words)) => (head, Some(words)),
        None => (class, None),
    }
}

/// True if the text is a class or a pattern of the kind this module understands.
pub(super) fn is_pattern(text: &str) -> bool {
    const STREAMS: [&str; 6] = ["main", "stream", "child", "fork", "task", "host"];
    text == "*" || text.split_once('/').is_some_and(|(stream, kind)| STREAMS.contains(&stream) && !kind.is_empty())
}
