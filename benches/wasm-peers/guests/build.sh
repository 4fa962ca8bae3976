#!/usr/bin/env bash
# Builds the guests of `make bench-peers` into the folder $1.
set -euo pipefail
out=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")"
# Flags meant for the host's own build must not reach wasm32.
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS CARGO_BUILD_TARGET CARGO_BUILD_RUSTFLAGS CARGO_TARGET_DIR
for target in wasm32-unknown-unknown wasm32-wasip2; do
    [ -d "$(rustc --print sysroot)/lib/rustlib/$target" ] || rustup target add "$target"
done
cargo build --quiet --locked --release --target wasm32-unknown-unknown --target-dir "$out/build" \
    --package deny-list-extism --package one-field-extism
cargo build --quiet --locked --release --target wasm32-wasip2 --target-dir "$out/build" --package one-field
cp "$out/build/wasm32-unknown-unknown/release/"{deny_list_extism,one_field_extism}.wasm "$out/build/wasm32-wasip2/release/one_field.wasm" "$out/"
