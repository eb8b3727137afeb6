use std::sync::Arc;
use captures::{catalog::Catalog, provider::Provider};
fn main() {
    let catalog = Catalog::embedded();
    let filter = std::env::args().nth(1).unwrap_or_default();
    let show = std::env::args().nth(2).is_some();
    for version in catalog.versions(Provider::Claude) {
        for scene in catalog.scenes(Provider::Claude, version) {
            if !scene.contains(&filter) { continue; }
            let capture: Arc<_> = catalog.get(Provider::Claude, version, scene).unwrap();
            let out = sim::suite::rehearse_capture(&catalog, &capture, scenarios::Plan::default(), 1).unwrap();
            println!("{version} {scene}: {:?} {} ev {} ms {:?} {:?} {:?} unreached {}", out.verdict, out.events, out.simulated_ms, out.off_script, out.fault, out.liveness, out.unreached.len());
            for v in &out.violations { println!("   {} @{} {}", v.invariant, v.at, v.message); }
            if show { print!("{}", sim::trace::Trace::render(&out.lines)); for c in &out.view.chats { for t in &c.turns { println!("{t:?}"); } for e in &c.transcript { println!("{} {:?} {:?}", e.role, e.state, e.parts); } for r in &c.rows { println!("{r:?}"); } for t in &c.tabs { println!("TAB {} {:?}", t.title, t.entries); } } }
        }
    }
}
