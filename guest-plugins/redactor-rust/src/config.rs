//! The plugin's `config:` block, read through the document the host lends `init`.

use crate::bindings::hookgate::plugin::call::Document;

/// `{"words": [string, ...], "replacement": "[redacted]"}`.
pub struct Config {
    /// Never empty strings; the list itself may be empty and then nothing is redacted.
    pub words: Vec<String>,
    pub replacement: String,
}

impl Config {
    pub fn read(config: &Document) -> Result<Self, String> {
        Ok(Self {
            words: words(config)?,
            replacement: replacement(config)?,
        })
    }
}

fn words(config: &Document) -> Result<Vec<String>, String> {
    let Some(value) = config.get("/words") else {
        return Err("config `words` is missing; hint: words: [secret]".to_owned());
    };
    let words = config.get_strings("/words");
    // `get_strings` leaves out what is not a string, so with all of them counted nothing may be left behind the last.
    let all_strings = config.get(&format!("/words/{}", words.len())).is_none();
    if !value.trim_start().starts_with('[') || !all_strings {
        return Err("config `words` is not a list of strings; hint: words: [secret]".to_owned());
    }
    if words.iter().any(String::is_empty) {
        return Err(
            "config `words` holds an empty word, which every string contains; hint: remove it"
                .to_owned(),
        );
    }
    Ok(words)
}

fn replacement(config: &Document) -> Result<String, String> {
    if config.get("/replacement").is_none() {
        return Ok("[redacted]".to_owned());
    }
    config.get_string("/replacement").ok_or_else(|| {
        "config `replacement` is not a string; hint: replacement: \"[redacted]\"".to_owned()
    })
}
