//! The phases: what a plugin may do in each mode, and how many plugins make one outcome.

#[path = "modes/background.rs"]
mod background;
#[path = "modes/cast.rs"]
mod cast;
#[path = "modes/cells.rs"]
mod cells;
#[path = "modes/concurrent.rs"]
mod concurrent;
#[path = "modes/denials.rs"]
mod denials;
#[path = "modes/faults.rs"]
mod faults;
#[path = "modes/logs.rs"]
mod logs;
#[path = "modes/merging.rs"]
mod merging;
#[path = "modes/order.rs"]
mod order;
#[path = "modes/records.rs"]
mod records;
#[path = "modes/shutdown.rs"]
mod shutdown;
mod support;
