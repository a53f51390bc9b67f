//! What a training decided at each merge: the runners-up, and how many pairs were tied.
//!
//! The queue orders only what it must, so it cannot say what comes second. Where a trace is wanted, a heap of all pairs
//! stands beside it, with lazy entries: counts only fall, and a tie changes only with the count. How many pairs have
//! each count is kept as they change.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::queue::Ranked;

/// How one merge was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceStep {
    /// How many pairs had the count of the one that was merged, that one included.
    pub tied: u64,
    /// The pairs that came next, and their counts.
    pub runners_up: Vec<((u32, u32), u64)>,
}

#[derive(Debug)]
pub(super) struct Tracer {
    /// How many runners-up to tell.
    wanted: usize,
    heap: BinaryHeap<(u64, Reverse<u64>, u32)>,
    /// How many pairs have each count.
    with_count: HashMap<u64, u64>,
    pub(super) steps: Vec<TraceStep>,
}

impl Tracer {
    pub(super) fn new(wanted: usize) -> Self {
        Self { wanted, heap: BinaryHeap::new(), with_count: HashMap::new(), steps: Vec::new() }
    }

    /// A new pair.
    pub(super) fn add(&mut self, pair: u32, pairs: &mut impl Ranked) {
        let count = pairs.count(pair);
        *self.with_count.entry(count).or_default() += 1;
        self.heap.push((count, Reverse(pairs.tie(pair)), pair));
    }

    /// The count of a pair fell.
    pub(super) fn fell(&mut self, from: u64, to: u64) {
        if let Some(number) = self.with_count.get_mut(&from) {
            *number -= 1;
            if *number == 0 {
                self.with_count.remove(&from);
            }
        }
        *self.with_count.entry(to).or_default() += 1;
    }

    /// `chosen` is about to be merged; `symbols` gives those of a pair.
    pub(super) fn choose<P: Ranked>(
        &mut self,
        chosen: u32,
        floor: u64,
        pairs: &mut P,
        symbols: impl Fn(&P, u32) -> (u32, u32),
    ) {
        let mut next = Vec::with_capacity(self.wanted);
        while next.len() < self.wanted
            && let Some((count, tie, pair)) = self.heap.pop()
        {
            let now = pairs.count(pair);
            if pair == chosen || now < floor {
                continue;
            }
            if now == count {
                next.push((count, tie, pair));
            } else {
                self.heap.push((now, Reverse(pairs.tie(pair)), pair));
            }
        }
        self.steps.push(TraceStep {
            tied: self.with_count.get(&pairs.count(chosen)).copied().unwrap_or(1),
            runners_up: next.iter().map(|&(count, _, pair)| (symbols(pairs, pair), count)).collect(),
        });
        self.heap.extend(next);
    }
}
