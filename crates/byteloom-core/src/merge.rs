//! Byte-pair merging of one pre-token.
//!
//! The rule: of all neighbouring pairs that have a merge, join the one of lowest rank, the leftmost among equals;
//! repeat until none is left. Three ways to the same result, by length:
//!
//! - short pieces scan for the minimum each time, which is quadratic but touches little memory;
//! - longer pieces keep the pairs in a heap, n log n;
//! - very long pieces are encoded in overlapping windows that are joined where they agree, which bounds memory.
//!
//! Why windows may be joined: whether a merge crosses a boundary depends only on the two tokens that end up on its
//! sides, since the order of merges inside a span is the order of the whole, restricted to it. So a sequence of
//! tokens is the right one exactly when every two neighbours are right together. Where two overlapping windows
//! hold the same token at the same place, its left neighbour is right beside it in the one, its right neighbour in
//! the other, and the joined sequence is right throughout.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use crate::error::{Error, Result};
use crate::token::{Rank, TokenId};
use crate::vocab::Vocabulary;

/// Up to this many bytes a piece is merged by scanning.
const SCAN_LIMIT: usize = 64;
/// Above this many bytes a piece is merged in windows of this size.
const WINDOW: usize = 1 << 16;
/// No merge.
const NONE: u64 = u64::MAX;

#[derive(Clone, Copy, Debug)]
struct Merge {
    left: TokenId,
    right: TokenId,
    /// Rank in the high half, id of the result in the low half: comparing these compares ranks.
    ranked: u64,
}

/// All merges of a tokenizer, looked up by pair.
#[derive(Clone, Debug)]
pub struct MergeTable {
    merges: HashTable<Merge>,
    hasher: RandomState,
    byte_ids: [TokenId; 256],
    /// What each pair of bytes becomes, so that the first look at a piece needs no hashing.
    byte_pairs: Box<[u64]>,
}

/// Buffers that a merge needs, kept between calls. Their size is bounded by the window.
#[derive(Debug, Default)]
pub struct MergeScratch {
    /// The symbols of the piece.
    symbols: Vec<TokenId>,
    /// What each symbol and its right neighbour become, as in [`Merge::ranked`].
    next: Vec<u64>,
    links: Vec<(u32, u32)>,
    heap: BinaryHeap<Reverse<(Rank, u32)>>,
}

impl MergeTable {
    /// The table of `merges` over `vocab`.
    ///
    /// # Errors
    /// [`Error::Vocabulary`] where a byte has no token, or a merge names a missing id, is given twice, or makes
    /// bytes that are no token.
    pub fn new(vocab: &Vocabulary, merges: &[(TokenId, TokenId)]) -> Result<Self> {
        let byte_ids = vocab.byte_ids()?;
        let hasher = RandomState::default();
        let mut table = HashTable::with_capacity(merges.len());
        let mut joined = Vec::new();
        for (rank, &(left, right)) in merges.iter().enumerate() {
            joined.clear();
            for id in [left, right] {
                let bytes = vocab.bytes(id).ok_or_else(|| {
                    Error::Vocabulary(format!("merge {rank} names id {id}, which is no token"))
                })?;
                joined.extend_from_slice(bytes);
            }
            let id = vocab.id(&joined).ok_or_else(|| {
                Error::Vocabulary(format!(
                    "merge {rank} of ids {left} and {right} makes \"{}\", which is no token",
                    joined.escape_ascii()
                ))
            })?;
            let hash = |merge: &Merge| hasher.hash_one((merge.left, merge.right));
            let merge = Merge { left, right, ranked: (rank as u64) << 32 | u64::from(id) };
            if table.find(hash(&merge), |old: &Merge| (old.left, old.right) == (left, right)).is_some() {
                return Err(Error::Vocabulary(format!(
                    "merge {rank} of ids {left} and {right} is given twice"
                )));
            }
            table.insert_unique(hash(&merge), merge, hash);
        }
        let mut merge_table = Self { merges: table, hasher, byte_ids, byte_pairs: Box::default() };
        merge_table.byte_pairs = (0..1 << 16)
            .map(|pair| merge_table.look_up(byte_ids[pair >> 8], byte_ids[pair & 0xFF]))
            .collect();
        Ok(merge_table)
    }

    /// The id of a byte.
    #[inline]
    pub fn byte_id(&self, byte: u8) -> TokenId {
        self.byte_ids[byte as usize]
    }

    #[inline]
    fn look_up(&self, left: TokenId, right: TokenId) -> u64 {
        let hash = self.hasher.hash_one((left, right));
        self.merges
            .find(hash, |merge| merge.left == left && merge.right == right)
            .map_or(NONE, |merge| merge.ranked)
    }

    #[inline]
    fn look_up_bytes(&self, left: u8, right: u8) -> u64 {
        self.byte_pairs[(left as usize) << 8 | right as usize]
    }

    /// Appends the ids of `piece` to `ids`. `length_of` gives the length of a token in bytes.
    pub fn merge(
        &self,
        piece: &[u8],
        length_of: impl Fn(TokenId) -> usize,
        scratch: &mut MergeScratch,
        ids: &mut Vec<TokenId>,
    ) {
        match piece {
            [] => {}
            [byte] => ids.push(self.byte_id(*byte)),
            _ if piece.len() <= SCAN_LIMIT => self.merge_by_scan(piece, scratch, ids),
            _ if piece.len() <= WINDOW => self.merge_by_heap(piece, scratch, ids),
            _ => self.merge_by_windows(piece, WINDOW, length_of, scratch, ids),
        }
    }

    fn start(&self, piece: &[u8], scratch: &mut MergeScratch) {
        scratch.symbols.clear();
        scratch.symbols.extend(piece.iter().map(|&byte| self.byte_id(byte)));
        scratch.next.clear();
        scratch.next.extend(piece.windows(2).map(|pair| self.look_up_bytes(pair[0], pair[1])));
        scratch.next.push(NONE);
    }

    fn merge_by_scan(&self, piece: &[u8], scratch: &mut MergeScratch, ids: &mut Vec<TokenId>) {
        self.start(piece, scratch);
        let MergeScratch { symbols, next, .. } = scratch;
        loop {
            let mut best = NONE;
            let mut at = 0;
            for (index, &ranked) in next.iter().enumerate() {
                if ranked < best {
                    (best, at) = (ranked, index);
                }
            }
            if best == NONE {
                break;
            }
            symbols[at] = best as TokenId;
            symbols.remove(at + 1);
            next.remove(at + 1);
            next[at] = match symbols.get(at + 1) {
                Some(&right) => self.look_up(symbols[at], right),
                None => NONE,
            };
            if at > 0 {
                next[at - 1] = self.look_up(symbols[at - 1], symbols[at]);
            }
        }
        ids.extend_from_slice(symbols);
    }

    /// `piece` must be shorter than 2^32 bytes.
    fn merge_by_heap(&self, piece: &[u8], scratch: &mut MergeScratch, ids: &mut Vec<TokenId>) {
        self.start(piece, scratch);
        let MergeScratch { symbols, next, links, heap } = scratch;
        let end = symbols.len() as u32;
        links.clear();
        links.extend((0..end).map(|at| (at.wrapping_sub(1), at + 1)));
        heap.clear();
        let push = |heap: &mut BinaryHeap<_>, ranked: u64, at: u32| {
            if ranked != NONE {
                heap.push(Reverse(((ranked >> 32) as Rank, at)));
            }
        };
        for (at, &ranked) in (0..).zip(next.iter()) {
            push(heap, ranked, at);
        }
        while let Some(Reverse((rank, at))) = heap.pop() {
            let ranked = next[at as usize];
            // An entry is out of date once its pair is gone; a swallowed symbol has no pair.
            if ranked == NONE || (ranked >> 32) as Rank != rank {
                continue;
            }
            let (left, swallowed) = links[at as usize];
            let right = links[swallowed as usize].1;
            symbols[at as usize] = ranked as TokenId;
            next[swallowed as usize] = NONE;
            links[at as usize].1 = right;
            next[at as usize] = NONE;
            if right < end {
                links[right as usize].0 = at;
                next[at as usize] = self.look_up(symbols[at as usize], symbols[right as usize]);
                push(heap, next[at as usize], at);
            }
            if left < end {
                next[left as usize] = self.look_up(symbols[left as usize], symbols[at as usize]);
                push(heap, next[left as usize], left);
            }
        }
        let mut at = 0;
        while at < end {
            ids.push(symbols[at as usize]);
            at = links[at as usize].1;
        }
    }

    /// See the head of this file. A window begins at a token boundary three quarters into the one before it.
    fn merge_by_windows(
        &self,
        piece: &[u8],
        window: usize,
        length_of: impl Fn(TokenId) -> usize,
        scratch: &mut MergeScratch,
        ids: &mut Vec<TokenId>,
    ) {
        let mut window = window;
        let mut start = 0;
        let mut tokens = Vec::new();
        self.merge_by_heap(&piece[..window.min(piece.len())], scratch, &mut tokens);
        let mut end = window.min(piece.len());
        let mut following = Vec::new();
        while end < piece.len() {
            // Keep the tokens up to `seam`; the rest of this window is what the next must agree with.
            let mut seam = start;
            let mut kept = 0;
            while kept + 1 < tokens.len() && seam < start + (end - start) / 4 * 3 {
                seam += length_of(tokens[kept]);
                kept += 1;
            }
            let next_end = seam.saturating_add(window).min(piece.len());
            following.clear();
            self.merge_by_heap(&piece[seam..next_end], scratch, &mut following);
            let agreement = first_agreement(&tokens[kept..], &following, &length_of).filter(|_| kept > 0);
            if let Some((old, new)) = agreement {
                tokens.truncate(kept + old);
                ids.append(&mut tokens);
                let skipped: usize = following[..new].iter().map(|&id| length_of(id)).sum();
                start = seam + skipped;
                tokens.extend_from_slice(&following[new..]);
                end = next_end;
            } else if window > u32::MAX as usize / 2 {
                // Two gigabytes without one common token: out of reach for any vocabulary we can think of. The
                // text stays whole; its ids at this seam are those of the window.
                ids.extend_from_slice(&tokens[..kept]);
                start = seam;
                std::mem::swap(&mut tokens, &mut following);
                end = next_end;
            } else {
                window *= 2;
                end = start.saturating_add(window).min(piece.len());
                tokens.clear();
                self.merge_by_heap(&piece[start..end], scratch, &mut tokens);
            }
        }
        ids.append(&mut tokens);
    }
}

/// The first place where two token sequences that begin at the same byte hold the same token: its index in each.
fn first_agreement(
    old: &[TokenId],
    new: &[TokenId],
    length_of: impl Fn(TokenId) -> usize,
) -> Option<(usize, usize)> {
    let (mut i, mut j) = (0, 0);
    let (mut old_at, mut new_at) = (0, 0);
    while i < old.len() && j < new.len() {
        if old_at == new_at && old[i] == new[j] {
            return Some((i, j));
        }
        if old_at <= new_at {
            old_at += length_of(old[i]);
            i += 1;
        } else {
            new_at += length_of(new[j]);
            j += 1;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The rule as it is stated, one merge at a time.
    fn naive(piece: &[u8], merges: &[(TokenId, TokenId)], vocab: &Vocabulary) -> Vec<TokenId> {
        let mut ids: Vec<TokenId> = piece.iter().map(|&byte| vocab.id(&[byte]).unwrap()).collect();
        loop {
            let ranked = |at: usize| merges.iter().position(|&pair| pair == (ids[at], ids[at + 1]));
            let best = (0..ids.len().saturating_sub(1)).filter_map(|at| Some((ranked(at)?, at))).min();
            let Some((_, at)) = best else { return ids };
            let joined = [vocab.bytes(ids[at]).unwrap(), vocab.bytes(ids[at + 1]).unwrap()].concat();
            ids[at] = vocab.id(&joined).unwrap();
            ids.remove(at + 1);
        }
    }

    /// A vocabulary over a small alphabet; `picks` choose the parts of each new token, `order` its rank.
    fn vocabulary(picks: &[(usize, usize, u32)]) -> (Vocabulary, Vec<(TokenId, TokenId)>) {
        let mut pieces: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).collect();
        let mut merges = Vec::new();
        for &(left, right, order) in picks {
            let choices: Vec<usize> = (97..100).chain(256..pieces.len()).collect();
            let (left, right) = (choices[left % choices.len()], choices[right % choices.len()]);
            let joined = [pieces[left].as_slice(), &pieces[right]].concat();
            if joined.len() <= 40 && !merges.iter().any(|&(_, pair)| pair == (left as u32, right as u32)) {
                if !pieces.contains(&joined) {
                    pieces.push(joined);
                }
                merges.push((order, (left as u32, right as u32)));
            }
        }
        merges.sort_by_key(|&(order, _)| order);
        let merges = merges.into_iter().map(|(_, pair)| pair).collect();
        (Vocabulary::new((0..).zip(&pieces)).unwrap(), merges)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1500))]
        #[test]
        fn every_path_follows_the_rule(
            picks in prop::collection::vec((0..50usize, 0..50usize, any::<u32>()), 0..25),
            ordered in any::<bool>(),
            piece in prop::collection::vec(97..100u8, 0..200),
            window in 2..40usize,
        ) {
            let picks: Vec<_> = (0..).zip(picks)
                .map(|(at, (left, right, order))| (left, right, if ordered { at } else { order }))
                .collect();
            let (vocab, merges) = vocabulary(&picks);
            let table = MergeTable::new(&vocab, &merges).unwrap();
            let expected = naive(&piece, &merges, &vocab);
            let length_of = |id| vocab.bytes(id).unwrap().len();
            let scratch = &mut MergeScratch::default();
            let (mut scan, mut heap, mut windows, mut chosen) = (vec![], vec![], vec![], vec![]);
            table.merge_by_scan(&piece, scratch, &mut scan);
            table.merge_by_heap(&piece, scratch, &mut heap);
            table.merge_by_windows(&piece, window, length_of, scratch, &mut windows);
            table.merge(&piece, length_of, scratch, &mut chosen);
            prop_assert_eq!(&scan, &expected);
            prop_assert_eq!(&heap, &expected);
            prop_assert_eq!(&windows, &expected);
            prop_assert_eq!(&chosen, &expected);
        }
    }

    #[test]
    fn long_runs_cross_many_windows() {
        let mut pieces: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).collect();
        pieces.extend([b"aa".to_vec(), b"aaaa".to_vec()]);
        let vocab = Vocabulary::new((0..).zip(&pieces)).unwrap();
        let table = MergeTable::new(&vocab, &[(97, 97), (256, 256)]).unwrap();
        let mut ids = Vec::new();
        let text = vec![b'a'; 3 * WINDOW + 3];
        table.merge(&text, |id| pieces[id as usize].len(), &mut MergeScratch::default(), &mut ids);
        let mut expected = vec![257; 3 * WINDOW / 4];
        expected.extend([256, 97]);
        assert_eq!(ids, expected);
    }

    #[test]
    fn faulty_merges_are_refused() {
        let vocab = Vocabulary::new((0..=255u8).map(|byte| (u32::from(byte), [byte]))).unwrap();
        assert!(MergeTable::new(&vocab, &[(97, 98)]).unwrap_err().to_string().contains("no token"));
        assert!(MergeTable::new(&vocab, &[(97, 300)]).is_err());
        let pieces: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).chain([b"ab".to_vec()]).collect();
        let vocab = Vocabulary::new((0..).zip(&pieces)).unwrap();
        assert!(MergeTable::new(&vocab, &[(97, 98), (97, 98)]).is_err());
    }
}
