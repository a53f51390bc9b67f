//! Strings that no merge may make, such as those of special tokens where training reads them as ordinary text.

use std::collections::HashSet;

/// Sequences of initial symbols that no merge may make.
#[derive(Debug, Default)]
pub(super) struct Taken {
    sequences: Vec<Vec<u32>>,
    /// Their lengths, so that most pairs cost one look.
    lengths: HashSet<u64>,
    base: u32,
}

impl Taken {
    pub(super) fn new(sequences: Vec<Vec<u32>>, base: u32) -> Self {
        let lengths = sequences.iter().map(|sequence| sequence.len() as u64).collect();
        Self { sequences, lengths, base }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sequences.is_empty()
    }

    /// Whether merging `left` and `right` would make a taken sequence; `length` is that of both in initial symbols.
    #[inline]
    pub(super) fn forbids(&self, left: u32, right: u32, length: u64, merges: &[(u32, u32)]) -> bool {
        !self.is_empty() && self.lengths.contains(&length) && self.spells_any(left, right, length, merges)
    }

    fn spells_any(&self, left: u32, right: u32, length: u64, merges: &[(u32, u32)]) -> bool {
        self.sequences.iter().filter(|sequence| sequence.len() as u64 == length).any(|sequence| {
            let mut rest = sequence.iter();
            let mut symbols = vec![right, left];
            while let Some(symbol) = symbols.pop() {
                match symbol.checked_sub(self.base) {
                    Some(merge) => {
                        let (left, right) = merges[merge as usize];
                        symbols.extend([right, left]);
                    }
                    None if rest.next() != Some(&symbol) => return false,
                    None => {}
                }
            }
            true
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_sequences_are_taken() {
        // 4 = 0 1, 5 = 4 2, 6 = 1 2
        let merges = [(0, 1), (4, 2), (1, 2)];
        let taken = Taken::new(vec![vec![0, 1, 2], vec![3, 3]], 4);
        assert!(taken.forbids(4, 2, 3, &merges) && taken.forbids(0, 6, 3, &merges));
        assert!(taken.forbids(3, 3, 2, &merges));
        assert!(!taken.forbids(0, 1, 2, &merges) && !taken.forbids(5, 3, 4, &merges));
        assert!(!taken.forbids(4, 3, 3, &merges));
        assert!(!Taken::default().forbids(3, 3, 2, &merges));
    }
}
