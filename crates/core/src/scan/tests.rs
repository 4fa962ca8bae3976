//! The fast steps against slow ones.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::string::{plain, quote_or_backslash};
use super::{depth, skip_string, skip_value, string_is, string_value};

/// JSON of any shape, its strings full of what looks like structure.
fn json() -> impl Strategy<Value = String> {
    let piece = select(vec![
        "a",
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "é",
        "\\\"",
        "\\\\",
        "\\u0061",
        "\\n",
        "long enough for a word ",
    ]);
    let string = vec(piece, 0..12).prop_map(|pieces| format!("\"{}\"", pieces.concat()));
    let word = select(vec!["1", "-1.5e7", "true", "null"]).prop_map(str::to_owned);
    let leaf = prop_oneof![3 => string.clone(), 1 => word];
    leaf.prop_recursive(6, 60, 6, move |inner| {
        let member =
            (string.clone(), inner.clone()).prop_map(|(key, value)| format!("{key} : {value}"));
        prop_oneof![
            vec(inner, 0..6).prop_map(|items| format!("[{} ]", items.join(" ,"))),
            vec(member, 0..6).prop_map(|members| format!("{{ {}}}", members.join(", "))),
        ]
    })
}

/// The offset behind the value at the start, and how deep it nests, character by character.
fn slow(text: &str) -> (usize, usize) {
    let (mut open, mut deepest, mut inside, mut escaped) = (0_usize, 0, false, false);
    for (at, byte) in text.bytes().enumerate() {
        let mut closes = false;
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => {
                inside = !inside;
                closes = !inside;
            }
            _ if inside => {}
            b'{' | b'[' => open += 1,
            b'}' | b']' => {
                open -= 1;
                closes = true;
            }
            b',' | b' ' if open == 0 => return (at, deepest),
            _ => {}
        }
        deepest = deepest.max(open);
        if closes && open == 0 {
            return (at + 1, deepest);
        }
    }
    (text.len(), deepest)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_value_ends_where_a_slow_reader_sees_its_end(text in json(), behind in json(), before in 0..70_usize) {
        let (end, deepest) = slow(&text);
        prop_assert_eq!(end, text.len());
        prop_assert_eq!(depth(&text), deepest);
        // At every place in a block, with more behind it.
        let padded = format!("{}{text},{behind}", " ".repeat(before));
        prop_assert_eq!(skip_value(padded.as_bytes(), before), before + end);
        if text.starts_with('"') {
            prop_assert_eq!(skip_string(padded.as_bytes(), before), before + end);
        }
    }

    #[test]
    fn no_text_makes_a_step_panic_or_leave_it(text in ".{0,200}", at in 0..250_usize) {
        let bytes = text.as_bytes();
        prop_assert!(skip_value(bytes, at) <= bytes.len().max(at));
        prop_assert!(skip_string(bytes, at) <= bytes.len().max(at));
        let _ = depth(&text);
    }

    #[test]
    fn a_string_is_what_it_means(string in "[aé\"\\\\\n😀]{0,8}", other in "[aé\"\\\\\n😀]{0,8}", escaped in any::<bool>()) {
        let units = string.encode_utf16().map(|unit| format!("\\u{unit:04x}"));
        let quoted = match escaped {
            true => format!("\"{}\"", units.collect::<String>()),
            false => serde_json::to_string(&string).expect("a string"),
        };
        prop_assert_eq!(&*string_value(&quoted), &*string);
        prop_assert!(string_is(&quoted, &string));
        prop_assert_eq!(string_is(&quoted, &other), string == other);
        // Written alike, and not the same.
        prop_assert_eq!(string_is(&quoted, &quoted[1..quoted.len() - 1]), !quoted.contains('\\'));
    }

    #[test]
    fn the_first_special_byte_is_found(bytes in vec(select(b"aaaaaaaa \x7f\x80\xff!#[]\"\\\x00\x1f".to_vec()), 0..300), from in 0..300_usize) {
        let mut bytes = bytes;
        // Few, so that long stretches occur.
        bytes.iter_mut().take(from).for_each(|byte| {
            if matches!(*byte, b'"' | b'\\' | 0..=0x1f) {
                *byte = b'a';
            }
        });
        let first = |special: fn(&u8) -> bool| bytes.iter().position(special);
        let all = first(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f));
        prop_assert_eq!(plain(&bytes), all.unwrap_or(bytes.len()));
        prop_assert_eq!(quote_or_backslash(&bytes), first(|byte| matches!(byte, b'"' | b'\\')));
    }
}
