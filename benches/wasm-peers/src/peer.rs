//! The peer's side: extism plugins, reused or made anew for each call.

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use extism::{CompiledPlugin, Manifest, Plugin, PluginBuilder, Wasm};

use crate::clock::Calls;

/// Code that is compiled, with its configuration.
pub fn compiled(guests: &Path, guest: &str, config: &[(&str, String)]) -> CompiledPlugin {
    let file = guests.join(format!("{guest}.wasm"));
    let code = std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let config = config
        .iter()
        .map(|(key, value)| ((*key).to_owned(), value.clone()));
    // Without a time limit, which costs it a message to another thread at each call. Ours has one.
    let manifest = Manifest::new([Wasm::data(code)]).with_config(config);
    PluginBuilder::new(manifest)
        .with_wasi(false)
        .with_cache_disabled()
        .compile()
        .expect("the peer's guest compiles")
}

fn ask(plugin: &mut Plugin, text: &str) {
    let answer: String = plugin.call("check", black_box(text)).expect("it answers");
    assert_eq!(answer, "allow");
}

/// Calls of one plugin that is reused.
pub fn reused<'a>(compiled: &CompiledPlugin, text: &'a str) -> Calls<'a> {
    let mut plugin = Plugin::new_from_compiled(compiled).expect("an instance");
    Box::new(move |count| {
        let started = Instant::now();
        for _ in 0..count {
            ask(&mut plugin, text);
        }
        started.elapsed()
    })
}

/// Calls a second of plugins that are made anew for each call, on that many threads.
pub fn fresh(compiled: &CompiledPlugin, text: &str, threads: usize, time: Duration) -> f64 {
    let until = Instant::now() + time;
    let calls: usize = std::thread::scope(|scope| {
        let work = || {
            let mut calls = 0;
            while Instant::now() < until {
                let mut plugin = Plugin::new_from_compiled(compiled).expect("an instance");
                ask(&mut plugin, text);
                calls += 1;
            }
            calls
        };
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("it counts"))
            .sum()
    });
    calls as f64 / time.as_secs_f64()
}
