//! The escape suite: what a plugin may try, one file a class, each case with how it must end.
//!
//! A case ends in an error to the guest and a count under `refused`, or in the fault its row names. Afterwards
//! the same plugin and its neighbour in the same engine answer right. Network, HTTP and secrets have suites of
//! their own.

mod abi;
mod amplify;
mod components;
mod edits;
mod endless;
mod exhaust;
mod files;
mod hand;
mod json;
mod next;
mod processes;
mod reentry;
mod short;
mod symbols;
mod table;
