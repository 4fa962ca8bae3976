//! Words, or parts that stand for them, which vector code looks for.

use std::sync::Arc;

use aho_corasick::packed::Searcher;

/// Words that vector code compares at once; more are slower than an automaton.
const MAX_PACKED: usize = 64;
/// Bytes of a word that stand for it where case is ignored: each letter doubles the words.
const GRAM_BYTES: usize = 3;

/// The search for the words; none if they are too many, or the machine has no code for it.
pub(super) fn packed(words: Vec<Vec<u8>>) -> Option<Arc<Searcher>> {
    let few = !words.is_empty() && words.len() <= MAX_PACKED;
    few.then(|| Searcher::new(words.iter()))
        .flatten()
        .map(Arc::new)
}

/// For each word the rarest of its parts, in upper and lower case.
pub(super) fn grams(words: &[&str]) -> Option<Vec<Vec<u8>>> {
    // Shorter parts where there are many words, so that all of them fit in.
    let length = (1..=GRAM_BYTES)
        .rev()
        .find(|length| words.len() << length <= MAX_PACKED)?;
    let mut all = Vec::new();
    for word in words {
        let bytes = word.as_bytes();
        let parts = bytes.windows(length.min(bytes.len()));
        let rarest =
            parts.max_by_key(|part| part.iter().map(|byte| rarity(*byte)).sum::<usize>())?;
        let mut spellings = vec![Vec::new()];
        for byte in rarest {
            let mut cases = vec![byte.to_ascii_lowercase(), byte.to_ascii_uppercase()];
            cases.dedup();
            let longer = |spelling: &Vec<u8>| {
                let all = cases.iter().map(|byte| [&spelling[..], &[*byte]].concat());
                all.collect::<Vec<_>>()
            };
            spellings = spellings.iter().flat_map(longer).collect();
        }
        all.extend(spellings);
    }
    all.sort_unstable();
    all.dedup();
    Some(all)
}

/// How seldom a byte is in text, roughly: a bad guess costs time alone.
fn rarity(byte: u8) -> usize {
    const FREQUENT: &[u8] = b" etaoinsrhldcumfpgwyb0123456789,.:-_vkxjqz";
    let lower = byte.to_ascii_lowercase();
    let place = FREQUENT.iter().position(|frequent| *frequent == lower);
    place.unwrap_or(FREQUENT.len())
}
