//! Words that end badly or never: `loop`, `trap`, `panic`, `exit`, `memory-bomb`, `deep-recursion`, `print-flood`, `log-flood`,
//! `leak-handles`.

use std::hint::black_box;
use std::io::Write;

use crate::Answer;
use crate::bindings::hookgate::plugin::call::{Matcher, Syntax};
use crate::bindings::hookgate::plugin::log::{Level, write};
use crate::bindings::hookgate::plugin::types::{Failure, Verdict};

pub fn answer(word: &str) -> Answer {
    Some(match word {
        "loop" => spin(),
        "trap" => trap(),
        "panic" => panic!("told to panic"),
        "exit" => std::process::exit(3),
        "memory-bomb" => memory_bomb(),
        "deep-recursion" => deep_recursion(),
        "print-flood" => print_flood(),
        "log-flood" => log_flood(),
        "leak-handles" => leak_handles(),
        _ => return None,
    })
}

pub fn spin() -> ! {
    loop {
        std::hint::spin_loop();
    }
}

pub fn trap() -> ! {
    core::arch::wasm32::unreachable()
}

/// Allocates and writes every byte, until the memory is refused and the allocator aborts.
fn memory_bomb() -> ! {
    const CHUNK_BYTES: usize = 1 << 20;
    let mut held = Vec::new();
    loop {
        held.push(black_box(vec![0xa5_u8; CHUNK_BYTES]));
    }
}

/// Ends the call stack itself: values stay in locals, so no memory is written on the way down.
fn deep_recursion() -> Result<Verdict, Failure> {
    black_box(ackermann(black_box(4), black_box(3)));
    Ok(Verdict::Allow)
}

/// Its inner call cannot be turned into a loop.
#[inline(never)]
fn ackermann(m: u64, n: u64) -> u64 {
    match (m, n) {
        (0, n) => n.wrapping_add(1),
        (m, 0) => ackermann(m - 1, 1),
        (m, n) => ackermann(m - 1, ackermann(m, n - 1)),
    }
}

/// 64 MB to stdout. A refused write does not stop it.
fn print_flood() -> Result<Verdict, Failure> {
    let line = [b'x'; 64 * 1024];
    let mut stdout = std::io::stdout();
    for _ in 0..1024 {
        drop(stdout.write_all(&line));
    }
    Ok(Verdict::Allow)
}

fn log_flood() -> ! {
    let message = "flood ".repeat(200);
    loop {
        write(Level::Info, &message, "{}");
    }
}

/// Handles are kept, so the host's table grows; a refusal ends it with a failure.
fn leak_handles() -> Result<Verdict, Failure> {
    let mut held = Vec::new();
    for n in 0_u64.. {
        let pattern = format!("pattern {}", n % 8);
        match Matcher::compile(&[pattern], Syntax::Literal) {
            Ok(matcher) => held.push(matcher),
            Err(refusal) => return Err(crate::refused(refusal)),
        }
    }
    Ok(Verdict::Allow)
}
