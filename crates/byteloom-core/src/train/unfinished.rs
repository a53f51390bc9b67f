//! What a training leaves in more than one piece: how well its vocabulary covers the text it was learned from.

use super::cells::{Cell, Cells};
use super::words::{Made, Width, Words};
use crate::error::Result;

/// The words that are more than one symbol when training ends. All others, those of one initial symbol among them,
/// are a token each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unfinished {
    /// How many distinct ones there are.
    pub words: u64,
    /// How often they occur in all.
    pub weight: u64,
    /// Pairs left in them, each as often as its word occurs: one less a word than symbols.
    pub pairs: u64,
}

/// Counts them; `lengths` are those of the symbols, in cells.
pub(super) fn unfinished<C: Cell>(cells: &Cells<C>, lengths: &[u32]) -> Unfinished {
    let mut found = Unfinished::default();
    let (mut at, mut symbols) = (1, 0);
    while at < cells.len() {
        if cells.get(at) != C::EDGE {
            at += lengths[cells.get(at).symbol() as usize] as usize;
            symbols += 1;
            continue;
        }
        if symbols > 1 {
            let weight = cells.weight(at - 1);
            found.words += 1;
            // Words were refused where the sum of weight × pairs leaves 64 bits, and it only fell since.
            found.weight += weight;
            found.pairs += weight * (symbols - 1);
        }
        (at, symbols) = (at + 1, 0);
    }
    found
}

impl Words {
    /// What is in more than one piece before anything is learned.
    pub(super) fn unfinished(self) -> Result<Unfinished> {
        let base = self.base() as usize;
        let lengths = |made: Made| -> Vec<u32> { std::iter::repeat_n(1, base).chain(made.lengths).collect() };
        Ok(match self.sized(0)? {
            (Width::Narrow(cells), made) => unfinished(&cells, &lengths(made)),
            (Width::Wide(cells), made) => unfinished(&cells, &lengths(made)),
        })
    }
}
