//! Colours, or none.

use owo_colors::{OwoColorize, Style};

use crate::verdict::Verdict;

/// Paints, or leaves the text alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    /// Whether to paint.
    pub colour: bool,
}

impl Paint {
    fn style(self, text: &str, style: Style) -> String {
        if self.colour && !text.is_empty() { text.style(style).to_string() } else { text.to_owned() }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.style(text, Style::new().bold())
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.style(text, Style::new().dimmed())
    }

    pub(crate) fn good(self, text: &str) -> String {
        self.style(text, Style::new().green())
    }

    pub(crate) fn bad(self, text: &str) -> String {
        self.style(text, Style::new().red().bold())
    }

    /// A verdict: red for what is wrong, yellow for what could not be judged to its end.
    pub(crate) fn verdict(self, verdict: Verdict) -> String {
        let words = verdict.to_string();
        match verdict {
            Verdict::Conforms => self.good(&words),
            Verdict::OffScript | Verdict::HarnessFault => self.style(&words, Style::new().yellow().bold()),
            Verdict::EnginePanicked | Verdict::Violated | Verdict::Liveness => self.bad(&words),
        }
    }
}
