//! Regression rows and who guards them.

use std::sync::Arc;

use scenarios::{
    Rows, Scenario,
    rows::{Owner, Row},
};
use serde::Serialize;

/// A row with everything that guards it.
#[derive(Clone, Debug, Serialize)]
pub struct Guarded {
    /// Its id.
    pub id: String,
    /// What must not happen again.
    pub title: String,
    /// Whom it concerns.
    pub providers: Vec<&'static str>,
    /// Invariants that see it happen.
    pub invariants: Vec<String>,
    /// Scenarios whose `guards` name it.
    pub scenarios: Vec<String>,
    /// Recorded scenes that guard it.
    pub scenes: Vec<String>,
    /// Tests that guard it.
    pub tests: Vec<String>,
}

impl Guarded {
    /// Whether nothing guards it.
    pub fn is_bare(&self) -> bool {
        self.scenarios.is_empty() && self.scenes.is_empty() && self.tests.is_empty()
    }
}

/// Every row, with its guards.
pub fn guarded(rows: &Rows, library: &[Arc<Scenario>]) -> Vec<Guarded> {
    rows.list().map(|row| with_guards(row, library)).collect()
}

/// One row with its guards.
pub fn with_guards(row: &Row, library: &[Arc<Scenario>]) -> Guarded {
    let names = |scenario: &&Arc<Scenario>| scenario.guards.iter().any(|guard| guard.value == row.id);
    Guarded {
        id: row.id.clone(),
        title: row.title.clone(),
        providers: row.providers.iter().copied().map(Owner::word).collect(),
        invariants: row.invariants.clone(),
        scenarios: library.iter().filter(names).map(|scenario| scenario.id.clone()).collect(),
        scenes: row.scenes.clone(),
        tests: row.tests.clone(),
    }
}
