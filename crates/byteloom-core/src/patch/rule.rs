//! The rules that say which bytes start a patch.

use std::sync::Arc;

use super::EntropyCuts;
use crate::entropy::{Decisions, EntropyModel, Trie, parts};
use crate::error::{Error, Result};
use crate::tokenizer::Poll;

/// Bytes that are marked at a time: their marks stay in the first cache.
pub(super) const BLOCK: usize = 1 << 12;
/// Bytes before a position that are read at once; the number of a direct context is in their upper part.
const WINDOW: usize = 4;
/// Positions that are looked up together in a direct table.
const AT_ONCE: u32 = 4;

#[derive(Clone, Debug)]
pub(super) enum Rule {
    Entropy(Box<EntropyRule>),
    Space,
    /// The whole document is one patch, for the limit of length to cut.
    Whole,
}

/// The positions in a block that start a patch, counted from the start of the block.
pub(super) struct Marks {
    starts: Box<[u32; BLOCK]>,
    length: usize,
    entropies: Vec<f64>,
    above: Vec<bool>,
}

impl Marks {
    pub(super) fn new() -> Self {
        Self { starts: Box::new([0; BLOCK]), length: 0, entropies: Vec::new(), above: Vec::new() }
    }

    pub(super) fn starts(&self) -> &[u32] {
        &self.starts[..self.length]
    }

    /// Notes `position` if it `starts` a patch, without a branch on what cannot be foreseen.
    #[inline]
    fn note(&mut self, position: usize, starts: bool) {
        // Fewer starts than positions before: the mask changes nothing, and saves the check.
        self.starts[self.length & (BLOCK - 1)] = position as u32;
        self.length += usize::from(starts);
    }
}

impl Rule {
    /// Marks the starts among the bytes `from..to` of `text`, at most [`BLOCK`] of them. `text` begins with its
    /// document, or far enough before `from` that nothing earlier matters.
    pub(super) fn mark(&self, text: &[u8], from: usize, to: usize, marks: &mut Marks) {
        marks.length = 0;
        match self {
            Self::Whole => marks.note(0, from == 0),
            Self::Space => {
                // Before the text there is what ends a patch, and is not like a space to what follows.
                let mut before = from.checked_sub(2).is_some_and(|place| is_like_space(text[place]));
                let mut last = from.checked_sub(1).is_none_or(|place| is_like_space(text[place]));
                for (position, &byte) in text[from..to].iter().enumerate() {
                    marks.note(position, last && !before);
                    (before, last) = (last && from + position > 0, is_like_space(byte));
                }
            }
            Self::Entropy(rule) => rule.mark(text, from, to, marks),
        }
    }

    /// Whether a byte after `history` starts a patch.
    pub(super) fn starts_after(&self, history: &[u8]) -> bool {
        match self {
            _ if history.is_empty() => true,
            Self::Whole => false,
            Self::Space => {
                let mut recent = history.iter().rev().map(|&byte| is_like_space(byte));
                recent.next() == Some(true) && recent.next() != Some(true)
            }
            Self::Entropy(rule) => rule.starts_after(history),
        }
    }

    /// How many bytes before a position matter.
    pub(super) fn reach(&self) -> usize {
        match self {
            Self::Whole => 1,
            Self::Space => 2,
            // A rise compares with the entropy of the byte before.
            Self::Entropy(rule) => rule.trie.reach() + 1,
        }
    }
}

fn is_like_space(byte: u8) -> bool {
    !byte.is_ascii_alphanumeric() && !(0x80..0xC0).contains(&byte)
}

#[derive(Clone, Debug)]
pub(super) struct EntropyRule {
    pub(super) model: EntropyModel,
    pub(super) cuts: EntropyCuts,
    trie: Arc<Trie>,
    quick: Option<Quick>,
}

/// Decisions made beforehand, where `theta` alone decides.
#[derive(Clone, Debug)]
enum Quick {
    /// Contexts are short enough for a bit for each that can be.
    Direct(Arc<Direct>),
    /// A bit for each that was seen.
    Seen(Arc<Decisions>),
}

/// Decisions for all contexts of the longest length.
#[derive(Debug)]
struct Direct {
    bits: Vec<u64>,
    /// How far the four bytes before a position are shifted to give the number of the context.
    shift: u32,
}

impl EntropyRule {
    pub(super) fn new(model: &EntropyModel, cuts: EntropyCuts, poll: Poll<'_>) -> Result<Self> {
        for (name, value) in [("theta", cuts.theta), ("rise", cuts.rise)] {
            if value.is_some_and(f64::is_nan) {
                return Err(Error::Patching(format!("{name} must be a number, not NaN")));
            }
        }
        if cuts.theta.is_none() && cuts.rise.is_none() {
            return Err(Error::Patching("an entropy patcher needs a threshold: theta, rise or both".into()));
        }
        let trie = Arc::clone(model.trie(poll)?);
        let quick = match (&cuts, trie.reach()) {
            (&EntropyCuts { theta: Some(theta), rise: None, .. }, reach @ 1..=3) => {
                let bits = trie.direct_bits(|entropy| entropy > theta);
                Some(Quick::Direct(Arc::new(Direct { bits, shift: 32 - 8 * reach as u32 })))
            }
            (&EntropyCuts { theta: Some(theta), rise: None, .. }, 4..) => {
                Some(Quick::Seen(Arc::new(trie.decisions(theta))))
            }
            _ => None,
        };
        Ok(Self { model: model.clone(), cuts, trie, quick })
    }

    fn mark(&self, text: &[u8], from: usize, to: usize, marks: &mut Marks) {
        let Some(set) = &self.cuts.reset_on else { return self.mark_part(text, 0, from, to, marks) };
        // Only the last bytes before `from` matter, and of those what follows a reset.
        let near = from.saturating_sub(WINDOW.max(self.trie.reach() + 1));
        let start =
            text[near..from].iter().rposition(|&byte| set.has(byte)).map_or(near, |place| near + place + 1);
        for part in parts(&text[start..to], self.cuts.reset_on.as_ref()) {
            let part = start + part.start..start + part.end;
            if part.end > from {
                self.mark_part(&text[part.start..part.end], part.start, from, part.end, marks);
            }
        }
    }

    /// Marks a part that begins at `start` of the text.
    fn mark_part(&self, part: &[u8], start: usize, from: usize, to: usize, marks: &mut Marks) {
        let (mut place, end) = (from.max(start) - start, to - start);
        let position_of = |place: usize| start + place - from;
        match &self.quick {
            Some(Quick::Direct(direct)) => {
                while place < end.min(WINDOW) {
                    marks.note(position_of(place), self.starts_after(&part[..place]));
                    place += 1;
                }
                if place < end {
                    direct.mark(&part[place - WINDOW..end - 1], position_of(place), marks);
                }
            }
            Some(Quick::Seen(decisions)) => {
                let mut above = std::mem::take(&mut marks.above);
                above.resize(BLOCK, false);
                self.trie.decide(part, place, decisions, &mut above[..end - place]);
                for (offset, &above) in above[..end - place].iter().enumerate() {
                    marks.note(position_of(place + offset), above || place + offset == 0);
                }
                marks.above = above;
            }
            None => self.mark_by_value(part, place..end, position_of(place), marks),
        }
    }

    fn mark_by_value(&self, part: &[u8], places: std::ops::Range<usize>, position: usize, marks: &mut Marks) {
        let mut entropies = std::mem::take(&mut marks.entropies);
        entropies.resize(BLOCK, 0.0);
        let here = &mut entropies[..places.len()];
        self.trie.fill(part, places.start, here);
        let theta = self.cuts.theta.unwrap_or(f64::NEG_INFINITY);
        let first = places.start == 0;
        match self.cuts.rise {
            None => {
                for (offset, &entropy) in here.iter().enumerate() {
                    marks.note(position + offset, entropy > theta || (first && offset == 0));
                }
            }
            Some(rise) => {
                let mut before =
                    places.start.checked_sub(1).map_or(0.0, |place| self.trie.entropy_after(&part[..place]));
                for (offset, &entropy) in here.iter().enumerate() {
                    let above = self.cuts.theta.is_none_or(|theta| entropy > theta);
                    marks.note(
                        position + offset,
                        (above && entropy - before > rise) || (first && offset == 0),
                    );
                    before = entropy;
                }
            }
        }
        marks.entropies = entropies;
    }

    fn starts_after(&self, history: &[u8]) -> bool {
        let set = self.cuts.reset_on.as_ref();
        let start =
            set.and_then(|set| history.iter().rposition(|&byte| set.has(byte))).map_or(0, |place| place + 1);
        let Some((_, before)) = history[start..].split_last() else { return true };
        let entropy = self.trie.entropy_after(&history[start..]);
        self.cuts.theta.is_none_or(|theta| entropy > theta)
            && self.cuts.rise.is_none_or(|rise| entropy - self.trie.entropy_after(before) > rise)
    }
}

impl Direct {
    /// Marks from `position` on; `text` begins [`WINDOW`] bytes before it and ends one byte before the last.
    fn mark(&self, text: &[u8], position: usize, marks: &mut Marks) {
        match self.shift {
            8 => self.mark_shifted::<8>(text, position, marks),
            16 => self.mark_shifted::<16>(text, position, marks),
            _ => self.mark_shifted::<24>(text, position, marks),
        }
    }

    /// [`Self::mark`] for a shift that is known beforehand, and with it that all numbers are in range.
    fn mark_shifted<const SHIFT: u32>(&self, text: &[u8], position: usize, marks: &mut Marks) {
        let Some(bits) = self.bits.get(..1 << (32 - SHIFT - 6)) else { return };
        let range = (1 << (32 - SHIFT)) - 1;
        // In locals: a store to the starts might else be one to the length, which would be read again for each byte.
        let (starts, mut length) = (&mut *marks.starts, marks.length);
        let (mut rest, mut position) = (text, position as u32);
        // Five windows lie in eight bytes; four of them are looked up at a time.
        while let Some(bytes) = rest.first_chunk() {
            let windows = u64::from_le_bytes(*bytes) >> SHIFT;
            for place in 0..AT_ONCE {
                let number = windows >> (8 * place);
                let word = bits[((number & range) / 64) as usize];
                starts[length & (BLOCK - 1)] = position + place;
                length += (word >> (number % 64) & 1) as usize;
            }
            position += AT_ONCE;
            rest = &rest[AT_ONCE as usize..];
        }
        marks.length = length;
        for window in rest.windows(WINDOW).filter_map(|window| window.first_chunk()) {
            let number = (u32::from_le_bytes(*window) >> SHIFT) as usize;
            marks.note(position as usize, bits[number / 64] >> (number % 64) & 1 == 1);
            position += 1;
        }
    }
}
