//! The words that merges are learned from, as one array of cells.
//!
//! One cell per initial symbol, words in order of first appearance, one [`EDGE`] before, between and after them. The
//! id of a symbol stands in the first *and* the last cell that it covers, so both neighbours of any symbol are one
//! read away, and no merge ever moves a cell: its cost does not depend on the length of the word.

use crate::error::{Error, Result};

/// The cell between two words.
pub(super) const EDGE: u32 = u32::MAX;
/// A cell inside a symbol. A symbol of two cells has none.
pub(super) const INSIDE: u32 = u32::MAX - 1;

/// Positions are 32 bits.
const MAX_CELLS: usize = u32::MAX as usize;

/// Distinct words of initial symbols with their weights, in order of first appearance.
///
/// The words must be distinct: the bound below which the trainer drops pairs rests on it.
#[derive(Debug)]
pub struct Words {
    pub(super) cells: Vec<u32>,
    pub(super) weights: Weights,
    pub(super) base: u32,
    /// The sum of weight × pairs; the most that a count of a pair can be.
    pair_weight: u64,
}

impl Words {
    /// No words yet, over the initial symbols `0..base`, with room for `words` words of `symbols` symbols in all.
    ///
    /// # Errors
    /// [`Error::Training`] when that is more than 32-bit positions can address, or than memory holds.
    pub fn with_capacity(base: u32, words: usize, symbols: usize) -> Result<Self> {
        let cells = symbols.saturating_add(words).saturating_add(1);
        if cells > MAX_CELLS {
            return Err(too_much_text());
        }
        let mut all = Self {
            cells: Vec::new(),
            weights: Weights { words: Vec::new(), blocks: Vec::new() },
            base,
            pair_weight: 0,
        };
        let reserved =
            all.cells.try_reserve_exact(cells).and_then(|()| all.weights.words.try_reserve_exact(words + 1));
        if reserved.is_err() {
            return Err(Error::Training(format!(
                "no memory for {cells} cells of 4 bytes; train on less text, or with a pattern that repeats more"
            )));
        }
        all.cells.push(EDGE);
        Ok(all)
    }

    /// Adds a word. A word without a pair, or without weight, teaches nothing and is left out.
    ///
    /// # Errors
    /// [`Error::Training`] for a symbol outside the base, too many cells, or counts beyond 64 bits.
    pub fn push(&mut self, symbols: impl IntoIterator<Item = u32>, weight: u64) -> Result<()> {
        let start = self.cells.len();
        for symbol in symbols {
            if symbol >= self.base {
                return Err(Error::Training(format!(
                    "initial symbol {symbol} is outside the base of {} symbols",
                    self.base
                )));
            }
            self.cells.push(symbol);
        }
        let length = self.cells.len() - start;
        if length < 2 || weight == 0 {
            self.cells.truncate(start);
            return Ok(());
        }
        if self.cells.len() >= MAX_CELLS {
            return Err(too_much_text());
        }
        let pair_weight = weight.checked_mul(length as u64 - 1);
        self.pair_weight =
            pair_weight.and_then(|more| self.pair_weight.checked_add(more)).ok_or_else(|| {
                Error::Training("counts of pairs could leave 64 bits; scale the counts down".into())
            })?;
        self.cells.push(EDGE);
        self.weights.words.push(Word::new(start as u32, weight));
        Ok(())
    }

    /// The words as (cells, weight).
    pub(super) fn iter(&self) -> impl Iterator<Item = (std::ops::Range<usize>, u64)> {
        let words = &self.weights.words;
        words.iter().enumerate().map(move |(index, word)| {
            let end = words.get(index + 1).map_or(self.cells.len(), |next| next.start as usize) - 1;
            (word.start as usize..end, word.weight())
        })
    }
}

fn too_much_text() -> Error {
    Error::Training(
        "the distinct pre-tokens hold more than 4,294,967,295 symbols; train on less text, or with a pattern that \
         cuts it into pieces that repeat"
            .into(),
    )
}

/// The weight of the word at a position, without a weight per position.
///
/// A table names the word at the start of each block of cells; from there the search goes on word by word, over at
/// most `BLOCK_CELLS / 3` words. Lists of positions take 4 bytes an entry this way, and weights are 64 bits.
#[derive(Debug)]
pub(super) struct Weights {
    words: Vec<Word>,
    blocks: Vec<u32>,
}

/// 12 bytes: the weight in two halves, lower first, so that nothing is lost to alignment.
#[derive(Clone, Copy, Debug)]
struct Word {
    start: u32,
    weight: [u32; 2],
}

impl Word {
    fn new(start: u32, weight: u64) -> Self {
        Self { start, weight: [weight as u32, (weight >> 32) as u32] }
    }

    #[inline]
    fn weight(self) -> u64 {
        u64::from(self.weight[1]) << 32 | u64::from(self.weight[0])
    }
}

const BLOCK_CELLS: usize = 32;

/// Where the search for the word at a position begins, and where the word behind that one starts.
#[derive(Clone, Copy, Default)]
pub(super) struct Near {
    word: u32,
    next: u32,
}

impl Weights {
    /// Makes the look-ups ready once all words are there.
    pub(super) fn index(&mut self, cells: usize) {
        let mut word = 0;
        self.words.push(Word::new(u32::MAX, 0)); // ends every search
        self.blocks = (0..cells.div_ceil(BLOCK_CELLS))
            .map(|block| {
                while self.words.get(word + 1).is_some_and(|next| next.start as usize <= block * BLOCK_CELLS)
                {
                    word += 1;
                }
                word as u32
            })
            .collect();
    }

    /// The part of a look-up that waits for memory; made ahead for several positions.
    #[inline]
    pub(super) fn near(&self, position: u32) -> Near {
        let word = self.blocks[position as usize / BLOCK_CELLS];
        Near { word, next: self.words[word as usize + 1].start }
    }

    /// The weight of the word at `position`.
    #[inline]
    pub(super) fn at(&self, position: u32, near: Near) -> u64 {
        let (mut word, mut next) = (near.word as usize, near.next);
        while next <= position {
            word += 1;
            next = self.words[word + 1].start;
        }
        self.words[word].weight()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_found_from_every_cell() {
        let mut words = Words::with_capacity(4, 0, 0).unwrap();
        for index in 0..200_u64 {
            words.push((0..=index % 50).map(|symbol| (symbol % 4) as u32), index).unwrap();
        }
        let expected: Vec<_> = words.iter().collect();
        assert_eq!(expected.len(), 196, "four words of one symbol teach nothing");
        words.weights.index(words.cells.len());
        for (cells, weight) in expected {
            assert_eq!(words.cells[cells.end], EDGE);
            for position in cells {
                assert_eq!(
                    words.weights.at(position as u32, words.weights.near(position as u32)),
                    weight,
                    "at {position}"
                );
            }
        }
    }

    #[test]
    fn faulty_words_are_refused() {
        let mut words = Words::with_capacity(4, 1, 2).unwrap();
        assert!(matches!(words.push([0, 4], 1), Err(Error::Training(_))));
        let mut words = Words::with_capacity(4, 1, 2).unwrap();
        words.push([0, 1], u64::MAX).unwrap();
        assert!(matches!(words.push([1, 0], 1), Err(Error::Training(_))));
        assert!(matches!(Words::with_capacity(4, 1, MAX_CELLS), Err(Error::Training(_))));
    }
}
