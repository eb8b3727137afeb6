//! Random event lists: the document equals the plain fold, whatever is split, and wherever the host is killed (M4, M5).

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

use super::script::{Op, parse};
use super::{check_chips, model, run_all_ways, run_with_reloads};
use crate::chat::read;

/// One line of the script language over a small alphabet, so that ids meet.
fn op() -> impl Strategy<Value = Op> {
    let entry = prop_oneof!["m[0-3]", "a[0-5]"];
    let text = prop_oneof![
        8 => "[a-zé€ ]{1,12}".prop_map(|text| format!("\"{text}\"")),
        1 => Just("\"\"".to_owned()),
        1 => prop_oneof![Just(32_767), Just(32_768), Just(40_000), Just(262_144)].prop_map(|n| format!("x{n}")),
    ];
    let key = prop_oneof![Just(""), Just("/p"), Just("/q")];
    let tool = "[tc][0-2]";
    let line = prop_oneof![
        2 => entry.clone().prop_map(|id| format!("user {id} hello")),
        4 => entry.clone().prop_map(|id| format!("begin {id}")),
        9 => (prop_oneof![Just("text"), Just("think")], key, text.clone()).prop_map(|(word, key, text)| format!("{word}{key} {text}")),
        3 => (prop_oneof![Just("/p"), Just("/q")], text).prop_map(|(key, text)| format!("snap{key} {text}")),
        3 => (tool, "[ab]").prop_map(|(id, name)| match id.strip_prefix('t') {
            Some(_) => format!("exec {id} {name}"),
            None => format!("spawn {id} Agent: {name}"),
        }),
        1 => "[ab]".prop_map(|item| format!("plan {item}")),
        2 => (tool, prop_oneof![Just("out=abc"), Just("bad diff"), Just("")]).prop_map(|(id, words)| format!("result {id} {words}")),
        1 => Just("result live-plan".to_owned()),
        4 => ("c[0-2]", prop_oneof![Just(""), Just("doc=d"), Just("doc=e")], prop_oneof![Just(""), Just("running"), Just("done"), Just("failed")], prop_oneof![Just(""), Just("revive")])
            .prop_map(|(id, doc, status, revive)| format!("chip {id} {doc} {status} {revive}")),
        1 => "q[01]".prop_map(|id| format!("ask {id} Sure?")),
        1 => "q[01]".prop_map(|id| format!("answer {id}")),
        1 => "[ef]".prop_map(|message| format!("error {message}")),
        2 => prop_oneof![Just("finish"), Just("abort"), Just("fail e"), Just("recover f")].prop_map(str::to_owned),
        1 => entry.prop_map(|id| format!("point {id} x")),
    ];
    line.prop_map(|line| parse(&line).remove(0))
}

proptest! {
    #![proptest_config(Config { cases: 300, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Config::default() })]

    /// DO-04: the document is the fold of its events, whatever they are.
    #[test]
    fn document_differs_from_the_fold(ops in prop::collection::vec(op(), 0..60)) {
        prop_assert_eq!(run_all_ways(&ops), model::entries(&ops));
    }

    /// DO-04: and also when it was loaded again in between.
    #[test]
    fn document_differs_after_kills(ops in prop::collection::vec((op(), prop::bool::weighted(0.2)), 0..60)) {
        let (ops, kills): (Vec<_>, Vec<_>) = ops.into_iter().unzip();
        let host = run_with_reloads(&ops, |n| kills[n]);
        let entries = read::entries(host.loro());
        check_chips(&host, &entries);
        prop_assert_eq!(entries, model::entries(&ops));
    }
}
