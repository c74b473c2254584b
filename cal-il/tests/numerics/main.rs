//! The numbers: every scalar operation against references of other origin.

mod exact;
mod gcn;
mod golden;
mod idioms;
mod inexact;
mod integer;
mod sequences;
mod support;
