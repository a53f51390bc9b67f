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
    made: Made,
    /// The sum of weight × pairs; the most that a count of a pair can be.
    pair_weight: u64,
}

/// Symbols that merges made before, with the numbers behind those of the initial ones.
#[derive(Clone, Debug, Default)]
pub struct Made {
    /// The two parts of each.
    pub parts: Vec<(u32, u32)>,
    /// How many initial symbols each covers: at least 2.
    pub lengths: Vec<u32>,
}

#[derive(Debug)]
enum Cells {
    Narrow(Vec<u16>),
    Wide(Vec<u32>),
}

/// Words as the merge loop takes them, their cells of one width.
pub(super) enum Sized {
    Narrow(Vec<u16>, Weights, Made),
    Wide(Vec<u32>, Weights, Made),
}

impl Words {
    /// No words yet, over the initial symbols `0..base` and for this many merges, with room for `words` words of
    /// `symbols` symbols in all.
    ///
    /// # Errors
    /// [`Error::Training`] when that is more than 32-bit positions can address, or than memory holds.
    pub fn with_capacity(base: u32, merges: usize, words: usize, symbols: usize) -> Result<Self> {
        Self::continuing(base, Made::default(), merges, words, symbols)
    }

    /// [`Self::with_capacity`] for words that hold symbols which merges made before. Each of them covers as many
    /// cells as initial symbols, so that lengths and places are those of one training.
    ///
    /// # Errors
    /// As [`Self::with_capacity`].
    pub fn continuing(base: u32, made: Made, merges: usize, words: usize, symbols: usize) -> Result<Self> {
        let cells = symbols.saturating_add(words).saturating_add(1);
        if cells > MAX_CELLS {
            return Err(too_much_text());
        }
        let narrow = u64::from(base) + made.parts.len() as u64 + merges as u64 <= NARROW;
        let mut weights = Weights { words: Vec::new(), blocks: Vec::new() };
        let cells = if narrow { edge(cells).map(Cells::Narrow) } else { edge(cells).map(Cells::Wide) }?;
        weights.words.try_reserve_exact(words + 1).map_err(|_| no_memory(words, 12))?;
        Ok(Self { cells, weights, base, made, pair_weight: 0 })
    }

    /// Adds a word. A word without a pair, or without weight, teaches nothing and is left out.
    ///
    /// # Errors
    /// [`Error::Training`] for a symbol outside the base, too many cells, or counts beyond 64 bits.
    pub fn push(&mut self, symbols: impl IntoIterator<Item = u32>, weight: u64) -> Result<()> {
        let (start, length) = match &mut self.cells {
            Cells::Narrow(cells) => push(cells, self.base, &self.made.lengths, symbols, weight),
            Cells::Wide(cells) => push(cells, self.base, &self.made.lengths, symbols, weight),
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

    /// How many symbols there are before the first merge to learn.
    pub(super) fn known(&self) -> u32 {
        self.base + self.made.parts.len() as u32
    }

    /// The words ready for this many merges.
    pub(super) fn sized(self, merges: usize) -> Sized {
        let known = self.known();
        match self.cells {
            Cells::Narrow(cells) if u64::from(known) + merges as u64 > NARROW => {
                let wide = |cell: &u16| match *cell {
                    u16::EDGE => u32::EDGE,
                    u16::INSIDE => u32::INSIDE,
                    symbol => symbol.into(),
                };
                Sized::Wide(cells.iter().map(wide).collect(), self.weights, self.made)
            }
            Cells::Narrow(cells) => Sized::Narrow(cells, self.weights, self.made),
            Cells::Wide(cells) => Sized::Wide(cells, self.weights, self.made),
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
    made: &[u32],
    symbols: impl IntoIterator<Item = u32>,
    weight: u64,
) -> Result<(u32, usize)> {
    let start = cells.len();
    let mut length = 0;
    for symbol in symbols {
        length += 1;
        cells.push(C::of(symbol));
        if symbol >= base {
            let Some(&covered) = made.get((symbol - base) as usize) else {
                return Err(Error::Training(format!(
                    "initial symbol {symbol} is outside the base of {base} symbols"
                )));
            };
            cells.resize(cells.len() + covered as usize - 2, C::INSIDE);
            cells.push(C::of(symbol));
        }
    }
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
                Sized::Narrow(cells, weights, _) => {
                    assert_eq!(merges, 0);
                    (
                        cells.iter().map(|&cell| (cell == u16::EDGE, cell.symbol())).collect::<Vec<_>>(),
                        weights,
                    )
                }
                Sized::Wide(cells, weights, _) => {
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
        let Sized::Wide(cells, ..) = words.sized(NARROW as usize - 3) else { panic!("still narrow") };
        assert_eq!(cells, [u32::EDGE, 3, 0, u32::EDGE]);
    }

    #[test]
    fn symbols_made_before_cover_their_length() {
        let made = || Made { parts: vec![(0, 1), (4, 2)], lengths: vec![2, 3] };
        let mut words = Words::continuing(4, made(), 0, 2, 6).unwrap();
        words.push([5, 4, 3], 2).unwrap();
        words.push([5], 9).unwrap();
        let Sized::Narrow(cells, ..) = words.sized(0) else { panic!("wide") };
        assert_eq!(cells, [u16::EDGE, 5, u16::INSIDE, 5, 4, 4, 3, u16::EDGE], "one symbol teaches nothing");
        let mut words = Words::continuing(4, made(), 0, 1, 3).unwrap();
        words.push([0, 5], 1).unwrap();
        let Sized::Wide(cells, ..) = words.sized(1 << 17) else { panic!("still narrow") };
        assert_eq!(cells, [u32::EDGE, 0, 5, u32::INSIDE, 5, u32::EDGE]);
        let mut words = Words::continuing(4, made(), 0, 1, 3).unwrap();
        assert!(matches!(words.push([0, 6], 1), Err(Error::Training(_))));
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
