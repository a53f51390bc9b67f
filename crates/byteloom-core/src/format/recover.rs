//! Merges from a vocabulary that has priorities but no merges.
//!
//! Where any two neighbours may merge whose joined text is a token, the last merge of each token, encoded by itself,
//! is the only way in which that token is ever made: whatever merges inside a span is independent of what stands
//! around it, since the order inside is the order of the whole, restricted to the span. So one pair a token suffices.
//! That holds with equal priorities too, because the place decides between them, and restriction keeps that order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::token::Rank;
use crate::utf8::unit_len;

/// Up to this many symbols a token is merged by scanning.
const SCAN_LIMIT: usize = 64;

/// Finds last merges; keeps its buffers between tokens.
#[derive(Default)]
pub(super) struct LastMerge {
    /// Where each part begins, and then the end of the token.
    starts: Vec<usize>,
    /// The rank of each part joined with its right neighbour.
    ranks: Vec<Option<Rank>>,
    /// The part before and the part after each one.
    links: Vec<(usize, usize)>,
    heap: BinaryHeap<Reverse<(Rank, usize)>>,
}

/// What a token is made of before anything has merged.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Symbols {
    Bytes,
    Characters,
}

impl LastMerge {
    /// The two parts whose merge makes all of `token`; `None` for a single symbol, and where merging ends elsewhere.
    ///
    /// `rank` is that of a joined text, lower first, the leftmost among equals; `None` where it is no token.
    pub(super) fn find<'t>(
        &mut self,
        token: &'t [u8],
        symbols: Symbols,
        rank: impl Fn(&[u8]) -> Option<Rank>,
    ) -> Option<(&'t [u8], &'t [u8])> {
        self.starts.clear();
        let mut at = 0;
        while at < token.len() {
            self.starts.push(at);
            at += if symbols == Symbols::Bytes { 1 } else { unit_len(&token[at..]) };
        }
        self.starts.push(token.len());
        self.ranks.clear();
        self.ranks.extend(self.starts.windows(3).map(|ends| rank(&token[ends[0]..ends[2]])));
        let cut = if self.starts.len() <= SCAN_LIMIT {
            self.by_scan(token, rank)
        } else {
            self.by_heap(token, rank)
        };
        cut.map(|cut| token.split_at(cut))
    }

    fn by_scan(&mut self, token: &[u8], rank: impl Fn(&[u8]) -> Option<Rank>) -> Option<usize> {
        let Self { starts, ranks, .. } = self;
        while starts.len() > 3 {
            let ranked = ranks.iter().enumerate().filter_map(|(at, rank)| Some(((*rank)?, at)));
            let (_, at) = ranked.min()?;
            starts.remove(at + 1);
            ranks.remove(at);
            let rank_at = |at: usize| rank(&token[starts[at]..starts[at + 2]]);
            if at + 2 < starts.len() {
                ranks[at] = rank_at(at);
            }
            if at > 0 {
                ranks[at - 1] = rank_at(at - 1);
            }
        }
        (starts.len() == 3).then(|| starts[1])
    }

    /// The same in n log n, for tokens whose length a file chooses.
    fn by_heap(&mut self, token: &[u8], rank: impl Fn(&[u8]) -> Option<Rank>) -> Option<usize> {
        let Self { starts, ranks, links, heap } = self;
        // Parts go by the place of their first symbol; `end` is none.
        let end = starts.len() - 1;
        ranks.resize(end, None);
        links.clear();
        links.extend((0..end).map(|at| (at.wrapping_sub(1), at + 1)));
        heap.clear();
        heap.extend(ranks.iter().enumerate().filter_map(|(at, rank)| Some(Reverse(((*rank)?, at)))));
        let mut parts = end;
        while parts > 2 {
            let Reverse((popped, at)) = heap.pop()?;
            // An entry is out of date once its pair is gone; a swallowed part has no pair.
            if ranks[at] != Some(popped) {
                continue;
            }
            let (left, swallowed) = links[at];
            let right = links[swallowed].1;
            parts -= 1;
            ranks[swallowed] = None;
            links[at].1 = right;
            if right < end {
                links[right].0 = at;
            }
            let mut renew = |at: usize, links: &[(usize, usize)]| {
                let right = links[at].1;
                ranks[at] = None;
                if right < end {
                    ranks[at] = rank(&token[starts[at]..starts[links[right].1]]);
                }
                heap.extend(ranks[at].map(|rank| Reverse((rank, at))));
            };
            renew(at, links);
            if left < end {
                renew(left, links);
            }
        }
        Some(starts[links[0].1])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn scan_and_heap_agree(
            tokens in prop::collection::vec(("[ab]{2,6}", 0..5u32), 0..20),
            token in "[ab]{1,40}",
        ) {
            let rank = |joined: &[u8]| tokens.iter().find(|(t, _)| t.as_bytes() == joined).map(|&(_, rank)| rank);
            let token = token.as_bytes();
            let mut scan = LastMerge::default();
            let found = scan.find(token, Symbols::Bytes, rank).map(|(left, _)| left.len());
            let mut heap = LastMerge::default();
            heap.starts.extend(0..=token.len());
            heap.ranks.extend(token.windows(2).map(rank));
            let by_heap = if token.len() < 2 { None } else { heap.by_heap(token, rank) };
            prop_assert_eq!(found, by_heap);
        }
    }

    #[test]
    fn long_tokens_take_no_quadratic_time() {
        let token = vec![b'a'; 1 << 16];
        let rank = |joined: &[u8]| joined.len().is_power_of_two().then(|| joined.len().trailing_zeros());
        let (left, right) = LastMerge::default().find(&token, Symbols::Bytes, rank).unwrap();
        assert_eq!((left.len(), right.len()), (1 << 15, 1 << 15));
    }
}
