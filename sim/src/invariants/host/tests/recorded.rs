//! Recorded runs under the reference engine: no host-neutral rule accuses it, and each rule finds something to judge.

use std::collections::BTreeMap;

use captures::{catalog::Catalog, provider::Provider};
use scenarios::Plan;

use crate::{
    cast::Casting,
    suite::{Piece, rehearse},
};

/// Rules that a recorded run gives nothing to judge: strange frames and crashes come from plans, the order of frames from two
/// runs.
const NOT_BY_RECORDINGS: &[&str] = &["I10", "I13", "I16"];

#[test]
fn a_sound_host_is_accused_of_nothing_in_any_recorded_scene() {
    let casting = Casting::new(Catalog::embedded()).expect("embedded captures parse");
    let mut checked: BTreeMap<&str, u64> = super::super::all().iter().map(|invariant| (invariant.id(), 0)).collect();
    let mut accused = Vec::new();
    for version in casting.catalog().versions(Provider::Claude) {
        for scene in casting.catalog().scenes(Provider::Claude, version) {
            let capture = casting.catalog().get(Provider::Claude, version, scene).expect("a listed scene");
            let outcome = rehearse(&casting, &Piece::Capture(capture), Plan::default(), 1).expect("the engine starts");
            for count in &outcome.counts {
                if let Some(sum) = checked.get_mut(count.id) {
                    *sum += count.checked;
                }
            }
            let ours = outcome.violations.iter().filter(|violation| checked.contains_key(violation.invariant));
            accused.extend(ours.map(|violation| format!("{version} {scene}: {} {}", violation.invariant, violation.message)));
        }
    }
    assert!(accused.is_empty(), "{accused:#?}");
    let idle: Vec<&&str> =
        checked.iter().filter(|(id, sum)| **sum == 0 && !NOT_BY_RECORDINGS.contains(id)).map(|(id, _)| id).collect();
    assert!(idle.is_empty(), "nothing to judge in any recorded scene: {idle:?}");
}
