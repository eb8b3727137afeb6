//! Small helpers for text that people read.

/// `1 run`, `2 runs`.
pub(crate) fn plural(count: u64, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}

/// A span of milliseconds in the two largest units that matter: `3 h 12 min`, `4 min 5 s`, `1.9 s`, `412 ms`.
pub(crate) fn span(ms: u64) -> String {
    const SECOND: u64 = 1_000;
    const MINUTE: u64 = 60 * SECOND;
    const HOUR: u64 = 60 * MINUTE;
    match ms {
        0..SECOND => format!("{ms} ms"),
        SECOND..MINUTE => format!("{}.{} s", ms / SECOND, ms % SECOND / 100),
        MINUTE..HOUR => format!("{} min {} s", ms / MINUTE, ms % MINUTE / SECOND),
        _ => format!("{} h {} min", ms / HOUR, ms % HOUR / MINUTE),
    }
}

/// One line without control characters, so that no byte of a frame can move the cursor of who reads about it.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            c if c.is_control() => line.extend(c.escape_default()),
            c => line.push(c),
        }
    }
    line
}

/// The first `width` characters; the last of them says that something is missing.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// Lines of at most `width` characters (longer words stand alone), the first after `first`, the others after `rest`.
/// Line breaks of the text are kept, control characters escaped.
pub(crate) fn wrap(text: &str, first: &str, rest: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = first.to_owned();
    for paragraph in text.lines() {
        let mut empty = true;
        for word in paragraph.split_whitespace().map(one_line) {
            if !empty && line.chars().count() + 1 + word.chars().count() > width {
                lines.push(std::mem::replace(&mut line, rest.to_owned()));
                empty = true;
            }
            if !empty {
                line.push(' ');
            }
            line.push_str(&word);
            empty = false;
        }
        lines.push(std::mem::replace(&mut line, rest.to_owned()).trim_end().to_owned());
    }
    if lines.is_empty() {
        lines.push(first.trim_end().to_owned());
    }
    lines
}

/// Items with commas between them on lines of at most `width` characters, after `indent`; no item is broken.
pub(crate) fn wrap_items(items: &[String], indent: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let item = if at + 1 < items.len() { format!("{item},") } else { item.clone() };
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + item.chars().count() <= width => {
                line.push(' ');
                line.push_str(&item);
            }
            _ => lines.push(format!("{indent}{item}")),
        }
    }
    lines
}

/// `text`, padded with blanks to `width` characters.
pub(crate) fn pad(text: &str, width: usize) -> String {
    let missing = width.saturating_sub(text.chars().count());
    format!("{text}{}", " ".repeat(missing))
}

/// Columns as wide as their widest cell, two blanks between them; `numbers` says which are aligned to the right.
/// The last column is not padded.
pub(crate) fn columns(rows: &[Vec<String>], numbers: &[usize]) -> Vec<String> {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(width).collect();
    let cell = |column: usize, text: &str| {
        if numbers.contains(&column) {
            format!("{}{text}", " ".repeat(widths[column].saturating_sub(text.chars().count())))
        } else {
            pad(text, widths[column])
        }
    };
    rows.iter()
        .map(|row| {
            let cells: Vec<String> = row.iter().enumerate().map(|(column, text)| cell(column, text)).collect();
            cells.join("  ").trim_end().to_owned()
        })
        .collect()
}
