//! Handle tables and command queues of the API layer, who sleeps in the CPU's queues and who works on its launches, with locks and atomics
//! that try every order of their threads.
//!
//! The files are those of `cal-api` and `backend-cpu`, compiled once more: what they take from `crate::sync` is loom's here.
#![allow(dead_code)]

#[path = "../../../cal-api/src/error.rs"]
mod error;
#[path = "../../../cal-api/src/handle.rs"]
mod handle;
#[path = "../../../cal-api/src/line.rs"]
mod line;
#[path = "../../../backend-cpu/src/schedule/shares.rs"]
mod shares;
#[path = "../../../backend-cpu/src/sleepers.rs"]
mod sleepers;
mod sync;

pub mod models;
