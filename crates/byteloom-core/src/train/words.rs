//! The words that merges are learned from, as one array of cells.
//!
//! One cell per initial symbol, words in order of first appearance, one [`Cell::EDGE`] before, between and after them. The
//! id of a symbol stands in the first *and* the last cell that it covers, so both neighbours of any symbol are one
//! read away, and no merge ever moves a cell: its cost does not depend on the length of the word.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::prefetch::prefetch;

/// What stands in one cell: the id of a symbol, or one of two signs. Half as wide where ids are small, since the
/// cells are what merging waits for.
pub(super) trait Cell: Copy + Eq {
    /// Between two words.
    const EDGE: Self;
    /// Inside a symbol. A symbol of two cells has none.
    const INSIDE: Self;
    /// The cell of a symbol, which must fit.
    fn of(symbol: u32) -> Self;
    /// The id, if it is one; otherwise a number above all ids.
    fn symbol(self) -> u32;
}

/// How many ids a cell of 16 bits can hold.
const NARROW: u64 = u16::MAX as u64 - 1;

impl Cell for u16 {
    const EDGE: Self = Self::MAX;
    const INSIDE: Self = Self::MAX - 1;

    #[inline]
    fn of(symbol: u32) -> Self {
        symbol as Self
    }

    #[inline]
    fn symbol(self) -> u32 {
        self.into()
    }
}

impl Cell for u32 {
    const EDGE: Self = Self::MAX;
    const INSIDE: Self = Self::MAX - 1;

    #[inline]
    fn of(symbol: u32) -> Self {
        symbol
    }

    #[inline]
    fn symbol(self) -> u32 {
        self
    }
}

/// Positions are 32 bits.
const MAX_CELLS: usize = u32::MAX as usize;

/// Distinct words of initial symbols with their weights, in order of first appearance.
///
/// The words must be distinct: the bound below which the trainer drops pairs rests on it.
#[derive(Debug)]
pub struct Words {
    cells: Cells,
    weights: Weights,
    base: u32,
    /// The sum of weight × pairs; the most that a count of a pair can be.
    pair_weight: u64,
}

#[derive(Debug)]
enum Cells {
    Narrow(Vec<u16>),
    Wide(Vec<u32>),
}

/// Words as the merge loop takes them, their cells of one width.
pub(super) enum Sized {
    Narrow(Vec<u16>, Weights),
    Wide(Vec<u32>, Weights),
}

impl Words {
    /// No words yet, over the initial symbols `0..base` and for this many merges, with room for `words` words of
    /// `symbols` symbols in all.
    ///
    /// # Errors
    /// [`Error::Training`] when that is more than 32-bit positions can address, or than memory holds.
    pub fn with_capacity(base: u32, merges: usize, words: usize, symbols: usize) -> Result<Self> {
        let cells = symbols.saturating_add(words).saturating_add(1);
        if cells > MAX_CELLS {
            return Err(too_much_text());
        }
        let narrow = u64::from(base) + merges as u64 <= NARROW;
        let mut weights = Weights { words: Vec::new(), blocks: Vec::new() };
        let cells = if narrow { edge(cells).map(Cells::Narrow) } else { edge(cells).map(Cells::Wide) }?;
        weights.words.try_reserve_exact(words + 1).map_err(|_| no_memory(words, 12))?;
        Ok(Self { cells, weights, base, pair_weight: 0 })
    }

    /// Adds a word. A word without a pair, or without weight, teaches nothing and is left out.
    ///
    /// # Errors
    /// [`Error::Training`] for a symbol outside the base, too many cells, or counts beyond 64 bits.
    pub fn push(&mut self, symbols: impl IntoIterator<Item = u32>, weight: u64) -> Result<()> {
        let (start, length) = match &mut self.cells {
            Cells::Narrow(cells) => push(cells, self.base, symbols, weight),
            Cells::Wide(cells) => push(cells, self.base, symbols, weight),
        }?;
        if length == 0 {
            return Ok(());
        }
        let pair_weight = weight.checked_mul(length as u64 - 1);
        self.pair_weight =
            pair_weight.and_then(|more| self.pair_weight.checked_add(more)).ok_or_else(|| {
                Error::Training("counts of pairs could leave 64 bits; scale the counts down".into())
            })?;
        self.weights.words.push(Word::new(start, weight));
        Ok(())
    }

    /// How many initial symbols there are.
    pub(super) fn base(&self) -> u32 {
        self.base
    }

    /// The words ready for this many merges.
    pub(super) fn sized(self, merges: usize) -> Sized {
        match self.cells {
            Cells::Narrow(cells) if u64::from(self.base) + merges as u64 > NARROW => {
                let wide = |cell: &u16| if *cell == u16::EDGE { u32::EDGE } else { u32::from(*cell) };
                Sized::Wide(cells.iter().map(wide).collect(), self.weights)
            }
            Cells::Narrow(cells) => Sized::Narrow(cells, self.weights),
            Cells::Wide(cells) => Sized::Wide(cells, self.weights),
        }
    }
}

/// Room for `cells` cells, and the edge before the first word.
fn edge<C: Cell>(cells: usize) -> Result<Vec<C>> {
    let mut all = Vec::new();
    all.try_reserve_exact(cells).map_err(|_| no_memory(cells, size_of::<C>()))?;
    all.push(C::EDGE);
    Ok(all)
}

fn no_memory(number: usize, bytes: usize) -> Error {
    Error::Training(format!(
        "no memory for {number} cells of {bytes} bytes; train on less text, or with a pattern that repeats more"
    ))
}

/// Adds a word to the cells: where it starts, and how many symbols it has; 0 if it teaches nothing.
fn push<C: Cell>(
    cells: &mut Vec<C>,
    base: u32,
    symbols: impl IntoIterator<Item = u32>,
    weight: u64,
) -> Result<(u32, usize)> {
    let start = cells.len();
    for symbol in symbols {
        if symbol >= base {
            return Err(Error::Training(format!(
                "initial symbol {symbol} is outside the base of {base} symbols"
            )));
        }
        cells.push(C::of(symbol));
    }
    let length = cells.len() - start;
    if length < 2 || weight == 0 {
        cells.truncate(start);
        return Ok((0, 0));
    }
    if cells.len() >= MAX_CELLS {
        return Err(too_much_text());
    }
    cells.push(C::EDGE);
    Ok((start as u32, length))
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

    /// The words as (cells, weight); `cells` is how many there are in all.
    pub(super) fn iter(&self, cells: usize) -> impl Iterator<Item = (Range<usize>, u64)> {
        let words = match self.words.split_last() {
            Some((last, words)) if last.start == u32::MAX => words, // put there by `index`
            _ => &self.words,
        };
        words.iter().enumerate().map(move |(index, word)| {
            let end = words.get(index + 1).map_or(cells, |next| next.start as usize) - 1;
            (word.start as usize..end, word.weight())
        })
    }

    /// Asks for what the second step of a look-up reads.
    #[inline]
    pub(super) fn prefetch_block(&self, position: u32) {
        prefetch(&self.blocks, position as usize / BLOCK_CELLS);
    }

    /// Asks for what the last step reads.
    #[inline]
    pub(super) fn prefetch_word(&self, position: u32) {
        prefetch(&self.words, self.blocks[position as usize / BLOCK_CELLS] as usize);
    }

    /// The weight of the word at `position`.
    #[inline]
    pub(super) fn at(&self, position: u32) -> u64 {
        let mut word = self.blocks[position as usize / BLOCK_CELLS] as usize;
        while self.words[word + 1].start <= position {
            word += 1;
        }
        self.words[word].weight()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_found_from_every_cell() {
        for merges in [0, 70_000] {
            let mut words = Words::with_capacity(4, merges, 0, 0).unwrap();
            for index in 0..200_u64 {
                words.push((0..=index % 50).map(|symbol| (symbol % 4) as u32), index).unwrap();
            }
            let (cells, mut weights) = match words.sized(merges) {
                Sized::Narrow(cells, weights) => {
                    assert_eq!(merges, 0);
                    (
                        cells.iter().map(|&cell| (cell == u16::EDGE, cell.symbol())).collect::<Vec<_>>(),
                        weights,
                    )
                }
                Sized::Wide(cells, weights) => {
                    assert_eq!(merges, 70_000);
                    (cells.iter().map(|&cell| (cell == u32::EDGE, cell.symbol())).collect(), weights)
                }
            };
            let expected: Vec<_> = weights.iter(cells.len()).collect();
            assert_eq!(expected.len(), 196, "four words of one symbol teach nothing");
            weights.index(cells.len());
            assert_eq!(weights.iter(cells.len()).collect::<Vec<_>>(), expected);
            for (range, weight) in expected {
                assert!(cells[range.start - 1].0 && cells[range.end].0);
                for position in range {
                    assert!(cells[position].1 < 4);
                    weights.prefetch_block(position as u32);
                    weights.prefetch_word(position as u32);
                    assert_eq!(weights.at(position as u32), weight, "at {position}");
                }
            }
        }
    }

    #[test]
    fn more_merges_than_planned_widen_the_cells() {
        let mut words = Words::with_capacity(4, 0, 1, 2).unwrap();
        words.push([3, 0], 5).unwrap();
        let Sized::Wide(cells, _) = words.sized(NARROW as usize - 3) else { panic!("still narrow") };
        assert_eq!(cells, [u32::EDGE, 3, 0, u32::EDGE]);
    }

    #[test]
    fn faulty_words_are_refused() {
        let mut words = Words::with_capacity(4, 1, 1, 2).unwrap();
        assert!(matches!(words.push([0, 4], 1), Err(Error::Training(_))));
        let mut words = Words::with_capacity(4, 1, 1, 2).unwrap();
        words.push([0, 1], u64::MAX).unwrap();
        assert!(matches!(words.push([1, 0], 1), Err(Error::Training(_))));
        assert!(matches!(Words::with_capacity(4, 1, 1, MAX_CELLS), Err(Error::Training(_))));
    }
}
