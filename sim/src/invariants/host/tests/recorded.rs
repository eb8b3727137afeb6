//! Recorded runs under the reference engine.
use std::collections::BTreeMap;
#[test]
fn explore() {
    let casting = crate::cast::Casting::new(captures::catalog::Catalog::embedded()).unwrap();
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let version = std::env::var("V").unwrap_or("2.1.310".into());
    let only = std::env::var("S").ok();
    let scenes: Vec<String> = casting.catalog().scenes(captures::provider::Provider::Claude, &version).iter().map(|s| s.to_string()).collect();
    for scene in scenes {
        if only.as_ref().is_some_and(|only| *only != scene) { continue; }
        let capture = casting.catalog().get(captures::provider::Provider::Claude, &version, &scene).unwrap();
        let piece = crate::suite::Piece::Capture(capture);
        let outcome = crate::suite::rehearse(&casting, &piece, scenarios::Plan::default(), 1).unwrap();
        for count in &outcome.counts { *counts.entry(count.id).or_default() += count.checked; }
        println!("SCENE {scene}: {:?} {:?} {:?} {:?}", outcome.verdict, outcome.off_script, outcome.fault, outcome.liveness);
        for v in &outcome.violations { println!("   V {} at {}: {}", v.invariant, v.at, v.message); }
        if only.is_some() { println!("{}", crate::trace::Trace::render(&outcome.lines)); println!("{:#?}", outcome.view.chats); }
    }
    println!("{counts:?}");
}
