use super::*;

const TOKEN: &str = "eyJhbGciOi.J9.s~ecret?k\u{e9}y>>>";
const STANDARD: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn finder() -> Finder {
    Finder::new([TOKEN, "another-token-0001"].into_iter())
}

/// A text given in pieces, each for itself.
fn scrubbed<'p>(finder: &Finder, pieces: impl IntoIterator<Item = &'p [u8]>) -> String {
    let mut scrubber = Scrubber::default();
    let mut shown = Vec::new();
    for piece in pieces {
        shown.extend(scrubber.take(finder, piece));
    }
    shown.extend(scrubber.finish(finder));
    String::from_utf8_lossy(&shown).into_owned()
}

/// Base64 as RFC 4648 says it, group by group.
fn base64(bytes: &[u8], url_safe: bool, padded: bool) -> String {
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let mut three = [0; 3];
        three[..group.len()].copy_from_slice(group);
        let number = u32::from(three[0]) << 16 | u32::from(three[1]) << 8 | u32::from(three[2]);
        for place in 0..=group.len() {
            let value = (number >> (18 - 6 * place) & 63) as usize;
            text.push(char::from(STANDARD[value]));
        }
        if padded {
            text.push_str(&"==="[..3 - group.len()]);
        }
    }
    if url_safe {
        text = text.replace('+', "-").replace('/', "_");
    }
    text
}

fn percent(bytes: &[u8], all: bool, upper: bool) -> String {
    let encode = |byte: &u8| {
        if !all && byte.is_ascii_alphanumeric() {
            char::from(*byte).to_string()
        } else if upper {
            format!("%{byte:02X}")
        } else {
            format!("%{byte:02x}")
        }
    };
    bytes.iter().map(encode).collect()
}

/// Every way a token can stand in a text, with what may be left of it: base64 characters that it shares with
/// its neighbours.
fn ways() -> Vec<(String, usize)> {
    let mut ways = vec![(TOKEN.to_owned(), 0)];
    for upper in [false, true] {
        for all in [false, true] {
            ways.push((percent(TOKEN.as_bytes(), all, upper), 0));
        }
    }
    ways.push((
        serde_json::to_string(TOKEN)
            .expect("JSON")
            .trim_matches('"')
            .to_owned(),
        0,
    ));
    for url_safe in [false, true] {
        for padded in [false, true] {
            let encoded = base64(TOKEN.as_bytes(), url_safe, padded);
            // Its padding is left.
            ways.push((percent(encoded.as_bytes(), false, true), 6));
            ways.push((encoded, 2));
            for before in ["u:", "Bearer ", "user:"] {
                for after in ["", "x", "xy", "xyz"] {
                    let around = format!("{before}{TOKEN}{after}");
                    let left = before.len().div_ceil(3) * 4 + after.len().div_ceil(3) * 4 + 4;
                    ways.push((base64(around.as_bytes(), url_safe, padded), left));
                }
            }
        }
    }
    ways
}

#[test]
fn every_form_is_hidden_wherever_a_read_ends() {
    let finder = finder();
    for (way, left) in ways() {
        let text = format!("a {way} b\nc\n");
        let whole = scrubbed(&finder, [text.as_bytes()]);
        assert!(
            whole.starts_with("a ") && whole.ends_with(" b\nc\n"),
            "{whole}"
        );
        assert!(whole.contains(HIDDEN), "{way}: {whole}");
        let rest = whole.len() - "a  b\nc\n".len() - HIDDEN.len();
        assert!(rest <= left, "{way}: {whole}");
        for at in 0..text.len() {
            let (first, second) = text.as_bytes().split_at(at);
            assert_eq!(scrubbed(&finder, [first, second]), whole, "{way} at {at}");
        }
        let bytes: Vec<_> = text.as_bytes().chunks(1).collect();
        assert_eq!(scrubbed(&finder, bytes), whole, "{way}, byte by byte");
    }
}

#[test]
fn a_token_over_two_lines_is_hidden_wherever_it_is_torn() {
    let finder = finder();
    for (way, _) in ways() {
        for at in 1..way.len() {
            for line_break in ["\n", "\r\n"] {
                let Some((first, second)) = way.split_at_checked(at) else {
                    continue;
                };
                let text = format!("a {first}{line_break}{second} b\n");
                let whole = scrubbed(&finder, [text.as_bytes()]);
                assert!(whole.contains(HIDDEN), "{way} at {at}: {whole}");
                assert_eq!(whole.matches('\n').count(), 2, "{way} at {at}: {whole}");
                // Whatever the first line shows: less than a head, and not the rest.
                let pieces = [
                    &text.as_bytes()[..2 + at + line_break.len()],
                    format!("{second} b\n").as_bytes(),
                ]
                .map(<[u8]>::to_vec);
                let torn = scrubbed(&finder, pieces.iter().map(Vec::as_slice));
                assert!(torn.contains(HIDDEN), "{way} at {at}: {torn}");
                let mut start = 1;
                while start + 8 <= TOKEN.len() {
                    if let Some(part) = TOKEN.get(start..start + 8) {
                        assert!(!torn.contains(part), "{way} at {at}: {torn}");
                    }
                    start += 1;
                }
            }
        }
    }
}

#[test]
fn a_line_is_shown_when_it_ends() {
    let finder = finder();
    let mut scrubber = Scrubber::default();
    for (piece, expected) in [
        ("done\n", "done\n"),
        ("tail e", "tail "),
        ("\n", "e\n"),
        ("e\n", "e\n"),
        ("eyJhbGciOi\n", "**********\n"),
        ("something else\n", "something else\n"),
        ("%", ""),
        ("4", ""),
        ("x\n", "%4x\n"),
        ("eyJ", ""),
        ("no\n", "eyJno\n"),
    ] {
        let shown = scrubber.take(&finder, piece.as_bytes());
        assert_eq!(String::from_utf8_lossy(&shown), expected, "{piece:?}");
    }
    assert_eq!(scrubber.finish(&finder), b"");
}

#[test]
fn a_start_at_the_end_of_everything_is_hidden() {
    let finder = finder();
    assert_eq!(
        scrubbed(&finder, [&b"it died at eyJhbGciOi"[..]]),
        "it died at **********"
    );
    assert_eq!(
        scrubbed(&finder, [&b"it died at eyJ"[..]]),
        "it died at eyJ"
    );
}

#[test]
fn tokens_side_by_side_and_over_each_other_are_hidden() {
    let twice = format!("{TOKEN}{TOKEN}");
    assert_eq!(finder().hide(&twice), HIDDEN);
    let both = format!("{TOKEN} another-token-0001");
    assert_eq!(finder().hide(&both), "********** **********");
    let overlapping = Finder::new(["abcabcabcabcabc", "bcabcabcabcabcX"].into_iter());
    let text = "<abcabcabcabcabcabcabcX>";
    for at in 0..text.len() {
        let (first, second) = text.as_bytes().split_at(at);
        assert_eq!(
            scrubbed(&overlapping, [first, second]),
            "<**********>",
            "{at}"
        );
    }
}

#[test]
fn what_is_held_back_is_bounded() {
    let finder = Finder::new([&*"ab".repeat(500)].into_iter());
    let mut scrubber = Scrubber::default();
    let mut shown = 0;
    for piece in [
        "ab".repeat(4000),
        "\n".repeat(8000),
        "%61%62".repeat(2000),
        "a\n%62".repeat(2000),
    ] {
        for _ in 0..20 {
            shown += scrubber.take(&finder, piece.as_bytes()).len();
            assert!(
                scrubber.held.len() < 8 * 1000 * 2,
                "{}",
                scrubber.held.len()
            );
        }
    }
    assert!(shown > 8000, "line breaks at least");
}

#[test]
fn other_text_is_left_alone_however_it_comes() {
    let finder = finder();
    let text =
        "100% of\r\nthe \u{e9}\u{1f600} eyJ eyJhbGciOiX\n\n%zz%4\nanother-token-0002 \u{0}\n";
    assert!(matches!(finder.hide(text), Cow::Borrowed(_)));
    for at in 0..text.len() {
        let (first, second) = text.as_bytes().split_at(at);
        let shown = scrubbed(&finder, [first, second]);
        // Only a start of eight bytes at the end of a piece and a line could be hidden, and none is.
        assert_eq!(shown, text, "{at}");
    }
}

#[test]
fn halves_at_the_place_where_the_worker_cut_are_hidden() {
    let (first, second) = TOKEN.split_at(12);
    let text = format!("before {first}\n[... 12345 characters ...]\n{second} behind {TOKEN}");
    assert_eq!(
        finder().hide(&text),
        "before **********\n[... 12345 characters ...]\n********** behind **********"
    );
    let none = "a\n[... 12 characters ...]\nb\n[... x characters ...]\n[... 1";
    assert_eq!(finder().hide(none), none);
}
