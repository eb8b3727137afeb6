//! One evidence for many judges: whoever looks first at a moment reads on, the others find it read.

use std::{
    cell::{Ref, RefCell},
    rc::Rc,
};

use super::Evidence;
use crate::history::History;

/// A handle to the evidence of one run.
#[derive(Clone, Debug, Default)]
pub struct Shared(Rc<RefCell<Evidence>>);

impl Shared {
    /// The evidence up to the last happening of the history.
    pub fn read(&self, history: &History) -> Ref<'_, Evidence> {
        if self.0.borrow().seen() < history.happenings.len() {
            self.0.borrow_mut().advance(history);
        }
        self.0.borrow()
    }
}
