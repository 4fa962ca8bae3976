//! A token in the forms it is looked for in. Percent-encoding is none: texts are decoded before the search.

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Every form, each once.
pub(super) fn of(token: &str) -> Vec<Vec<u8>> {
    let mut found = vec![token.as_bytes().to_vec()];
    found.extend(escaped(token));
    for alphabet in [STANDARD, URL_SAFE] {
        for before in 0..3 {
            let (inside, at_end) = base64(token.as_bytes(), before, alphabet);
            found.push(inside);
            found.extend(at_end);
        }
    }
    // Texts are searched without their line breaks.
    for form in &mut found {
        form.retain(|byte| !matches!(byte, b'\n' | b'\r'));
    }
    found.sort();
    found.dedup();
    found
}

/// As JSON writes it, and as JSON of nothing but ASCII does.
fn escaped(token: &str) -> Vec<Vec<u8>> {
    let json = serde_json::Value::from(token).to_string();
    let json = &json[1..json.len() - 1];
    let mut ascii = String::new();
    for character in json.chars() {
        if character.is_ascii() {
            ascii.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            ascii.push_str(&format!("\\u{unit:04x}"));
        }
    }
    vec![json.into(), ascii.into()]
}

/// What base64 makes of the token behind `before` other bytes of its group of three: the characters that do not
/// depend on what is around it, and, where the last one does, these with the one it is at the end of the data.
fn base64(token: &[u8], before: usize, alphabet: &[u8; 64]) -> (Vec<u8>, Option<Vec<u8>>) {
    let bits = (before + token.len()) * 8;
    let bit = |at: usize| {
        let byte = (at / 8)
            .checked_sub(before)
            .and_then(|index| token.get(index));
        byte.map_or(0, |byte| byte >> (7 - at % 8) & 1)
    };
    let character = |index: usize| {
        let value = (index * 6..index * 6 + 6).fold(0, |value, at| value << 1 | bit(at));
        alphabet[usize::from(value)]
    };
    let (first, whole) = ((before * 8).div_ceil(6), bits / 6);
    let inside: Vec<u8> = (first..whole).map(character).collect();
    let at_end = (!bits.is_multiple_of(6)).then(|| (first..=whole).map(character).collect());
    (inside, at_end)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4648, section 10, and what `base64 -w0` says.
    #[test]
    fn base64_is_that_of_the_standard() {
        for (token, expected) in [
            ("f", "Zg"),
            ("fo", "Zm8"),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg"),
            ("fooba", "Zm9vYmE"),
            ("foobar", "Zm9vYmFy"),
        ] {
            let (inside, at_end) = base64(token.as_bytes(), 0, STANDARD);
            assert_eq!(at_end.unwrap_or(inside), expected.as_bytes(), "{token}");
        }
        // Inside "xfoobar" and "xyfoobar", whose forms are eGZvb2Jhcg and eHlmb29iYXI.
        assert_eq!(base64(b"foobar", 1, STANDARD).0, b"Zvb2Jhc");
        assert_eq!(base64(b"foobar", 1, STANDARD).1.unwrap(), b"Zvb2Jhcg");
        assert_eq!(base64(b"foobar", 2, STANDARD).0, b"mb29iYX");
        assert_eq!(base64(b"\xff\xef\xbe", 0, STANDARD).0, b"/+++");
        assert_eq!(base64(b"\xff\xef\xbe", 0, URL_SAFE).0, b"_---");
    }

    #[test]
    fn a_plain_token_has_few_forms_and_one_with_quotes_more() {
        // As it is, and three alignments, two of which end in a character of their own.
        assert_eq!(of("abcdefabcdef").len(), 6);
        assert!(of("a\"b\u{e9}").contains(&br#"a\"b\u00e9"#.to_vec()));
    }
}
