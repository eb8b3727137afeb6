//! Hosts that keep a rule, and the same hosts with one thing broken.
