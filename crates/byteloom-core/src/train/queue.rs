//! Gives the pair with the highest count, ties by a rule, with as little ordering work as possible.
//!
//! Counts given out never rise, and the count of a pair never rises once it exists. So small counts go to buckets,
//! one a count, and only the bucket whose turn it is gets ordered. Entries are lazy: a pair whose count has fallen
//! stays where it is and is filed again when its old place comes up.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Counts below this have a bucket each; on real text nearly all pairs that are ever merged.
const BUCKETS: usize = 4096;

/// What the queue asks about pairs.
pub(super) trait Ranked {
    /// The count of the pair now.
    fn count(&self, pair: u32) -> u64;
    /// The smaller, the earlier among equal counts; distinct for distinct pairs. It may change only with the count.
    fn tie(&mut self, pair: u32) -> u64;
    /// The count will be asked for soon.
    fn prefetch(&self, _pair: u32) {}
}

#[derive(Debug)]
pub(super) struct Queue {
    /// Counts from `BUCKETS` on.
    large: BinaryHeap<(u64, Reverse<u64>, u32)>,
    buckets: Vec<Vec<u32>>,
    /// The count of the bucket that is being emptied; every higher bucket is empty for good.
    top: usize,
    /// That bucket, by tie.
    current: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Queue {
    pub(super) fn new() -> Self {
        Self {
            large: BinaryHeap::new(),
            buckets: vec![Vec::new(); BUCKETS],
            top: BUCKETS,
            current: BinaryHeap::new(),
        }
    }

    /// Files `pair` under its present count, which is not above the count given out last.
    pub(super) fn push(&mut self, pair: u32, pairs: &mut impl Ranked) {
        let count = pairs.count(pair);
        if count >= BUCKETS as u64 {
            self.large.push((count, Reverse(pairs.tie(pair)), pair));
        } else if count as usize == self.top {
            self.current.push(Reverse((pairs.tie(pair), pair)));
        } else {
            self.buckets[count as usize].push(pair);
        }
    }

    /// Takes out the first pair, if its count is at least `floor`. Pairs below the floor are dropped on the way: the
    /// floor never falls.
    pub(super) fn pop(&mut self, floor: u64, pairs: &mut impl Ranked) -> Option<u32> {
        while let Some((count, _, pair)) = self.large.pop() {
            if pairs.count(pair) == count {
                return (count >= floor).then_some(pair);
            }
            self.refile(pair, floor, pairs);
        }
        loop {
            while let Some(Reverse((_, pair))) = self.current.pop() {
                if pairs.count(pair) == self.top as u64 {
                    return (self.top as u64 >= floor).then_some(pair);
                }
                self.refile(pair, floor, pairs);
            }
            if self.top as u64 <= floor {
                return None;
            }
            self.top -= 1;
            let mut current = std::mem::take(&mut self.current).into_vec();
            let bucket = std::mem::take(&mut self.buckets[self.top]);
            for &pair in &bucket {
                pairs.prefetch(pair);
            }
            for pair in bucket {
                if pairs.count(pair) == self.top as u64 {
                    current.push(Reverse((pairs.tie(pair), pair)));
                } else {
                    self.refile(pair, floor, pairs);
                }
            }
            self.current = BinaryHeap::from(current);
        }
    }

    /// Whether another pair has `count`, that of the pair taken out last and not changed since.
    pub(super) fn is_tied(&mut self, count: u64, floor: u64, pairs: &mut impl Ranked) -> bool {
        // A pair of this count was never filed under another: it stands where the last one was taken from.
        if count >= BUCKETS as u64 {
            while let Some(&(filed, _, pair)) = self.large.peek() {
                if filed < count || pairs.count(pair) == count {
                    return filed == count;
                }
                self.large.pop();
                self.refile(pair, floor, pairs);
            }
        } else {
            while let Some(&Reverse((_, pair))) = self.current.peek() {
                if pairs.count(pair) == count {
                    return true;
                }
                self.current.pop();
                self.refile(pair, floor, pairs);
            }
        }
        false
    }

    /// The pair that comes next, if no new one does and its count does not fall; a hint.
    pub(super) fn likely_next(&self) -> Option<u32> {
        let current = self.current.peek().map(|&Reverse((_, pair))| pair);
        self.large.peek().map(|&(_, _, pair)| pair).or(current)
    }

    fn refile(&mut self, pair: u32, floor: u64, pairs: &mut impl Ranked) {
        if pairs.count(pair) >= floor {
            self.push(pair, pairs);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Plain(Vec<u64>);

    impl Ranked for Plain {
        fn count(&self, pair: u32) -> u64 {
            self.0[pair as usize]
        }
        fn tie(&mut self, pair: u32) -> u64 {
            u64::from(pair ^ 5)
        }
    }

    #[test]
    fn the_highest_count_comes_first_while_counts_fall() {
        let mut state = 1_u64;
        let mut random = move |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for round in 0..300 {
            let largest = [3, 20, 5_000, 9_000][round % 4];
            let mut pairs = Plain((0..60).map(|_| 1 + random(largest)).collect());
            let mut queue = Queue::new();
            for pair in 0..60 {
                queue.push(pair, &mut pairs);
            }
            loop {
                let best = (0..60_u32)
                    .filter(|&pair| pairs.0[pair as usize] >= 2)
                    .min_by_key(|&pair| (Reverse(pairs.0[pair as usize]), pair ^ 5));
                assert_eq!(queue.pop(2, &mut pairs), best);
                let Some(best) = best else { break };
                let count = pairs.0[best as usize];
                let tied = pairs.0.iter().filter(|&&other| other == count).count() > 1;
                assert_eq!(queue.is_tied(count, 2, &mut pairs), tied);
                pairs.0[best as usize] = 0;
                for _ in 0..random(8) {
                    let falls = random(60) as usize;
                    pairs.0[falls] -= random(pairs.0[falls] + 1);
                }
            }
        }
    }
}
