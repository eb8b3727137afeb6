//! Reads an expectation out of its table.

use super::{Check, Expectation, Matcher, Number, Path, RowState, TextMatch};
use crate::{
    problem::{Problem, Source, Spanned},
    read::{Node, Read, Table, count, drift, flag, list, text, texts, word},
};

/// Reads the table of `expect` or `until`.
pub(crate) fn expectation(node: &Node<'_>, source: &Source, problems: &mut Vec<Problem>) -> Read<Expectation> {
    let table = Table::of(node)?;
    let mut checks = Vec::new();
    for (key, value) in table.entries() {
        // `row.A = …, row.B = …` is one key with a table behind it: each name is a check of its own.
        match key.value.as_str() {
            "row" => {
                for (title, value) in Table::of(value)?.entries() {
                    checks.push(Check {
                        path: Path::Row(title.value),
                        matcher: Matcher::Row(word(value)?.value),
                        span: title.span,
                    });
                }
            }
            "messages" => {
                for (label, value) in Table::of(value)?.entries() {
                    checks.push(Check {
                        path: Path::Message(label.value),
                        matcher: Matcher::Message(word(value)?.value),
                        span: label.span,
                    });
                }
            }
            "tab" => {
                for (title, value) in Table::of(value)?.entries() {
                    tab(&title, value, &mut checks)?;
                }
            }
            "rows" if value.get_ref().is_table() => {
                for (state, value) in Table::of(value)?.entries() {
                    let of = match state.value.as_str() {
                        "all" => None,
                        word => Some(word.parse::<RowState>().map_err(|_| drift("a state", value))?),
                    };
                    checks.push(Check { path: Path::RowCount(of), matcher: Matcher::Number(number(value)?), span: state.span });
                }
            }
            "queue" if value.get_ref().is_table() => {
                for (part, value) in Table::of(value)?.entries() {
                    let (path, matcher) = match part.value.as_str() {
                        "messages" => (Path::Queue, Matcher::Names(list(value, text)?)),
                        "length" => (Path::QueueLength, Matcher::Number(number(value)?)),
                        "paused" => (Path::QueuePaused, Matcher::Flag(flag(value)?)),
                        _ => return Err(drift("a part of the queue", value)),
                    };
                    checks.push(Check { path, matcher, span: part.span });
                }
            }
            name => {
                let (path, matcher) = simple(name, value)?;
                checks.push(Check { path, matcher, span: key.span });
            }
        }
    }
    for check in &checks {
        let Matcher::Number(Number { at_least, at_most }) = &check.matcher else { continue };
        let (message, help) = match at_most {
            Some(at_most) if at_least > at_most => {
                (format!("no number is at least {at_least} and at most {at_most}"), "exchange the two bounds")
            }
            None if *at_least == 0 => ("every number is at least 0".to_owned(), "write a bound that a number can miss"),
            _ => continue,
        };
        problems.push(Problem::new(source, check.span, message, "nothing to judge").help(help));
    }
    Ok(Expectation { checks })
}

fn simple(name: &str, value: &Node<'_>) -> Read<(Path, Matcher)> {
    Ok(match name {
        "status" => (Path::Status, Matcher::Status(word(value)?.value)),
        "pill" => (Path::Pill, Matcher::Number(number(value)?)),
        "busy" => (Path::Busy, Matcher::Flag(flag(value)?)),
        "turns" if value.get_ref().is_array() => (Path::Outcomes, Matcher::Outcomes(list(value, |item| Ok(word(item)?.value))?)),
        "turns" => (Path::Turns, Matcher::Number(number(value)?)),
        "rows" => (Path::RowTitles, Matcher::Names(list(value, text)?)),
        "entries" => (Path::Entries, kinds(value)?),
        "text" => (Path::Text, text_match(value)?),
        "transcript" => (Path::Transcript, text_match(value)?),
        "last_reply" => (Path::LastReply, text_match(value)?),
        "queue" => (Path::Queue, Matcher::Names(list(value, text)?)),
        "question" => (Path::QuestionOpen, Matcher::Flag(flag(value)?)),
        "approval" => (Path::ApprovalOpen, Matcher::Flag(flag(value)?)),
        "notices" if value.get_ref().is_array() => (Path::Notices, Matcher::Texts(list(value, |item| Ok(text(item)?.value))?)),
        "notices" => (Path::NoticeText, text_match(value)?),
        _ => return Err(drift("a key of an expectation", value)),
    })
}

fn tab(title: &Spanned<String>, value: &Node<'_>, checks: &mut Vec<Check>) -> Read<()> {
    let name = || title.value.clone();
    if value.get_ref().is_array() {
        checks.push(Check { path: Path::TabEntries(name()), matcher: kinds(value)?, span: title.span });
        return Ok(());
    }
    for (part, value) in Table::of(value)?.entries() {
        let (path, matcher) = match part.value.as_str() {
            "entries" => (Path::TabEntries(name()), kinds(value)?),
            "text" => (Path::TabText(name()), text_match(value)?),
            "last_reply" => (Path::TabLastReply(name()), text_match(value)?),
            "state" => (Path::TabState(name()), Matcher::Entry(word(value)?.value)),
            _ => return Err(drift("a part of a tab", value)),
        };
        checks.push(Check { path, matcher, span: part.span });
    }
    Ok(())
}

fn kinds(node: &Node<'_>) -> Read<Matcher> {
    Ok(Matcher::Kinds(list(node, |item| Ok(word(item)?.value))?))
}

fn number(node: &Node<'_>) -> Read<Number> {
    if node.get_ref().is_integer() {
        return Ok(Number::exactly(count(node)?));
    }
    let table = Table::of(node)?;
    Ok(Number { at_least: table.read("at_least", count)?.unwrap_or(0), at_most: table.read("at_most", count)? })
}

fn text_match(node: &Node<'_>) -> Read<Matcher> {
    if node.get_ref().is_str() {
        return Ok(Matcher::Text(TextMatch::Whole(text(node)?.value)));
    }
    let table = Table::of(node)?;
    let part = |key: &str| -> Read<Vec<String>> {
        let list = table.read(key, texts)?.unwrap_or_default();
        Ok(list.into_iter().map(|text| text.value).collect())
    };
    Ok(Matcher::Text(TextMatch::Parts { contains: part("contains")?, once: part("once")?, lacks: part("lacks")? }))
}
