//! The words that merges are learned from.

use super::cells::Cells;
use crate::error::{Error, Result};

/// How many ids a cell of 16 bits can hold.
const NARROW: u64 = u16::MAX as u64 - 1;

/// Positions are 32 bits.
const MAX_CELLS: usize = u32::MAX as usize;

/// Distinct words of initial symbols with their weights, in order of first appearance.
///
/// The words must be distinct: the bound below which the trainer drops pairs rests on it.
#[derive(Debug)]
pub struct Words {
    cells: Width,
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

/// Words as the merge loop takes them, cells of one width.
#[derive(Debug)]
pub(super) enum Width {
    Narrow(Cells<u16>),
    Wide(Cells<u32>),
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
        let cells = if narrow {
            Cells::with_room(cells).map(Width::Narrow).ok_or_else(|| no_memory::<u16>(cells))
        } else {
            Cells::with_room(cells).map(Width::Wide).ok_or_else(|| no_memory::<u32>(cells))
        }?;
        Ok(Self { cells, base, made, pair_weight: 0 })
    }

    /// Adds a word. A word without a pair, or without weight, teaches nothing and is left out.
    ///
    /// # Errors
    /// [`Error::Training`] for a symbol outside the base, too many cells, or counts beyond 64 bits.
    pub fn push(&mut self, symbols: impl IntoIterator<Item = u32>, weight: u64) -> Result<()> {
        let (pushed, cells) = match &mut self.cells {
            Width::Narrow(cells) => {
                (cells.push_word(self.base, &self.made.lengths, symbols, weight), cells.len())
            }
            Width::Wide(cells) => {
                (cells.push_word(self.base, &self.made.lengths, symbols, weight), cells.len())
            }
        };
        let length = pushed.map_err(|symbol| {
            Error::Training(format!("initial symbol {symbol} is outside the base of {} symbols", self.base))
        })?;
        if cells > MAX_CELLS {
            return Err(too_much_text());
        }
        let pair_weight = weight.checked_mul((length as u64).saturating_sub(1));
        self.pair_weight =
            pair_weight.and_then(|more| self.pair_weight.checked_add(more)).ok_or_else(|| {
                Error::Training("counts of pairs could leave 64 bits; scale the counts down".into())
            })?;
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

    /// The cells, wide enough for this many merges, and what was made before.
    pub(super) fn sized(self, merges: usize) -> Result<(Width, Made)> {
        let known = self.known();
        let cells = match self.cells {
            Width::Narrow(cells) if u64::from(known) + merges as u64 > NARROW => {
                let number = cells.len();
                Width::Wide(cells.widened().ok_or_else(|| no_memory::<u32>(number))?)
            }
            cells => cells,
        };
        Ok((cells, self.made))
    }
}

fn no_memory<C>(cells: usize) -> Error {
    let bytes = size_of::<C>();
    Error::Training(format!(
        "no memory for {cells} cells of {bytes} bytes; train on less text, or with a pattern that repeats more"
    ))
}

fn too_much_text() -> Error {
    Error::Training(
        "the distinct pre-tokens hold more than 4,294,967,295 symbols; train on less text, or with a pattern that \
         cuts it into pieces that repeat"
            .into(),
    )
}

#[cfg(test)]
mod tests {
    use super::super::cells::Cell;
    use super::*;

    #[test]
    fn more_merges_than_planned_widen_the_cells() {
        let words = || {
            let mut words = Words::with_capacity(4, 0, 1, 2).unwrap();
            words.push([3, 0], 5).unwrap();
            words
        };
        assert!(matches!(words().sized(NARROW as usize - 4).unwrap(), (Width::Narrow(_), _)));
        let (Width::Wide(cells), _) = words().sized(NARROW as usize - 3).unwrap() else {
            panic!("still narrow")
        };
        assert_eq!(cells.words().collect::<Vec<_>>(), [(1..3, 5)]);
        assert!(cells.get(0) == u32::EDGE && cells.get(3) == u32::EDGE);
    }

    #[test]
    fn what_teaches_nothing_is_left_out() {
        let mut words = Words::with_capacity(4, 0, 4, 8).unwrap();
        for (symbols, weight) in [(&[1, 2][..], 0), (&[1], 3), (&[], 3), (&[1, 2], 3)] {
            words.push(symbols.iter().copied(), weight).unwrap();
        }
        let (Width::Narrow(cells), _) = words.sized(0).unwrap() else { panic!("wide") };
        assert_eq!(cells.words().collect::<Vec<_>>(), [(1..3, 3)]);
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
