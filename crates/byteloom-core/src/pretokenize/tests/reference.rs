//! The meaning of a built-in pattern: its published regex on a backtracking engine.
//!
//! The classes are spelled out from our table, so that the engine's Unicode version does not matter here; the table
//! itself is checked in `table.rs`. Patterns of the courses get the classes of Python's `re`.

use std::fmt::Write;

use fancy_regex::{Regex, RegexInput};

use crate::pretokenize::PreTokenizer;
use crate::pretokenize::unicode::{DECIMAL, LETTER, LOWER, NUMBER, PY_SPACE, PY_WORD, SPACE, UPPER, flags};

pub(super) struct Reference(Regex);

impl Reference {
    /// The reference of a built-in pattern, by name.
    pub(super) fn new(name: &str) -> Self {
        Self::of(name, PreTokenizer::new(name).unwrap().regex())
    }

    /// The reference of one of its spellings.
    pub(super) fn of(name: &str, regex: &str) -> Self {
        let python = name == "simple" || name.starts_with("course");
        let classes = [
            (r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", class(UPPER, "")),
            (r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", class(LOWER, "")),
            (r"\p{L}", class(LETTER, "")),
            (r"\p{N}", class(NUMBER, "")),
            (r"\s", class(if python { PY_SPACE } else { SPACE }, "")),
            (r"\S", class(if python { PY_SPACE } else { SPACE }, "^")),
            (r"\w", class(PY_WORD, "")),
            (r"\W", class(PY_WORD, "^")),
            (r"\d", class(DECIMAL, "")),
        ];
        let spelled =
            classes.iter().fold(regex.to_owned(), |regex, (short, long)| regex.replace(short, long));
        assert!(!spelled.contains(r"\p"), "a class is left in {regex}");
        Self(Regex::new(&spelled).unwrap())
    }

    /// The ends of the matches in `text`, which must tile it.
    pub(super) fn ends(&self, text: &[u8]) -> Vec<usize> {
        let mut ends = Vec::new();
        let (repaired, places) = repair(text);
        let mut at = 0;
        while at < repaired.len() {
            at = self.end_at(&repaired, at);
            ends.push(places[at]);
        }
        ends
    }

    /// The end of the first match in `text`, which must begin it.
    pub(super) fn first_end(&self, text: &[u8]) -> usize {
        let (repaired, places) = repair(text);
        places[self.end_at(&repaired, 0)]
    }

    fn end_at(&self, text: &str, at: usize) -> usize {
        let found = self.0.find_input(RegexInput::new(text).from_pos(at)).unwrap();
        let found = found.unwrap_or_else(|| panic!("no match in {text:?} from {at}"));
        assert!(found.start() == at && found.end() > at, "a gap or an empty match in {text:?} at {at}");
        found.end()
    }
}

/// The scalars that carry `flag`, as a class that can stand alone or in another class.
fn class(flag: u8, negation: &str) -> String {
    let mut spelled = format!("[{negation}");
    let mut scalars = (0..=0x10_FFFF).filter(|&scalar| flags(scalar) & flag != 0).peekable();
    while let Some(first) = scalars.next() {
        let mut last = first;
        while let Some(next) = scalars.next_if_eq(&(last + 1)) {
            last = next;
        }
        write!(spelled, r"\x{{{first:x}}}-\x{{{last:x}}}").unwrap();
    }
    spelled + "]"
}

/// `text` with each invalid byte as U+FFFD, and for each place in it the place in `text`.
fn repair(text: &[u8]) -> (String, Vec<usize>) {
    let (mut repaired, mut places) = (String::new(), Vec::new());
    let mut original = 0;
    for chunk in text.utf8_chunks() {
        repaired.push_str(chunk.valid());
        places.extend(original..original + chunk.valid().len());
        original += chunk.valid().len();
        for _ in chunk.invalid() {
            repaired.push(char::REPLACEMENT_CHARACTER);
            places.extend([original; 3]);
            original += 1;
        }
    }
    places.push(original);
    (repaired, places)
}
