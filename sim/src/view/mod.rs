//! What a user of the host sees, built from nothing but what a viewer receives.

pub mod model;

pub use model::*;
