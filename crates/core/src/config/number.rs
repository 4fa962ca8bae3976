//! YAML 1.2 numbers that keep their text.

/// A number as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Number {
    /// The text in the file.
    pub text: String,
    /// The same number as JSON writes it; none for infinities and NaN, which JSON has not.
    pub json: Option<String>,
    /// Written without a fraction or an exponent.
    pub is_integer: bool,
}

impl Number {
    /// Resolves a plain scalar by the YAML 1.2 core schema; none if it is no number there
    /// (`1_000` and `0b1` are YAML 1.1).
    pub fn resolve(text: &str) -> Option<Self> {
        let (sign, unsigned) = match text.as_bytes().first()? {
            b'-' => ("-", &text[1..]),
            b'+' => ("", &text[1..]),
            _ => ("", text),
        };
        let not_json = matches!(unsigned, ".inf" | ".Inf" | ".INF")
            || matches!(text, ".nan" | ".NaN" | ".NAN");
        if not_json {
            return Some(Self {
                text: text.to_owned(),
                json: None,
                is_integer: false,
            });
        }
        let (json, is_integer) = if let Some(digits) = text.strip_prefix("0x") {
            (radix(digits, 16)?, true)
        } else if let Some(digits) = text.strip_prefix("0o") {
            (radix(digits, 8)?, true)
        } else {
            decimal(sign, unsigned)?
        };
        Some(Self {
            text: text.to_owned(),
            json: Some(json),
            is_integer,
        })
    }

    /// The value, if it is an integer that fits.
    pub fn integer<T: std::str::FromStr>(&self) -> Option<T> {
        self.json.as_ref().filter(|_| self.is_integer)?.parse().ok()
    }
}

fn radix(digits: &str, radix: u32) -> Option<String> {
    let all = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
    all.then(|| u128::from_str_radix(digits, radix).ok())
        .flatten()
        .map(|value| value.to_string())
}

/// `[0-9]*(\.[0-9]*)?([eE][-+]?[0-9]+)?` with at least one digit before the exponent.
fn decimal(sign: &str, text: &str) -> Option<(String, bool)> {
    let all_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], Some(&text[at..])),
        None => (text, None),
    };
    if let Some(exponent) = exponent {
        let digits = exponent[1..]
            .strip_prefix(['-', '+'])
            .unwrap_or(&exponent[1..]);
        if digits.is_empty() || !all_digits(digits) {
            return None;
        }
    }
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let digits = whole.len() + fraction.map_or(0, str::len);
    if digits == 0 || !all_digits(whole) || !fraction.is_none_or(all_digits) {
        return None;
    }
    let mut json = String::from(sign);
    let whole = whole.trim_start_matches('0');
    json.push_str(if whole.is_empty() { "0" } else { whole });
    if let Some(fraction) = fraction {
        json.push('.');
        json.push_str(if fraction.is_empty() { "0" } else { fraction });
    }
    json.push_str(exponent.unwrap_or(""));
    Some((json, fraction.is_none() && exponent.is_none()))
}

#[cfg(test)]
mod tests {
    use super::Number;

    #[test]
    fn core_schema_numbers_become_json_with_their_text() {
        let cases = [
            ("12", Some("12"), true),
            ("-0", Some("-0"), true),
            ("+5", Some("5"), true),
            ("007", Some("7"), true),
            ("000", Some("0"), true),
            ("0x1F", Some("31"), true),
            ("0o17", Some("15"), true),
            (
                "123456789012345678901234567890",
                Some("123456789012345678901234567890"),
                true,
            ),
            ("1.10", Some("1.10"), false),
            (".5", Some("0.5"), false),
            ("-5.", Some("-5.0"), false),
            ("1e999", Some("1e999"), false),
            ("1.5E-7", Some("1.5E-7"), false),
            (".inf", None, false),
            ("-.Inf", None, false),
            (".NaN", None, false),
        ];
        for (text, json, is_integer) in cases {
            let number = Number::resolve(text).unwrap_or_else(|| panic!("{text} is a number"));
            assert_eq!(number.json.as_deref(), json, "{text}");
            assert_eq!(number.is_integer, is_integer, "{text}");
            assert_eq!(number.text, text);
        }
    }

    #[test]
    fn other_scalars_are_no_numbers() {
        let cases = [
            "", "-", ".", "e5", "1e", "1e+", "1_000", "0b11", "0x", "0xG", "-0x1", "-.nan",
            "1.2.3", "12a",
        ];
        for text in cases {
            assert_eq!(Number::resolve(text), None, "{text}");
        }
    }
}
