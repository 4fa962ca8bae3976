//! Headers that hold credentials. They never ride in extensions, in either direction: tokens have a slot
//! of their own, with grants of its own.

use super::object::Object;
use super::slot::HEADER_MAPS;
use crate::Json;

/// In lower case. The legacy worker's list, its successor's `set-cookie`, and what proxies are sent.
const SENSITIVE: [&str; 5] = [
    "authorization",
    "cookie",
    "proxy-authorization",
    "set-cookie",
    "x-api-key",
];

/// Whether a header of that name holds credentials, case and white space around it aside.
pub(crate) fn is_sensitive(name: &str) -> bool {
    SENSITIVE.contains(&&*name.trim().to_lowercase())
}

/// Removes sensitive headers from a header map; answers how many there were.
pub(super) fn strip(headers: &mut Object) -> u32 {
    let before = headers.0.len();
    headers.0.retain(|name, _| !is_sensitive(name));
    u32::try_from(before - headers.0.len()).unwrap_or(u32::MAX)
}

/// The `http` slot without sensitive headers; the same text where there are none. Its header maps are objects.
pub(super) fn stripped(http: &Json) -> Json {
    let Some(mut members) = Object::read(http) else {
        return http.clone();
    };
    let mut found = 0;
    for name in HEADER_MAPS {
        if let Some(mut headers) = members.get(name).and_then(Object::read) {
            let here = strip(&mut headers);
            if here > 0 {
                members.set(name, headers.write());
                found += here;
            }
        }
    }
    if found > 0 {
        members.write()
    } else {
        http.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_without_case() {
        for name in [
            "authorization",
            "Authorization",
            "COOKIE",
            "Set-Cookie",
            "X-Api-Key",
            "Proxy-Authorization",
            " cookie ",
            "coo\u{212a}ie",
        ] {
            assert!(is_sensitive(name), "{name}");
        }
        for name in ["x-trace", "cookies", "x-authorization", ""] {
            assert!(!is_sensitive(name), "{name}");
        }
    }

    #[test]
    fn every_header_map_is_stripped_and_the_rest_keeps_its_text() {
        let http = r#"{ "method":"GET", "headers":{"Cookie":"a","X-A":"1"},"request_headers":{"authorization":"b"},"response_headers":{"SET-COOKIE":"c","X-B":"2"} }"#;
        let http = Json::parse(http).expect("I-JSON");
        assert_eq!(
            stripped(&http).as_str(),
            r#"{"method":"GET","headers":{"X-A":"1"},"request_headers":{},"response_headers":{"X-B":"2"}}"#
        );
        let clean = Json::parse(r#"{ "headers": {"X-A": "1"} }"#).expect("I-JSON");
        assert_eq!(stripped(&clean), clean);
    }
}
