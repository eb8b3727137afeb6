//! One failing run: what, which rule, around which moment, and how to see it again.

use crate::human::paint::Paint;
use crate::reason::{by_verdict, words};
use crate::run::{RECORDED_ORDER, RunResult, TraceLine, Violation};
use crate::text::{columns, cut, one_line, pad, wrap};
use crate::verdict::Origin;
use crate::view_diff;

/// Trace lines an excerpt shows at most.
const EXCERPT_LINES: usize = 12;
/// Of those, how many stand before the moment, if there are enough on both sides.
const EXCERPT_BEFORE: usize = 7;
/// Lines shown of the two ways a run went.
const TWO_WAYS: usize = 40;
/// Changes of the view shown for one violation.
const CHANGES: usize = 8;
/// Characters of a value of the view.
const VALUE_WIDTH: usize = 48;

const INDENT: &str = "  ";
const DEEPER: &str = "      ";

/// The block of a run, without its command.
pub(crate) fn block(run: &RunResult, width: usize, paint: Paint) -> Vec<String> {
    let mut lines = vec![headline(run, paint)];
    let mut say = |text: &str| lines.extend(wrap(text, INDENT, INDENT, width));
    if let Some(title) = &run.title {
        say(title);
    }
    if run.plan != RECORDED_ORDER {
        say(&format!("plan: {}", run.plan));
    }
    if run.origin == Origin::Synthetic {
        say("on synthetic frames: no provider was recorded saying them");
    }
    if run.raw {
        say("raw: the stage wrote the host's lines itself");
    }
    if !run.also.is_empty() {
        let also: Vec<String> = run.also.iter().map(ToString::to_string).collect();
        say(&format!("also: {}", also.join(", ")));
    }
    match (&run.known, run.listed_as) {
        (Some(why), _) => say(&format!("listed in the baseline: {why}")),
        (None, Some(listed)) => say(&format!("the baseline lists this run as {listed}, not as {}", run.verdict)),
        (None, None) => {}
    }
    for (what, said) in [("harness", &run.harness_fault), ("panic", &run.panic), ("off-script", &run.off_script)] {
        if let Some(said) = said {
            lines.extend(wrap(&format!("{what}: {said}"), INDENT, DEEPER, width));
        }
    }
    for violation in &run.violations {
        lines.extend(violated(violation, width, paint));
    }
    if let Some(both) = &run.nondeterminism {
        lines.push(format!("{INDENT}not repeatable: played twice, it went two ways"));
        lines.extend(both.lines().take(TWO_WAYS).map(|line| cut(&format!("{DEEPER}{}", one_line(line)), width)));
        if let Some(more) = both.lines().count().checked_sub(TWO_WAYS).filter(|more| *more > 0) {
            lines.push(format!("{DEEPER}and {more} more lines"));
        }
    }
    for note in &run.notes {
        lines.extend(wrap(&format!("note: {note}"), INDENT, DEEPER, width));
    }
    if !run.excerpt.is_empty() {
        lines.push(String::new());
        lines.extend(excerpt(&run.excerpt, width, paint));
    }
    lines
}

fn headline(run: &RunResult, paint: Paint) -> String {
    let verdict = match by_verdict(run) || run.nondeterminism.is_none() {
        true => paint.verdict(run.verdict),
        false => paint.bad(&words(run)),
    };
    let tail = [run.subject(), run.tier.to_string()].into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join("  ");
    format!("{verdict}  {}  {tail}", paint.bold(&run.id))
}

fn violated(violation: &Violation, width: usize, paint: Paint) -> Vec<String> {
    let Violation { invariant, words, at_ms, message, event, before, after, .. } = violation;
    let mut lines = wrap(words, &format!("{INDENT}{}  ", one_line(invariant)), DEEPER, width);
    if let Some(first) = lines.first_mut() {
        *first = first.replacen(invariant.as_str(), &paint.bold(invariant), 1);
    }
    let after_event = event.as_ref().map(|event| format!(", after {event}")).unwrap_or_default();
    lines.extend(wrap(&format!("at {at_ms} ms{after_event}: {message}"), DEEPER, &format!("{DEEPER}  "), width));
    let (Some(before), Some(after)) = (before, after) else {
        let one = before.as_ref().map(|view| ("before", view)).or(after.as_ref().map(|view| ("after", view)));
        lines.extend(one.map(|(when, view)| cut(&format!("{DEEPER}view {when}: {}", one_line(&view.to_string())), width)));
        return lines;
    };
    let changes = view_diff::changes(before, after);
    if changes.is_empty() {
        lines.push(format!("{DEEPER}view: nothing changed"));
    }
    let value = |text: &str| cut(&one_line(text), VALUE_WIDTH);
    let shown: Vec<Vec<String>> = changes
        .iter()
        .take(CHANGES)
        .map(|change| vec![format!("view {}:", change.path), format!("{} -> {}", value(&change.before), value(&change.after))])
        .collect();
    lines.extend(columns(&shown, &[]).iter().map(|line| cut(&format!("{DEEPER}{line}"), width)));
    if changes.len() > CHANGES {
        lines.push(format!("{DEEPER}view: and {} more changes", changes.len() - CHANGES));
    }
    lines
}

/// The lines around the moment, aligned, the moment marked.
pub(crate) fn excerpt(trace: &[TraceLine], width: usize, paint: Paint) -> Vec<String> {
    let moment = trace.iter().position(|line| line.moment);
    let first = moment.unwrap_or(trace.len()).saturating_sub(EXCERPT_BEFORE).min(trace.len().saturating_sub(EXCERPT_LINES));
    let shown = &trace[first..trace.len().min(first + EXCERPT_LINES)];
    let rows: Vec<Vec<String>> =
        shown.iter().map(|line| vec![format!("{} ms", line.at_ms), one_line(&line.who), one_line(&line.what)]).collect();
    let mut lines: Vec<String> = Vec::new();
    for (line, text) in shown.iter().zip(columns(&rows, &[0])) {
        let mark = if line.moment { ">" } else { " " };
        let text = cut(&format!("{INDENT}{mark} {text}"), width);
        lines.push(if line.moment { paint.bold(&text) } else { text });
    }
    lines
}

/// One line for a run that needs no block.
pub(crate) fn line(run: &RunResult, said: &str, width: usize) -> String {
    let verdict = pad(&run.verdict.to_string(), "engine panicked".len());
    cut(&format!("{verdict}  {}  {}  {}", one_line(&run.id), run.subject(), one_line(said)), width)
}
