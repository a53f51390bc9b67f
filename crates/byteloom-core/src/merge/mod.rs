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

mod cuts;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use crate::error::{Error, Result};
use crate::spec::{Alphabet, TokenizerSpec};
use crate::token::{Rank, TokenId};
use crate::utf8::{floor_boundary, unit_len};

pub use cuts::SafeCuts;

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
    base: Base,
    cuts: Option<SafeCuts>,
}

/// The symbols that merging begins with.
#[derive(Clone, Debug)]
enum Base {
    Bytes {
        ids: Box<[TokenId; 256]>,
        /// What each pair of bytes becomes, so that the first look at a piece needs no hashing.
        pairs: Box<[u64]>,
    },
    Characters {
        ids: HashMap<char, TokenId>,
        unknown: Unknown,
    },
}

/// What a character without a token becomes.
#[derive(Clone, Debug)]
enum Unknown {
    Bytes(Box<[TokenId; 256]>),
    Token(TokenId),
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

/// What a symbol is that merging begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// A byte, in a vocabulary of bytes.
    Byte,
    /// A character that has a token.
    Character,
    /// A byte of a character that has none.
    Fallback,
    /// A character that has no token, and is lost.
    Unknown,
}

/// A merge about to happen, for who looks on.
pub(crate) struct Step<'a> {
    /// The place of the pair.
    pub(crate) at: usize,
    /// The symbols before the merge.
    pub(crate) symbols: &'a [TokenId],
    next: &'a [u64],
}

impl Step<'_> {
    /// The rank of the pair at `place` and what it becomes, where it has a merge.
    pub(crate) fn merge_at(&self, place: usize) -> Option<(Rank, TokenId)> {
        let ranked = self.next[place];
        (ranked != NONE).then_some(((ranked >> 32) as Rank, ranked as TokenId))
    }
}

impl Base {
    fn of(spec: &TokenizerSpec) -> Result<Self> {
        let unknown = match &spec.alphabet {
            Alphabet::Bytes => {
                return Ok(Self::Bytes { ids: Box::new(spec.vocab.byte_ids()?), pairs: Box::default() });
            }
            Alphabet::CharactersAndBytes(ids) => Unknown::Bytes(ids.clone()),
            Alphabet::CharactersOr(id) => Unknown::Token(*id),
        };
        let single = |bytes: &[u8]| {
            let mut chars = std::str::from_utf8(bytes).ok()?.chars();
            chars.next().filter(|_| chars.next().is_none())
        };
        let ids = spec.vocab.iter().filter_map(|(id, bytes)| Some((single(bytes)?, id))).collect();
        Ok(Self::Characters { ids, unknown })
    }
}

impl MergeTable {
    /// The merges of `spec`.
    ///
    /// # Errors
    /// [`Error::Vocabulary`] where a byte has no token, or a merge names a missing id, is given twice, or makes
    /// bytes that are no token.
    pub fn new(spec: &TokenizerSpec) -> Result<Self> {
        let vocab = &spec.vocab;
        let hasher = RandomState::default();
        let mut merges = HashTable::with_capacity(spec.merges.len());
        let mut joined = Vec::new();
        if spec.shared_ranks.as_ref().is_some_and(|ranks| ranks.len() != spec.merges.len()) {
            return Err(Error::Vocabulary("there must be as many ranks as merges".to_owned()));
        }
        for (place, &(left, right)) in spec.merges.iter().enumerate() {
            joined.clear();
            for id in [left, right] {
                let bytes = vocab.bytes(id).ok_or_else(|| {
                    Error::Vocabulary(format!("merge {place} names id {id}, which is no token"))
                })?;
                joined.extend_from_slice(bytes);
            }
            let id = vocab.id(&joined).ok_or_else(|| {
                Error::Vocabulary(format!(
                    "merge {place} of ids {left} and {right} makes \"{}\", which is no token",
                    joined.escape_ascii()
                ))
            })?;
            let rank = spec.shared_ranks.as_ref().map_or(place as Rank, |ranks| ranks[place]);
            let hash = |merge: &Merge| hasher.hash_one((merge.left, merge.right));
            let merge = Merge { left, right, ranked: u64::from(rank) << 32 | u64::from(id) };
            if merges.find(hash(&merge), |old: &Merge| (old.left, old.right) == (left, right)).is_some() {
                return Err(Error::Vocabulary(format!(
                    "merge {place} of ids {left} and {right} is given twice"
                )));
            }
            merges.insert_unique(hash(&merge), merge, hash);
        }
        let mut table = Self { merges, hasher, base: Base::of(spec)?, cuts: SafeCuts::of(spec) };
        if let Base::Bytes { ids, .. } = &table.base {
            let ids = ids.clone();
            let pairs = (0..1 << 16).map(|pair| table.look_up(ids[pair >> 8], ids[pair & 0xFF])).collect();
            table.base = Base::Bytes { ids, pairs };
        }
        Ok(table)
    }

    /// Where long pieces may be cut and their parts merged apart; `None` where that is not known to be exact.
    #[inline]
    pub fn cuts(&self) -> Option<&SafeCuts> {
        self.cuts.as_ref()
    }

    /// The id of a byte, where a byte is a symbol.
    #[inline]
    pub fn byte_id(&self, byte: u8) -> Option<TokenId> {
        match &self.base {
            Base::Bytes { ids, .. } => Some(ids[byte as usize]),
            Base::Characters { .. } => None,
        }
    }

    #[inline]
    fn look_up(&self, left: TokenId, right: TokenId) -> u64 {
        let hash = self.hasher.hash_one((left, right));
        self.merges
            .find(hash, |merge| merge.left == left && merge.right == right)
            .map_or(NONE, |merge| merge.ranked)
    }

    /// Appends the ids of `piece` to `ids`. `length_of` gives the length of a token in bytes.
    pub fn merge(
        &self,
        piece: &[u8],
        length_of: impl Fn(TokenId) -> usize,
        scratch: &mut MergeScratch,
        ids: &mut Vec<TokenId>,
    ) {
        // A lost character has no length of its own, and windows go by lengths.
        let measurable = !matches!(self.base, Base::Characters { unknown: Unknown::Token(_), .. });
        if piece.len() <= SCAN_LIMIT {
            self.merge_by_scan(piece, scratch, ids);
        } else if piece.len() <= WINDOW || !measurable {
            self.merge_by_heap(piece, scratch, ids);
        } else {
            self.merge_by_windows(piece, WINDOW, length_of, scratch, ids);
        }
    }

    /// The symbols that `piece` begins with: the id, the length in bytes and the kind of each.
    #[inline]
    pub(crate) fn for_each_symbol(&self, piece: &[u8], mut visit: impl FnMut(TokenId, usize, SymbolKind)) {
        match &self.base {
            Base::Bytes { ids, .. } => {
                for &byte in piece {
                    visit(ids[byte as usize], 1, SymbolKind::Byte);
                }
            }
            Base::Characters { ids, unknown } => {
                let mut at = 0;
                while at < piece.len() {
                    let len = unit_len(&piece[at..]);
                    let unit = &piece[at..at + len];
                    let known = std::str::from_utf8(unit).ok().and_then(|c| ids.get(&c.chars().next()?));
                    match (known, unknown) {
                        (Some(&id), _) => visit(id, len, SymbolKind::Character),
                        (None, Unknown::Token(id)) => visit(*id, len, SymbolKind::Unknown),
                        (None, Unknown::Bytes(bytes)) => {
                            for &byte in unit {
                                visit(bytes[byte as usize], 1, SymbolKind::Fallback);
                            }
                        }
                    }
                    at += len;
                }
            }
        }
    }

    /// Puts the symbols of `piece` into the buffers, and what each neighbouring pair becomes.
    fn start(&self, piece: &[u8], scratch: &mut MergeScratch) {
        let MergeScratch { symbols, next, .. } = scratch;
        symbols.clear();
        next.clear();
        match &self.base {
            Base::Bytes { ids, pairs } => {
                symbols.extend(piece.iter().map(|&byte| ids[byte as usize]));
                next.extend(piece.windows(2).map(|pair| pairs[(pair[0] as usize) << 8 | pair[1] as usize]));
            }
            Base::Characters { .. } => {
                self.for_each_symbol(piece, |id, _, _| symbols.push(id));
                next.extend(symbols.windows(2).map(|pair| self.look_up(pair[0], pair[1])));
            }
        }
        if !symbols.is_empty() {
            next.push(NONE);
        }
    }

    fn merge_by_scan(&self, piece: &[u8], scratch: &mut MergeScratch, ids: &mut Vec<TokenId>) {
        self.merge_observed(piece, scratch, ids, |_| ());
    }

    /// [`Self::merge`] by scanning, however long the piece; `observe` sees each merge before it happens.
    pub(crate) fn merge_observed(
        &self,
        piece: &[u8],
        scratch: &mut MergeScratch,
        ids: &mut Vec<TokenId>,
        mut observe: impl FnMut(&Step<'_>),
    ) {
        self.start(piece, scratch);
        let MergeScratch { symbols, next, .. } = scratch;
        loop {
            let mut best = NONE;
            let mut at = 0;
            for (index, &ranked) in next.iter().enumerate() {
                // Merges of one rank may make different tokens: only the rank decides, then the place.
                if ranked >> 32 < best >> 32 {
                    (best, at) = (ranked, index);
                }
            }
            if best == NONE {
                break;
            }
            observe(&Step { at, symbols, next });
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
        let mut end = floor_boundary(piece, window);
        self.merge_by_heap(&piece[..end], scratch, &mut tokens);
        let mut following = Vec::new();
        while end < piece.len() {
            // Keep the tokens up to `seam`; the rest of this window is what the next must agree with.
            let mut seam = start;
            let mut kept = 0;
            while kept + 1 < tokens.len() && seam < start + (end - start) / 4 * 3 {
                seam += length_of(tokens[kept]);
                kept += 1;
            }
            let next_end = floor_boundary(piece, seam.saturating_add(window));
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
                end = floor_boundary(piece, start.saturating_add(window));
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
    use crate::pretokenize::PreTokenizer;
    use crate::spec::SpecialPosition;
    use crate::vocab::Vocabulary;

    fn table(vocab: &Vocabulary, merges: &[(TokenId, TokenId)]) -> Result<MergeTable> {
        let none = PreTokenizer::new("none")?;
        let mut spec = TokenizerSpec::from_merges(&[], none, &[], SpecialPosition::Last)?;
        (spec.vocab, spec.merges) = (vocab.clone(), merges.to_vec());
        MergeTable::new(&spec)
    }

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
            let table = table(&vocab, &merges).unwrap();
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
        let table = table(&vocab, &[(97, 97), (256, 256)]).unwrap();
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
        assert!(table(&vocab, &[(97, 98)]).unwrap_err().to_string().contains("no token"));
        assert!(table(&vocab, &[(97, 300)]).is_err());
        let pieces: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).chain([b"ab".to_vec()]).collect();
        let vocab = Vocabulary::new((0..).zip(&pieces)).unwrap();
        assert!(table(&vocab, &[(97, 98), (97, 98)]).is_err());
    }
}
