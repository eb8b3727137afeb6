//! A run ends with exactly one verdict, and the right one.

use std::sync::Arc;

use captures::{catalog::Catalog, provider::Provider};
use reports::Verdict;
use scenarios::Plan;
use sim::{
    cast::Casting,
    host::{ForHost, FromHost, Host},
    invariants,
    stage::{
        implied::Implied,
        run::{Rehearsal, RunOutcome, Setting, run},
    },
    view::{Clock, Timer},
};

/// A host that does nothing, until it is told something that it cannot bear.
struct Idle {
    panics: bool,
}

impl Host for Idle {
    fn take(&mut self, _: Clock, happening: ForHost) {
        assert!(!(self.panics && matches!(happening, ForHost::User(_))), "the host broke");
    }
    fn wants(&mut self) -> Vec<FromHost> {
        Vec::new()
    }
    fn deadline(&self) -> Option<u64> {
        None
    }
    fn timers(&self) -> Option<Vec<Timer>> {
        None
    }
    fn unflushed(&self, _: &str) -> bool {
        false
    }
    fn ends_requests(&self, _: &str) -> bool {
        false
    }
    fn fire(&mut self, _: Clock) -> Option<String> {
        None
    }
    fn leases(&self) -> Vec<u64> {
        Vec::new()
    }
}

fn rehearse(host: Idle) -> RunOutcome {
    let casting = Casting::new(Catalog::embedded()).expect("captures parse");
    let capture = casting.catalog().get(Provider::Claude, "2.1.310", "plain-turn").expect("scene");
    let cast = vec![casting.member(Arc::clone(&capture), Vec::new(), false)];
    let setting = Setting { cast, files: casting.files(&capture), plan: Plan::default(), seed: 1, raw: false };
    let mut n = 0;
    let director = Implied::new(&capture, move || {
        n += 1;
        format!("message-{n}")
    });
    run(Rehearsal { host: Box::new(host), director: Box::new(director), setting: &setting, invariants: invariants::all() })
}

#[test]
fn a_panic_of_the_host_is_engine_panicked_and_ends_only_its_run() {
    // The panic is expected: its message on stderr would only confuse whoever reads the test's output.
    std::panic::set_hook(Box::new(|_| {}));
    let outcome = rehearse(Idle { panics: true });
    let _ = std::panic::take_hook();
    assert_eq!(outcome.verdict, Verdict::EnginePanicked);
    assert_eq!(outcome.fault.as_deref(), Some("the host broke"));
}

#[test]
fn a_host_that_loses_the_message_does_not_conform() {
    let outcome = rehearse(Idle { panics: false });
    assert_ne!(outcome.verdict, Verdict::Conforms);
}
