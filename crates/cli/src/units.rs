//! Numbers and reasons as people read them.

use std::{fmt, io};

/// `3461` as `3,461`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `870 us`, `12.4 ms`, `3.1 s`.
pub fn duration(microseconds: u64) -> String {
    match microseconds {
        0..1_000 => format!("{microseconds} us"),
        1_000..1_000_000 => format!("{:.1} ms", microseconds as f64 / 1e3),
        _ => format!("{:.1} s", microseconds as f64 / 1e6),
    }
}

/// `50 ms`, `30 s`: as it was set.
pub fn timeout(milliseconds: u64) -> String {
    if milliseconds.is_multiple_of(1_000) {
        format!("{} s", milliseconds / 1_000)
    } else {
        format!("{milliseconds} ms")
    }
}

/// `64 MiB`, `10 MB`; the unit the number is a whole multiple of, or bytes.
pub fn bytes(bytes: u64) -> String {
    const UNITS: [(u64, &str); 7] = [
        (1 << 40, "TiB"),
        (1 << 30, "GiB"),
        (1_000_000_000, "GB"),
        (1 << 20, "MiB"),
        (1_000_000, "MB"),
        (1 << 10, "KiB"),
        (1_000, "KB"),
    ];
    let fits = |(size, _): &&(u64, &str)| bytes >= *size && bytes.is_multiple_of(*size);
    match UNITS.iter().find(fits) {
        Some((size, unit)) => format!("{} {unit}", bytes / size),
        None => format!("{bytes} bytes"),
    }
}

/// Why a file could not be used, in words.
pub fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or folder".into(),
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        io::ErrorKind::IsADirectory => "is a folder, not a file".into(),
        io::ErrorKind::NotADirectory => "leads through a file".into(),
        kind => kind.to_string(),
    }
}

/// An error of the command itself: what failed, a colon, why.
pub fn failed(what: impl fmt::Display, error: &io::Error) -> anyhow::Error {
    anyhow::anyhow!("{what}: {}", reason(error))
}

/// Text of a plugin or a caller as a terminal may show it: one line, no control characters, no marks
/// that turn the direction of a line.
pub fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let turns = matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if c.is_control() || turns {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        let cases = [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (3_461, "3,461"),
            (1_234_567, "1,234,567"),
        ];
        for (number, text) in cases {
            assert_eq!(thousands(number), text);
        }
    }

    #[test]
    fn durations_have_the_unit_that_fits() {
        let cases = [
            (0, "0 us"),
            (999, "999 us"),
            (1_000, "1.0 ms"),
            (12_449, "12.4 ms"),
            (3_100_000, "3.1 s"),
        ];
        for (microseconds, text) in cases {
            assert_eq!(duration(microseconds), text);
        }
    }

    #[test]
    fn sizes_are_exact() {
        let cases = [
            (0, "0 bytes"),
            (1_023, "1023 bytes"),
            (64 << 20, "64 MiB"),
            (10_000_000, "10 MB"),
        ];
        for (size, text) in cases {
            assert_eq!(bytes(size), text);
        }
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(
            shown("a\n\u{1b}[31mb\u{202e}c"),
            "a\\n\\u{1b}[31mb\\u{202e}c"
        );
    }
}
