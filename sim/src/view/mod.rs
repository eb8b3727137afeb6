//! What a user of the host sees, built from nothing but what a viewer receives.

pub mod decode;
pub mod model;
mod reconnect;
pub mod viewer;

pub use model::*;
pub use viewer::Viewer;
