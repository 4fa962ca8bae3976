//! The plugin's `config:` block, read through the document the host lends `init`.

use crate::bindings::hookgate::plugin::call::Document;

/// `{"words": [string, ...], "ignore_ascii_case": false}`.
pub struct Config {
    /// Never empty strings; the list itself may be empty and then nothing is denied.
    pub words: Vec<String>,
    pub ignore_ascii_case: bool,
}

impl Config {
    pub fn read(config: &Document) -> Result<Self, String> {
        Ok(Self {
            words: words(config)?,
            ignore_ascii_case: ignore_ascii_case(config)?,
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

fn ignore_ascii_case(config: &Document) -> Result<bool, String> {
    match config.get("/ignore_ascii_case").as_deref().map(str::trim) {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(_) => Err(
            "config `ignore_ascii_case` is not a boolean; hint: ignore_ascii_case: true".to_owned(),
        ),
    }
}
