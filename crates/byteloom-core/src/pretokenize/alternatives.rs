//! Which alternative of a pattern matched: what people see between two `|` of its regex.
//!
//! A regex tries its alternatives in order, and the first that matches at a place is the match. So each one, compiled
//! alone and anchored at the start of a pre-token, tells whether it was the one. That holds for the scanners too:
//! tests compare them with the regex on every short string, and here the end of the match must be theirs.

use std::borrow::Cow;

use fancy_regex::{Regex, RegexBuilder, RegexInput};

use super::PreTokenizer;
use super::regex::repaired;
use crate::error::Result;
use crate::tokenizer::Poll;
use crate::utf8::scalar;

/// Backtracking steps of one attempt. What needs more is tried on the end of the pre-token, see [`Member::which`].
const STEPS: usize = 1_000_000;
/// The part of a long run that stands for all of it.
const TAIL: usize = 64;

/// The alternatives of a pre-tokenizer, ready to be tried.
#[derive(Debug)]
pub struct Alternatives(Vec<Member>);

/// Those of one pattern of a sequence.
#[derive(Debug)]
struct Member {
    pretokenizer: PreTokenizer,
    sources: Vec<String>,
    /// As many as sources.
    regexes: Vec<Regex>,
}

/// The end of a piece, and the alternative that cut it; `None` for what no alternative matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// In bytes of the text.
    pub end: usize,
    /// From 0.
    pub alternative: Option<u32>,
}

impl Alternatives {
    /// The alternatives of `pretokenizer`.
    pub fn new(pretokenizer: &PreTokenizer) -> Self {
        Self(pretokenizer.members().iter().map(Member::new).collect())
    }

    /// The regexes of the alternatives as they are spelled, for each pattern of a sequence.
    pub fn sources(&self) -> impl Iterator<Item = &[String]> {
        self.0.iter().map(|member| &member.sources[..])
    }

    /// The pieces that each pattern of a sequence cuts `text` into; those of the last are the pre-tokens.
    pub fn cuts(&self, text: &[u8], poll: Poll<'_>) -> Result<Vec<Vec<Cut>>> {
        let mut stages: Vec<Vec<Cut>> = Vec::with_capacity(self.0.len());
        for member in &self.0 {
            let mut cuts = Vec::new();
            match stages.last() {
                None => member.cut(text, 0, &mut cuts, poll)?,
                Some(pieces) => {
                    let mut start = 0;
                    for piece in pieces {
                        member.cut(&text[start..piece.end], start, &mut cuts, poll)?;
                        start = piece.end;
                    }
                }
            }
            stages.push(cuts);
        }
        Ok(stages)
    }
}

impl Member {
    fn new(pretokenizer: &PreTokenizer) -> Self {
        let regex = pretokenizer.regex();
        let python = pretokenizer.name().is_some_and(|name| name == "simple" || name.starts_with("course"));
        let compile = |sources: &[String]| -> Option<Vec<Regex>> {
            let mut flags = String::new();
            let compiled = sources.iter().map(|source| {
                let regex = format!(
                    "{flags}(?:{})",
                    if python { with_python_classes(source) } else { source.clone() }
                );
                flags.push_str(&leading_flags(source));
                RegexBuilder::new(&regex).backtrack_limit(STEPS).build().ok()
            });
            compiled.collect()
        };
        let split = if stands_alone(regex) { split_alternatives(regex) } else { vec![regex.to_owned()] };
        let (sources, regexes) = match compile(&split) {
            Some(regexes) => (split, regexes),
            None => (vec![regex.to_owned()], compile(&[regex.to_owned()]).unwrap_or_default()),
        };
        Self { pretokenizer: pretokenizer.clone(), sources, regexes }
    }

    /// Appends the cuts of `piece`, which begins at `start` in its text.
    fn cut(&self, piece: &[u8], start: usize, cuts: &mut Vec<Cut>, poll: Poll<'_>) -> Result<()> {
        let text = repaired(piece);
        let damaged = matches!(text, Cow::Owned(_));
        let (mut at, mut repaired_at) = (0, 0);
        let mut ends = Vec::new();
        let mut blocks = self.pretokenizer.blocks(piece);
        while blocks.next(&mut ends)? {
            for &end in &ends {
                let repaired_end =
                    repaired_at + if damaged { repaired_len(&piece[at..end]) } else { end - at };
                let alternative = self.which(&text, repaired_at, repaired_end);
                cuts.push(Cut { end: start + end, alternative });
                (at, repaired_at) = (end, repaired_end);
            }
            poll()?;
        }
        Ok(())
    }

    /// The first alternative that matches at `start`, if its match ends at `end`.
    fn which(&self, text: &str, start: usize, end: usize) -> Option<u32> {
        for (number, regex) in (0..).zip(&self.regexes) {
            let matched = |from| regex.find_input(RegexInput::new(text).from_pos(from).anchored(true));
            let found = if let Ok(found) = matched(start) {
                found.map(|found| found.end())
            } else {
                // Out of steps in a run of a million characters of one class: its end matches like the whole.
                let last = end.saturating_sub(TAIL).max(start);
                let tail = (start..=last).rev().find(|&at| text.is_char_boundary(at))?;
                matched(tail).ok()?.map(|found| found.end())
            };
            // An empty match is the match too, and no pre-token: what is here lies between two.
            if let Some(found_end) = found {
                return (found_end == end).then_some(number);
            }
        }
        None
    }
}

/// The length of `text` with U+FFFD for each byte that is part of no character.
fn repaired_len(text: &[u8]) -> usize {
    let (mut at, mut length) = (0, 0);
    while at < text.len() {
        let (scalar, unit) = scalar(text, at);
        length += if scalar == 0xFFFD { 3 } else { unit };
        at += unit;
    }
    length
}

/// The patterns of the courses mean what Python's `re` means.
fn with_python_classes(source: &str) -> String {
    [
        (r"\w", r"[\p{L}\p{N}_]"),
        (r"\W", r"[^\p{L}\p{N}_]"),
        (r"\s", r"[\s\x1c-\x1f]"),
        (r"\S", r"[^\s\x1c-\x1f]"),
    ]
    .iter()
    .fold((source.to_owned(), 0), |(text, number), (short, long)| {
        // By way of a letter that no pattern has, since what is put in holds a class itself.
        let sign = char::from_u32(0xE000 + number).unwrap_or_default();
        (text.replace(short, &sign.to_string()).replace(sign, long), number + 1)
    })
    .0
}

/// Whether the alternatives of a regex mean the same when each stands alone: no groups are referred to by number or
/// name, no match begins elsewhere, and white space means itself.
fn stands_alone(regex: &str) -> bool {
    let escaped =
        regex.as_bytes().windows(2).any(|pair| pair[0] == b'\\' && b"123456789kgKG".contains(&pair[1]));
    let verbose = regex.match_indices("(?").any(|(at, _)| {
        let flags = regex[at + 2..].bytes().take_while(|byte| byte.is_ascii_alphabetic() || *byte == b'-');
        flags.take_while(|byte| *byte != b'-').any(|byte| byte == b'x')
    });
    !escaped && !verbose && !regex.contains("(?(") && !regex.contains("(?P=") && !regex.contains("(?P>")
}

/// A regex cut at each `|` that is in no group and no class.
fn split_alternatives(regex: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let (mut groups, mut classes) = (0_usize, 0_usize);
    let mut characters = regex.chars().peekable();
    while let Some(character) = characters.next() {
        let mut text = String::from(character);
        match character {
            '\\' => text.extend(characters.next()),
            '[' => {
                classes += 1;
                // A bracket that closes nothing stands for itself.
                text.extend(characters.next_if_eq(&'^'));
                text.extend(characters.next_if_eq(&']'));
            }
            ']' => classes = classes.saturating_sub(1),
            '(' if classes == 0 => groups += 1,
            ')' if classes == 0 => groups = groups.saturating_sub(1),
            '|' if classes == 0 && groups == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push_str(&text);
        }
    }
    parts
}

/// The flags that an alternative sets for itself and all that follow, such as `(?i)`.
fn leading_flags(source: &str) -> String {
    let mut flags = String::new();
    let mut rest = source;
    while let Some(at) = rest.find("(?") {
        let inner = &rest[at + 2..];
        let letters = inner.bytes().take_while(|byte| byte.is_ascii_alphabetic() || *byte == b'-').count();
        if letters > 0 && inner[letters..].starts_with(')') && groups_open(&rest[..at]) == 0 {
            flags.push_str(&rest[at..at + letters + 3]);
            rest = &inner[letters + 1..];
        } else {
            break;
        }
    }
    flags
}

/// How many groups are open at the end of `source`.
fn groups_open(source: &str) -> usize {
    source.matches('(').count().saturating_sub(source.matches(')').count())
}
