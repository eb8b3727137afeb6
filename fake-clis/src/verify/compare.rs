//! Compares what the model said with what was recorded, stream by stream, and the order between streams with the races.

use std::collections::BTreeMap;

use captures::{
    compare::{Names, Sorter, children_race},
    format::{Capture, From, What},
    provider::Provider,
    races::{Classifier, FrameClass, Races, Relation},
};
use serde_json::Value;

use super::{ModelReport, play::Played};

/// The first difference of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The stream, `main`, `child toolu_…`, or `order`, `exit`, `stdin`.
    pub stream: String,
    /// Index of the frame in its stream.
    pub index: usize,
    /// Path of the field.
    pub path: String,
    /// What was recorded.
    pub expected: String,
    /// What the model said.
    pub actual: String,
}

/// Characters of a value that a difference shows.
const SHOWN: usize = 600;

pub(super) fn compare(capture: &Capture, played: &Played, races: Option<&Races>) -> ModelReport {
    let recorded: Vec<&Value> =
        capture.entries.iter().filter(|entry| entry.from == From::Cli).filter_map(|entry| entry.what.frame()).collect();
    let said: Vec<&Value> = played.frames.iter().collect();
    let racing = children_race(&recorded);
    let (expected, actual) = (sort(&recorded), sort(&said));
    let mut names = Names::new(racing);
    let mut differences = Vec::new();
    let streams: std::collections::BTreeSet<&String> = expected.keys().chain(actual.keys()).collect();
    for stream in streams {
        let none = Vec::new();
        let (theirs, mine) = (expected.get(stream).unwrap_or(&none), actual.get(stream).unwrap_or(&none));
        let mut found = false;
        for index in 0..theirs.len().max(mine.len()) {
            let (one, other) = (theirs.get(index).map(|at| recorded[*at]), mine.get(index).map(|at| said[*at]));
            let (one, other) = names.normal(one, other);
            if !found && one != other {
                found = true;
                let (path, expected, actual) = first_difference("", &one, &other);
                differences.push(Difference { stream: stream.clone(), index, path, expected, actual });
            }
        }
    }
    if differences.is_empty() {
        differences.extend(order(&recorded, &said, &expected, &actual, races));
    }
    differences.extend(exit(capture, played));
    for words in &played.forced {
        differences.push(Difference {
            stream: "stdin".into(),
            index: 0,
            path: String::new(),
            expected: "every host line at its causal place".into(),
            actual: words.clone(),
        });
    }
    ModelReport {
        scene: capture.header.scene.clone(),
        version: capture.header.version.clone(),
        differences,
        frames: recorded.len(),
        taped: played.taped.clone(),
    }
}

fn sort(frames: &[&Value]) -> BTreeMap<String, Vec<usize>> {
    let mut sorter = Sorter::default();
    let mut streams: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, frame) in frames.iter().enumerate() {
        streams.entry(sorter.stream(frame)).or_default().push(index);
    }
    streams
}

/// Where two values first differ.
fn first_difference(path: &str, one: &Option<Value>, other: &Option<Value>) -> (String, String, String) {
    match (one, other) {
        (Some(Value::Object(a)), Some(Value::Object(b))) => {
            // The kind of a frame says most: it is compared before anything else.
            let first = ["type", "subtype", "state", "status", "event"];
            let keys = first.iter().map(|key| (*key).to_owned()).chain(a.keys().cloned()).chain(b.keys().cloned());
            for key in keys {
                let (x, y) = (a.get(&key).cloned(), b.get(&key).cloned());
                if x != y {
                    let deeper = matches!(
                        (&x, &y),
                        (Some(Value::Object(_)), Some(Value::Object(_))) | (Some(Value::Array(_)), Some(Value::Array(_)))
                    );
                    let path = format!("{path}/{key}");
                    if deeper {
                        return first_difference(&path, &x, &y);
                    }
                    let whole = first.contains(&key.as_str()) && !path[1..].contains('/');
                    return if whole { (path, show(one), show(other)) } else { (path, show(&x), show(&y)) };
                }
            }
            (path.to_owned(), show(one), show(other))
        }
        (Some(Value::Array(a)), Some(Value::Array(b))) if a.len() == b.len() => {
            let index = a.iter().zip(b).position(|(x, y)| x != y).unwrap_or(0);
            first_difference(&format!("{path}/{index}"), &a.get(index).cloned(), &b.get(index).cloned())
        }
        _ => (path.to_owned(), show(one), show(other)),
    }
}

fn show(value: &Option<Value>) -> String {
    value.as_ref().map_or("nothing".into(), |value| value.to_string().chars().take(SHOWN).collect())
}

/// The first pair of frames of two streams that changed places and may not.
fn order(
    recorded: &[&Value],
    said: &[&Value],
    expected: &BTreeMap<String, Vec<usize>>,
    actual: &BTreeMap<String, Vec<usize>>,
    races: Option<&Races>,
) -> Option<Difference> {
    let mut classifier = Classifier::new(Provider::Claude);
    // The table leaves deltas out: they have no place but between their block's start and stop.
    let delta = || Some(FrameClass { class: "stream/content_block_delta".into(), task: None });
    let classes: Vec<Option<FrameClass>> =
        recorded.iter().map(|frame| classifier.class(&From::Cli, frame).or_else(delta)).collect();
    let mut place = vec![0; recorded.len()];
    for (stream, theirs) in expected {
        for (at, mine) in theirs.iter().zip(&actual[stream]) {
            place[*at] = *mine;
        }
    }
    for second in 0..recorded.len() {
        for first in 0..second {
            let (Some(a), Some(b)) = (&classes[first], &classes[second]) else { continue };
            if place[first] < place[second] || may_swap(a, b, races) {
                continue;
            }
            return Some(Difference {
                stream: "order".into(),
                index: second,
                path: format!("{} < {}", a.class, b.class),
                expected: format!("{}\n    before {}", clip(recorded[first]), clip(recorded[second])),
                actual: format!("{}\n    before {}", clip(said[place[second]]), clip(said[place[first]])),
            });
        }
    }
    None
}

fn clip(frame: &Value) -> String {
    frame.to_string().chars().take(SHOWN / 3).collect()
}

fn may_swap(a: &FrameClass, b: &FrameClass, races: Option<&Races>) -> bool {
    let Some(races) = races else { return false };
    let relations: &[Relation] = match (&a.task, &b.task) {
        (Some(x), Some(y)) if x != y => &[Relation::DifferentTasks],
        (Some(_), Some(_)) => &[],
        (None, None) => &[Relation::RequestAndTurn, Relation::OtherMessage, Relation::SameMessage, Relation::Timer],
        _ => &[Relation::TaskAndMain, Relation::SameMessage, Relation::Timer, Relation::RequestAndTurn, Relation::OtherMessage],
    };
    relations.iter().any(|relation| races.may_swap(&a.class, &b.class, *relation).is_some())
}

/// How the process ended, where the recording shows it.
fn exit(capture: &Capture, played: &Played) -> Option<Difference> {
    let recorded = capture.entries.iter().find_map(|entry| match &entry.what {
        What::Exit(exit) => Some(exit.clone()),
        _ => None,
    })?;
    if recorded.signal.is_some() || Some(&recorded) == played.exit.as_ref() {
        return None;
    }
    Some(Difference {
        stream: "exit".into(),
        index: 0,
        path: String::new(),
        expected: format!("{recorded:?}"),
        actual: format!("{:?}, stderr {:?}", played.exit, played.stderr),
    })
}
