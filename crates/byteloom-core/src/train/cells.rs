//! The cells that merging works on, with the weights of their words among them.
//!
//! One cell per initial symbol, words in order of first appearance, one [`Cell::EDGE`] before, between and after them. The
//! id of a symbol stands in the first *and* the last cell that it covers, so both neighbours of any symbol are one
//! read away, and no merge ever moves a cell: its cost does not depend on the length of the word.
//!
//! Behind every two cells stands the weight of their word: an edge stands between words, so two neighbouring cells never
//! belong to two. Cells are visited all over memory, and this way the weight is in the cache line that was waited for
//! anyway. A weight too large for a cell is kept apart; few words are that frequent.

use std::ops::Range;

use bytemuck::Zeroable;

use crate::large::LargeVec;
use crate::prefetch::prefetch;

/// What stands in one cell: the id of a symbol, or one of two signs. Half as wide where ids are small, since the
/// cells are what merging waits for.
pub(super) trait Cell: Copy + Eq + Zeroable {
    /// Between two words; in the place of a weight, that it is kept apart.
    const EDGE: Self;
    /// Inside a symbol. A symbol of two cells has none.
    const INSIDE: Self;
    /// The cell of a symbol, which must fit.
    fn of(symbol: u32) -> Self;
    /// The id, if it is one; otherwise a number above all ids.
    fn symbol(self) -> u32;
    /// 0 for an edge, and one more than its id for a symbol.
    fn rank(self) -> usize;
}

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

    #[inline]
    fn rank(self) -> usize {
        self.wrapping_add(1).into()
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

    #[inline]
    fn rank(self) -> usize {
        self.wrapping_add(1) as usize
    }
}

/// Pairs between two pauses.
const BETWEEN_PAUSES: usize = 1 << 14;

/// All cells. Positions count cells only; they are 32 bits.
#[derive(Debug)]
pub(super) struct Cells<C> {
    /// Two cells and their weight, again and again.
    units: LargeVec<C>,
    length: usize,
    /// The first cell and the weight of each word whose weight does not fit, ascending.
    heavy: Vec<(u32, u64)>,
}

/// Where the cell at `position` stands among the units.
#[inline]
fn unit(position: usize) -> usize {
    position + position / 2
}

impl<C: Cell> Cells<C> {
    /// The edge before the first word, and room for `cells` cells; `None` where memory has none.
    pub(super) fn with_room(cells: usize) -> Option<Self> {
        let units = LargeVec::with_room(unit(cells) + 1)?;
        let mut all = Self { units, length: 0, heavy: Vec::new() };
        all.push(C::EDGE, C::EDGE);
        Some(all)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.length
    }

    #[inline]
    pub(super) fn get(&self, position: usize) -> C {
        self.units[unit(position)]
    }

    #[inline]
    pub(super) fn set(&mut self, position: usize, cell: C) {
        self.units[unit(position)] = cell;
    }

    /// Asks for the cell at `position` and its weight.
    #[inline]
    pub(super) fn prefetch(&self, position: usize) {
        prefetch(&self.units, unit(position));
    }

    /// The weight of the word that the cell at `position` belongs to.
    #[inline]
    pub(super) fn weight(&self, position: usize) -> u64 {
        let weight = self.units[position / 2 * 3 + 2];
        if weight == C::EDGE { self.heavy_weight(position) } else { weight.symbol().into() }
    }

    #[cold]
    fn heavy_weight(&self, position: usize) -> u64 {
        let behind = self.heavy.partition_point(|&(start, _)| start as usize <= position);
        behind.checked_sub(1).map_or(0, |word| self.heavy[word].1)
    }

    /// The words as (cells, weight).
    pub(super) fn words(&self) -> impl Iterator<Item = (Range<usize>, u64)> {
        let mut start = 1;
        std::iter::from_fn(move || {
            (start < self.length).then(|| {
                let end = (start..self.length).find(|&at| self.get(at) == C::EDGE).unwrap_or(self.length);
                let word = start..end;
                start = end + 1;
                (word, self.weight(end - 1))
            })
        })
    }

    /// The pairs of all words as (where it begins, its two symbols). `made` are the lengths of symbols from `base` on.
    pub(super) fn pairs(&self, base: u32, made: &[u32]) -> impl Iterator<Item = (usize, u32, u32)> {
        let units = &self.units[..];
        let (mut at, mut left) = (0, C::EDGE);
        std::iter::from_fn(move || {
            loop {
                let length = match left.symbol().checked_sub(base) {
                    Some(place) if left != C::EDGE => made[place as usize] as usize,
                    _ => 1,
                };
                let (start, next) = (at, at + length);
                let right = *units.get(unit(next))?;
                let found =
                    (left != C::EDGE && right != C::EDGE).then(|| (start, left.symbol(), right.symbol()));
                (at, left) = (next, right);
                if found.is_some() {
                    return found;
                }
            }
        })
    }

    /// [`Self::pairs`] one after another to `each`, with a `pause` after every few thousand.
    pub(super) fn for_pairs(
        &self,
        base: u32,
        made: &[u32],
        mut pause: impl FnMut() -> crate::error::Result<()>,
        mut each: impl FnMut(usize, u32, u32) -> crate::error::Result<()>,
    ) -> crate::error::Result<()> {
        let mut pairs = self.pairs(base, made).peekable();
        while pairs.peek().is_some() {
            for (position, left, right) in pairs.by_ref().take(BETWEEN_PAUSES) {
                each(position, left, right)?;
            }
            pause()?;
        }
        Ok(())
    }

    /// Adds the cells of a word and the edge behind it; nothing for a word without a pair or without weight.
    /// `made` as for [`Self::pairs`]. Gives the number of symbols, or the one that is outside of base and made ones.
    pub(super) fn push_word(
        &mut self,
        base: u32,
        made: &[u32],
        symbols: impl IntoIterator<Item = u32>,
        weight: u64,
    ) -> Result<usize, u32> {
        let start = self.length;
        let small = u32::try_from(weight).ok().filter(|&weight| weight < C::INSIDE.symbol());
        let light = small.map_or(C::EDGE, C::of);
        let mut length = 0;
        for symbol in symbols {
            length += 1;
            self.push(C::of(symbol), light);
            if symbol >= base {
                let Some(&covered) = made.get((symbol - base) as usize) else { return Err(symbol) };
                for _ in 2..covered {
                    self.push(C::INSIDE, light);
                }
                self.push(C::of(symbol), light);
            }
        }
        if length < 2 || weight == 0 {
            self.units.set_length(unit(start));
            self.length = start;
            return Ok(length);
        }
        self.push(C::EDGE, light);
        if small.is_none() {
            self.heavy.push((start as u32, weight));
        }
        Ok(length)
    }

    #[inline]
    fn push(&mut self, cell: C, weight: C) {
        self.units.push(cell);
        if self.length % 2 == 1 {
            self.units.push(weight);
        }
        self.length += 1;
    }
}

impl Cells<u16> {
    /// The same in cells for larger ids; `None` where there is no memory for them.
    pub(super) fn widened(self) -> Option<Cells<u32>> {
        let wide = |unit: u16| match unit {
            u16::EDGE => u32::EDGE,
            u16::INSIDE => u32::INSIDE,
            symbol_or_weight => symbol_or_weight.into(),
        };
        let mut units = LargeVec::with_room(self.units.len())?;
        self.units.iter().for_each(|&unit| units.push(wide(unit)));
        Some(Cells { units, length: self.length, heavy: self.heavy })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all<C: Cell>(cells: &Cells<C>) -> Vec<C> {
        (0..cells.len()).map(|position| cells.get(position)).collect()
    }

    /// Words of all lengths, with weights on both sides of what fits into a cell.
    fn words() -> Vec<(Vec<u32>, u64)> {
        let weights = [1, 0xFFFD, 0xFFFE, 0xFFFF, 1 << 16, u32::MAX.into(), u64::from(u32::MAX) - 2, 1 << 60];
        (0..200)
            .map(|word| ((0..=word % 50).map(|symbol| symbol % 4).collect(), weights[word as usize % 8]))
            .collect()
    }

    fn check<C: Cell>(cells: &Cells<C>, words: &[(Vec<u32>, u64)]) {
        assert!(cells.get(0) == C::EDGE && cells.get(cells.len() - 1) == C::EDGE);
        let words: Vec<_> = words.iter().filter(|(symbols, _)| symbols.len() > 1).collect();
        let found: Vec<_> = cells.words().collect();
        assert_eq!(found.len(), words.len());
        let mut pairs = Vec::new();
        for ((range, weight), (symbols, expected)) in found.into_iter().zip(words) {
            assert_eq!(weight, *expected);
            assert!(cells.get(range.start - 1) == C::EDGE && cells.get(range.end) == C::EDGE);
            for (position, &symbol) in range.clone().zip(symbols) {
                cells.prefetch(position);
                assert_eq!((cells.get(position).symbol(), cells.weight(position)), (symbol, weight));
            }
            pairs.extend(range.zip(symbols.windows(2)).map(|(at, two)| (at, two[0], two[1])));
        }
        assert_eq!(cells.pairs(4, &[]).collect::<Vec<_>>(), pairs);
    }

    fn filled<C: Cell>(words: &[(Vec<u32>, u64)]) -> Cells<C> {
        let mut cells = Cells::with_room(0).unwrap();
        for (symbols, weight) in words {
            cells.push_word(4, &[], symbols.iter().copied(), *weight).unwrap();
        }
        cells
    }

    #[test]
    fn every_cell_has_the_weight_of_its_word() {
        check(&filled::<u16>(&words()), &words());
        check(&filled::<u32>(&words()), &words());
        check(&filled::<u16>(&words()).widened().unwrap(), &words());
        check(&filled::<u16>(&[]), &[]);
    }

    #[test]
    fn symbols_made_before_cover_their_length() {
        let mut cells = Cells::<u16>::with_room(8).unwrap();
        assert_eq!(cells.push_word(4, &[2, 3], [5, 4, 3], 2), Ok(3));
        assert_eq!(cells.push_word(4, &[2, 3], [5], 9), Ok(1));
        let expected = [u16::EDGE, 5, u16::INSIDE, 5, 4, 4, 3, u16::EDGE];
        assert_eq!(all(&cells), expected, "one symbol teaches nothing");
        assert_eq!(cells.pairs(4, &[2, 3]).collect::<Vec<_>>(), [(1, 5, 4), (4, 4, 3)]);
        assert_eq!(cells.push_word(4, &[2, 3], [0, 6], 1), Err(6));
        let wide = [u32::EDGE, 5, u32::INSIDE, 5, 4, 4, 3, u32::EDGE];
        let mut cells = Cells::<u16>::with_room(8).unwrap();
        assert_eq!(cells.push_word(4, &[2, 3], [5, 4, 3], 1 << 40), Ok(3));
        let cells = cells.widened().unwrap();
        assert_eq!((all(&cells), cells.weight(6)), (wide.to_vec(), 1 << 40));
    }
}
