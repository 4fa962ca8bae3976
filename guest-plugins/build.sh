#!/usr/bin/env bash
# Builds every guest component into target/guests/, skipping what is newer than its sources.
#   guest-plugins/build.sh              all of them
#   guest-plugins/build.sh --rust-only  without the compiled-Python ones (no Python needed)
set -euo pipefail

usage="usage: guest-plugins/build.sh [--rust-only]"
rust_only=false
case "${1-}" in
    "") ;;
    --rust-only) rust_only=true ;;
    -h | --help) echo "$usage"; exit 0 ;;
    *) echo "error: unknown argument: $1; $usage" >&2; exit 2 ;;
esac

cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=target/guests
build=target/guest-build
tools=target/tools/componentize-py
wit=wit/plugin.wit

# Flags meant for the host's own build must not reach wasm32.
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS CARGO_BUILD_TARGET CARGO_BUILD_RUSTFLAGS CARGO_TARGET_DIR

die() {
    echo "error: $1; hint: $2" >&2
    exit 1
}

# True if $1 is missing or older than any file below the other arguments.
stale() {
    local output=$1
    shift
    [ ! -e "$output" ] && return 0
    [ -n "$(find "$@" -type f -not -path '*/__pycache__/*' -newer "$output" -print -quit)" ]
}

# Moves a finished file into place in one step, so that nobody ever reads half of one. It gets the time the build began:
# a source saved while it was being compiled is newer than that.
install_component() {
    local built=$1 name=$2
    [ "$(od -An -tx1 -N8 "$built" | tr -d ' \n')" = 0061736d0d000100 ] ||
        die "$built is not a component" "wasm32-wasip2 and componentize-py write components; remove $build and build again"
    cp "$built" "$out/.$name.partial"
    touch -r "$build/started" "$out/.$name.partial"
    mv -f "$out/.$name.partial" "$out/$name.wasm"
    echo "built $out/$name.wasm"
}

# Builds a cargo workspace ($1) once if any of its crates ($2...) needs it.
rust_workspace() {
    local workspace=$1 crate stale_crates=()
    shift
    for crate in "$@"; do
        if stale "$out/$crate.wasm" "$wit" "$workspace/Cargo.toml" "$workspace/Cargo.lock" "$workspace/$crate" rust-toolchain.toml; then
            stale_crates+=("$crate")
        else
            echo "fresh $out/$crate.wasm"
        fi
    done
    [ ${#stale_crates[@]} -eq 0 ] && return 0
    check_rust
    local target_dir=$build/${workspace//\//-} packages=()
    for crate in "${stale_crates[@]}"; do packages+=(--package "$crate"); done
    # A compiler wrapper's daemon would inherit the lock and keep it: hence 9>&-.
    cargo build --quiet --locked --release --target wasm32-wasip2 --manifest-path "$workspace/Cargo.toml" \
        --target-dir "$target_dir" "${packages[@]}" 9>&-
    for crate in "${stale_crates[@]}"; do
        install_component "$target_dir/wasm32-wasip2/release/${crate//-/_}.wasm" "$crate"
    done
}

check_rust() {
    command -v cargo >/dev/null || die "cargo is missing" "install Rust from https://rustup.rs"
    [ -d "$(rustc --print sysroot)/lib/rustlib/wasm32-wasip2" ] ||
        die "the rust target wasm32-wasip2 is missing" "rustup target add wasm32-wasip2"
}

# Builds one compiled-Python plugin ($1, its folder) as $2.
python_component() {
    local folder=$1 name=$2
    if ! stale "$out/$name.wasm" "$wit" "$folder" guest-plugins/requirements.txt; then
        echo "fresh $out/$name.wasm"
        return 0
    fi
    install_tools
    mkdir -p "$build/python"
    # VIRTUAL_ENV: otherwise whatever Python the caller has active would lend its site-packages.
    VIRTUAL_ENV=$tools "$tools/bin/componentize-py" --quiet --wit-path "$wit" --world policy \
        componentize --stub-wasi --python-path "$folder" --output "$build/python/$name.wasm" app 9>&-
    install_component "$build/python/$name.wasm" "$name"
}

# A virtualenv of its own for componentize-py, made again when the pin changes.
install_tools() {
    cmp -s guest-plugins/requirements.txt "$tools/installed.txt" && return 0
    local python
    python=$(find_python)
    rm -rf "$tools"
    "$python" -m venv "$tools" >/dev/null ||
        die "$python cannot make a virtualenv with pip" "install python3-venv, or build with --rust-only"
    "$tools/bin/python" -m pip --version >/dev/null 2>&1 ||
        die "pip is missing from $python" "$python -m ensurepip, or build with --rust-only"
    "$tools/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: \
        --requirement guest-plugins/requirements.txt ||
        die "pip could not install guest-plugins/requirements.txt" "see pip's message above, or build with --rust-only"
    cp guest-plugins/requirements.txt "$tools/installed.txt"
    echo "installed $tools"
}

find_python() {
    local candidate
    for candidate in python3 python3.14 python3.13 python3.12 python3.11; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
            echo "$candidate"
            return 0
        fi
    done
    die "no python3 of version 3.11 or later on PATH" "install one, or build with --rust-only"
}

mkdir -p "$out" "$build"
command -v flock >/dev/null || die "flock is missing" "install util-linux"
exec 9>"$out/.lock"
flock 9
touch "$build/started"

rust_workspace guest-plugins deny-list-rust redactor-rust
rust_workspace tests/guests script-rust hostile net-client future-version unknown-interface patch-version tools-only
if ! $rust_only; then
    python_component guest-plugins/deny-list-python deny-list-python
    python_component guest-plugins/redactor-python redactor-python
    python_component tests/guests/script-python script-python
fi
