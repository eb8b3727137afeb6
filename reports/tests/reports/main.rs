//! What the crate promises to who reads its reports: golden pages over one small report with every verdict, the exit
//! code of every pair of causes, and what a baseline lets pass.

mod baseline;
mod data;
mod exit;
mod fixture;
mod golden;
mod human;
mod machines;
