//! A provable lower bound of every count that is still to be merged.
//!
//! A word that is more than one symbol holds a pair whose count is at least the word's weight. A merge finishes (turns
//! into one symbol) at most one word, since words are distinct. So with `r` merges to go and `r` unfinished words of
//! weight `w` or more, one of those words is unfinished at every one of the merges, and each merges a count of at
//! least `w`. The count of a pair only falls once it exists: a pair below the bound is never merged, and need be
//! neither stored, nor queued, nor listed. On real text that is more than half of all pairs.
//!
//! With a longest token, a word beyond it is never finished and might hold only pairs that may not be merged: such
//! words do not count here. Where some merges are forbidden, any word might; the bound then never rises.

/// Weights from here on share the last bin: the bound never rises above it.
const BINS: usize = 1 << 16;

#[derive(Debug)]
pub(super) struct Floor {
    /// Unfinished words by weight.
    bins: Vec<u32>,
    /// Unfinished words of weight `bound` or more.
    heavy: u64,
    bound: usize,
    /// Merges to go.
    remaining: u64,
    min_frequency: u64,
}

impl Floor {
    /// The bound at the start, given the weights of the words that can be finished.
    pub(super) fn new(weights: impl Iterator<Item = u64>, merges: usize, min_frequency: u64) -> Self {
        let mut floor =
            Self { bins: vec![0; BINS], heavy: 0, bound: 0, remaining: merges as u64, min_frequency };
        for weight in weights {
            floor.bins[bin(weight)] += 1;
            floor.heavy += 1;
        }
        floor.raise();
        floor
    }

    /// A bound that never rises.
    pub(super) fn flat(merges: usize, min_frequency: u64) -> Self {
        Self { bins: Vec::new(), heavy: 0, bound: 0, remaining: merges as u64, min_frequency }
    }

    /// No pair with a smaller count will be merged any more. At least `min_frequency`, which is at least 1.
    pub(super) fn value(&self) -> u64 {
        self.min_frequency.max(self.bound as u64)
    }

    /// A word of this weight has become one symbol.
    pub(super) fn word_finished(&mut self, weight: u64) {
        let bin = bin(weight);
        let Some(words) = self.bins.get_mut(bin) else { return };
        *words -= 1;
        if bin >= self.bound {
            self.heavy -= 1;
        }
    }

    /// A merge is done.
    pub(super) fn merged(&mut self) {
        self.remaining -= 1;
        self.raise();
    }

    fn raise(&mut self) {
        while self.bound + 1 < self.bins.len() {
            let heavier = self.heavy - u64::from(self.bins[self.bound]);
            if heavier < self.remaining {
                break;
            }
            self.heavy = heavier;
            self.bound += 1;
        }
    }
}

fn bin(weight: u64) -> usize {
    weight.min(BINS as u64 - 1) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_the_weight_of_the_last_word_that_can_stay() {
        let weights = [9, 7, 7, 5, 1];
        for (merges, bound) in [(1, 9), (2, 7), (3, 7), (4, 5), (5, 1), (6, 1)] {
            assert_eq!(Floor::new(weights.into_iter(), merges, 1).value(), bound, "{merges} merges");
        }
        assert_eq!(Floor::new(weights.into_iter(), 1, 100_000).value(), 100_000);
        assert_eq!(Floor::new([u64::MAX, 1 << 40].into_iter(), 2, 1).value(), BINS as u64 - 1);
    }

    #[test]
    fn a_flat_one_stays() {
        let mut floor = Floor::flat(2, 3);
        floor.word_finished(9);
        floor.merged();
        floor.merged();
        assert_eq!(floor.value(), 3);
    }

    #[test]
    fn it_rises_when_merges_finish_no_word() {
        let mut floor = Floor::new([9, 7, 5].into_iter(), 4, 1);
        assert_eq!(floor.value(), 1);
        floor.merged();
        assert_eq!(floor.value(), 5);
        floor.word_finished(9);
        floor.merged();
        assert_eq!(floor.value(), 5);
        floor.merged();
        assert_eq!(floor.value(), 7);
    }
}
