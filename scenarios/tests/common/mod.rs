//! What the tests of reports share.

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme};

/// The report as a terminal of 100 columns without colours shows it.
pub fn render(diagnostic: &dyn Diagnostic) -> String {
    let mut out = String::new();
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor()).with_width(100).with_links(false);
    handler.render_report(&mut out, diagnostic).expect("a string takes every report");
    // Trailing blanks differ between editors; nothing else may.
    out.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}
