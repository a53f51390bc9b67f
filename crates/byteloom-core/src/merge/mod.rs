//! Byte-pair merging of one pre-token.
//!
//! The rule: of all neighbouring pairs that have a merge, join the one of lowest rank, the leftmost among equals;
//! repeat until none is left. Several ways to the same result, by length:
//!
//! - short pieces scan for the minimum each time, in registers where the CPU allows ([`scan`]);
//! - longer ones are merged in overlapping windows that are joined where they agree ([`long`]); windows that must be
//!   long keep their pairs in a heap;
//! - once there was much long text, tokens are chosen from the left, in linear time ([`greedy`]).
//!
//! Why windows may be joined: whether a merge crosses a boundary depends only on the two tokens that end up on its
//! sides, since the order of merges inside a span is the order of the whole, restricted to it. So a sequence of
//! tokens is the right one exactly when every two neighbours are right together. Where two overlapping windows
//! hold the same token at the same place, its left neighbour is right beside it in the one, its right neighbour in
//! the other, and the joined sequence is right throughout.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod cuts;
mod ends;
mod greedy;
mod long;
mod pairs;
mod scan;
mod symbols;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use once_cell::race::OnceBox;

use crate::error::Result;
use crate::pretokenize::simd_path;
use crate::spec::{Alphabet, TokenizerSpec};
use crate::token::{Rank, TokenId};
use crate::utf8::unit_len;
pub use cuts::SafeCuts;
pub use ends::Ends;
use greedy::Greedy;
use long::{Heap, Windows};
use pairs::{NONE, Symbol};
use scan::{Keys, NEVER, Places};
use symbols::{Order, Symbols};

/// The windows of each way to merge long text.
const SCAN_WINDOWS: Windows = Windows { size: scan::LIMIT, share: 4 };
const HEAP_WINDOWS: Windows = Windows { size: 1 << 16, share: 4 };
const GREEDY_WINDOWS: Windows = Windows { size: 1 << 13, share: 16 };
/// So many tokens in 64 bytes may fail to fit before the text is left to scanning.
const PATIENCE: usize = 1;
/// After this many bytes of long pieces, greedy merging is prepared for: that takes about as long as scanning them did.
const WORTH_GREEDY: usize = 1_000_000;
/// So many windows at most are scanned before greedy merging is tried again.
const MOST_LEFT_OUT: u32 = 64;
/// A byte on the heap is as much work as so many that are scanned.
const HEAP_COST: usize = 8;
/// No merge, beside a rank and a symbol in one number.
const NOTHING: u64 = u64::MAX;

/// All merges of a tokenizer, looked up by pair.
#[derive(Clone, Debug)]
pub struct MergeTable {
    symbols: Symbols,
    base: Base,
    cuts: Option<SafeCuts>,
    path: Path,
    long: Arc<Long>,
}

/// What is made only when there was enough long text to be worth it.
#[derive(Debug, Default)]
struct Long {
    /// The bytes of long pieces until then.
    seen: AtomicUsize,
    // No lock: a process forked while another thread held it would wait for ever.
    greedy: OnceBox<Option<Greedy>>,
    /// In how many windows in a row greedy merging gave up, and how many it is not tried in now.
    given_up: AtomicU32,
    left_out: AtomicU32,
}

impl Long {
    /// Whether greedy merging is worth a try: the longer it has failed, the more seldom.
    fn tries_greedy(&self) -> bool {
        let left = self.left_out.load(Ordering::Relaxed);
        if left > 0 {
            self.left_out.store(left - 1, Ordering::Relaxed);
        }
        left == 0
    }

    fn note_greedy(&self, succeeded: bool) {
        let given_up = if succeeded { 0 } else { self.given_up.load(Ordering::Relaxed) + 1 };
        self.given_up.store(given_up.min(MOST_LEFT_OUT.ilog2()), Ordering::Relaxed);
        self.left_out.store((1 << given_up.min(MOST_LEFT_OUT.ilog2())) - 1, Ordering::Relaxed);
    }
}

/// The symbols that merging begins with.
#[derive(Clone, Debug)]
enum Base {
    /// Bytes, which are symbols by value, and the value of each pair of them: the first look at a piece needs no
    /// hashing.
    Bytes {
        pairs: Box<[u32]>,
    },
    Characters {
        symbols: HashMap<char, Symbol>,
        unknown: Unknown,
    },
}

/// What a character without a token becomes.
#[derive(Clone, Debug)]
enum Unknown {
    Bytes(Box<[Symbol; 256]>),
    Token(Symbol),
}

/// Buffers that a merge needs, kept between calls; see [`MergeScratch::give_up_room`].
#[derive(Debug, Default)]
pub struct MergeScratch {
    places: Places,
    heap: Heap,
    window: Vec<Symbol>,
    following: Vec<Symbol>,
    made: Vec<Symbol>,
    dead: Vec<u64>,
}

impl MergeScratch {
    /// Gives back the room that an uncommonly long piece took: more than `most` items.
    pub fn give_up_room(&mut self, most: usize) {
        let Self { heap, window, following, made, dead, .. } = self;
        for symbols in [window, following, made] {
            if symbols.capacity() > most {
                *symbols = Vec::new();
            }
        }
        if dead.capacity() > most {
            *dead = Vec::new();
        }
        if heap.room() > most {
            *heap = Heap::default();
        }
    }
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
    /// The ids before the merge.
    pub(crate) symbols: &'a [TokenId],
    next: &'a [(Rank, Symbol)],
    ids: &'a [TokenId],
}

impl Step<'_> {
    /// The rank of the pair at `place` and what it becomes, where it has a merge.
    pub(crate) fn merge_at(&self, place: usize) -> Option<(Rank, TokenId)> {
        let (rank, symbol) = self.next[place];
        (symbol != NONE).then(|| (rank, self.ids[symbol as usize]))
    }
}

/// How short pieces are merged.
#[derive(Clone, Copy, Debug)]
enum Path {
    #[cfg(target_arch = "x86_64")]
    Avx2(avx2::Avx2),
    Portable,
    /// By the rule as it is stated.
    Plain,
}

impl Path {
    /// The one that goes with the path of the pre-tokenizers, which the environment may force.
    fn chosen() -> Self {
        match simd_path() {
            "scalar" => Self::Plain,
            "portable" => Self::Portable,
            _ => Self::best(),
        }
    }

    fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = avx2::Avx2::detect() {
            return Self::Avx2(avx2);
        }
        Self::Portable
    }
}

impl MergeTable {
    /// The merges of `spec`.
    ///
    /// # Errors
    /// [`crate::Error::Vocabulary`] where a byte has no token, or a merge names a missing id, is given twice, or
    /// makes bytes that are no token.
    pub fn new(spec: &TokenizerSpec) -> Result<Self> {
        let (symbols, base) = match &spec.alphabet {
            Alphabet::Bytes => {
                let symbols = Symbols::new(spec, spec.vocab.byte_ids()?.to_vec(), None)?;
                let mut pairs = vec![NONE; 1 << 16].into_boxed_slice();
                symbols.for_each_pair_of_bytes(|left, right, value| {
                    pairs[usize::from(left) << 8 | usize::from(right)] = value;
                });
                (symbols, Base::Bytes { pairs })
            }
            Alphabet::CharactersAndBytes(bytes) => {
                let (characters, mut ids) = characters(spec);
                let first = ids.len() as Symbol;
                ids.extend_from_slice(&bytes[..]);
                let bytes = Box::new(std::array::from_fn(|byte| first + byte as Symbol));
                let base = Base::Characters { symbols: characters, unknown: Unknown::Bytes(bytes) };
                (Symbols::new(spec, ids, None)?, base)
            }
            Alphabet::CharactersOr(id) => {
                let (characters, ids) = characters(spec);
                let symbols = Symbols::new(spec, ids, Some(*id))?;
                let unknown =
                    symbols.ids.iter().position(|other| other == id).map_or(NONE, |at| at as Symbol);
                (symbols, Base::Characters { symbols: characters, unknown: Unknown::Token(unknown) })
            }
        };
        Ok(Self { symbols, base, cuts: SafeCuts::of(spec), path: Path::chosen(), long: Arc::default() })
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
            Base::Bytes { .. } => Some(self.symbols.ids[byte as usize]),
            Base::Characters { .. } => None,
        }
    }

    /// Appends the ids of `piece` to `ids`. `length_of` gives the length of a token in bytes.
    #[inline]
    pub fn merge(
        &self,
        piece: &[u8],
        length_of: impl Fn(TokenId) -> usize,
        scratch: &mut MergeScratch,
        ids: &mut Vec<TokenId>,
    ) {
        self.merge_by(self.path, piece, length_of, scratch, ids);
    }

    #[inline]
    fn merge_by(
        &self,
        path: Path,
        piece: &[u8],
        length_of: impl Fn(TokenId) -> usize,
        scratch: &mut MergeScratch,
        ids: &mut Vec<TokenId>,
    ) {
        let scans = matches!(self.symbols.order, Order::Symbols { .. }) && !matches!(path, Path::Plain);
        if piece.len() > scan::LIMIT {
            self.merge_long(scans.then_some(path), piece, &length_of, scratch, ids);
        } else if scans {
            let live = self.scan(path, piece, &mut scratch.places);
            let symbols = &scratch.places.0;
            ids.extend(Members(live).map(|at| self.symbols.id(symbols[at])));
        } else {
            self.merge_observed(piece, scratch, ids, |_| ());
        }
    }

    #[inline(never)]
    fn merge_long(
        &self,
        scan: Option<Path>,
        piece: &[u8],
        length_of: &dyn Fn(TokenId) -> usize,
        scratch: &mut MergeScratch,
        ids: &mut Vec<TokenId>,
    ) {
        let mut made = std::mem::take(&mut scratch.made);
        made.clear();
        let length_of = |symbol: Symbol| length_of(self.symbols.id(symbol));
        // A lost character has no length of its own, and windows go by lengths.
        let measurable = !matches!(self.base, Base::Characters { unknown: Unknown::Token(_), .. });
        let by_heap = |part: &[u8], scratch: &mut MergeScratch, made: &mut Vec<Symbol>| {
            self.by_heap(part, &mut scratch.heap, made);
        };
        let greedy = scan.and_then(|_| self.greedy(piece.len(), &length_of));
        match (scan, greedy) {
            _ if !measurable => by_heap(piece, scratch, &mut made),
            (Some(path), Some(greedy)) => {
                let merge = |part: &[u8], scratch: &mut MergeScratch, made: &mut Vec<Symbol>| {
                    let before = made.len();
                    if self.long.tries_greedy() {
                        let fits =
                            greedy.merge(self, part, &mut scratch.dead, &mut scratch.heap, made, PATIENCE);
                        self.long.note_greedy(fits);
                        if fits {
                            return;
                        }
                        made.truncate(before);
                    }
                    self.by_scans(path, part, length_of, scratch, made);
                };
                GREEDY_WINDOWS.merge(piece, length_of, scratch, &mut made, merge);
            }
            (Some(path), None) => self.by_scans(path, piece, length_of, scratch, &mut made),
            (None, _) => HEAP_WINDOWS.merge(piece, length_of, scratch, &mut made, by_heap),
        }
        ids.extend(made.iter().map(|&symbol| self.symbols.id(symbol)));
        scratch.made = made;
    }

    /// Greedy merging, once there was enough text for it.
    fn greedy(&self, more: usize, length_of: &dyn Fn(Symbol) -> usize) -> Option<&Greedy> {
        if let Some(greedy) = self.long.greedy.get() {
            return greedy.as_ref();
        }
        let seen = self.long.seen.fetch_add(more, Ordering::Relaxed);
        if seen.saturating_add(more) < WORTH_GREEDY {
            return None;
        }
        self.long.greedy.get_or_init(|| Box::new(Greedy::new(self, length_of))).as_ref()
    }

    /// Appends the symbols of a long piece, scanned in short windows.
    fn by_scans(
        &self,
        path: Path,
        piece: &[u8],
        length_of: impl Fn(Symbol) -> usize,
        scratch: &mut MergeScratch,
        made: &mut Vec<Symbol>,
    ) {
        SCAN_WINDOWS.merge(piece, length_of, scratch, made, |part, scratch, made| {
            if part.len() > scan::LIMIT {
                self.long.seen.fetch_add(HEAP_COST * part.len(), Ordering::Relaxed);
                return self.by_heap(part, &mut scratch.heap, made);
            }
            let live = self.scan(path, part, &mut scratch.places);
            made.extend(Members(live).map(|at| scratch.places.0[at]));
        });
    }

    /// Merges a short piece; gives the places whose symbols are left.
    #[inline]
    fn scan(&self, path: Path, piece: &[u8], places: &mut Places) -> u64 {
        let mut keys: Keys = [[NEVER; 8]; scan::LIMIT / 8];
        let flat = keys.as_flattened_mut();
        let count = match &self.base {
            Base::Bytes { pairs } => {
                for (at, &byte) in piece.iter().enumerate() {
                    places.0[at] = Symbol::from(byte);
                }
                for (at, pair) in piece.windows(2).enumerate() {
                    flat[at] = scan::key(pairs[usize::from(pair[0]) << 8 | usize::from(pair[1])], at as u32);
                }
                piece.len()
            }
            Base::Characters { .. } => {
                let mut count = 0;
                self.for_each_base(piece, |symbol, _, _| {
                    places.0[count] = symbol;
                    count += 1;
                });
                for (at, pair) in places.0[..count].windows(2).enumerate() {
                    flat[at] = scan::key(self.symbols.pairs.get(pair[0], pair[1]), at as u32);
                }
                count
            }
        };
        let live = if count == scan::LIMIT { !0 } else { (1 << count) - 1 };
        match path {
            #[cfg(target_arch = "x86_64")]
            Path::Avx2(avx2) => avx2.merge(&self.symbols.pairs, &keys, places, live, count),
            _ => scan::merge_portable(&self.symbols.pairs, &mut keys, places, live, count),
        }
    }

    /// The symbols that `piece` begins with: the id, the length in bytes and the kind of each.
    pub(crate) fn for_each_symbol(&self, piece: &[u8], mut visit: impl FnMut(TokenId, usize, SymbolKind)) {
        self.for_each_base(piece, |symbol, len, kind| visit(self.symbols.id(symbol), len, kind));
    }

    #[inline]
    fn for_each_base(&self, piece: &[u8], mut visit: impl FnMut(Symbol, usize, SymbolKind)) {
        match &self.base {
            Base::Bytes { .. } => {
                for &byte in piece {
                    visit(byte.into(), 1, SymbolKind::Byte);
                }
            }
            Base::Characters { symbols, unknown } => {
                let mut at = 0;
                while at < piece.len() {
                    let len = unit_len(&piece[at..]);
                    let unit = &piece[at..at + len];
                    let known = std::str::from_utf8(unit).ok().and_then(|c| symbols.get(&c.chars().next()?));
                    match (known, unknown) {
                        (Some(&symbol), _) => visit(symbol, len, SymbolKind::Character),
                        (None, Unknown::Token(symbol)) => visit(*symbol, len, SymbolKind::Unknown),
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

    /// [`Self::merge`] by the rule as it is stated, however long the piece; `observe` sees each merge before it
    /// happens.
    pub(crate) fn merge_observed(
        &self,
        piece: &[u8],
        _scratch: &mut MergeScratch,
        ids: &mut Vec<TokenId>,
        mut observe: impl FnMut(&Step<'_>),
    ) {
        let Self { symbols: Symbols { ids: id_of, .. }, .. } = self;
        let mut symbols = Vec::with_capacity(piece.len());
        self.for_each_base(piece, |symbol, _, _| symbols.push(symbol));
        let mut tokens: Vec<TokenId> = symbols.iter().map(|&symbol| id_of[symbol as usize]).collect();
        let pair = |left: Symbol, right: Symbol| match self.symbols.ranked(left, right) {
            NOTHING => (Rank::MAX, NONE),
            ranked => (self.symbols.rank(left, right), ranked as Symbol),
        };
        let mut next: Vec<(Rank, Symbol)> = symbols.windows(2).map(|two| pair(two[0], two[1])).collect();
        next.resize(symbols.len(), (Rank::MAX, NONE));
        // Merges of one rank may make different tokens: only the rank decides, then the place.
        while let Some((at, &(_, made))) = next
            .iter()
            .enumerate()
            .filter(|(_, (_, made))| *made != NONE)
            .min_by_key(|(at, (rank, _))| (*rank, *at))
        {
            observe(&Step { at, symbols: &tokens, next: &next, ids: id_of });
            symbols[at] = made;
            symbols.remove(at + 1);
            tokens[at] = id_of[made as usize];
            tokens.remove(at + 1);
            next.remove(at + 1);
            next[at] = symbols.get(at + 1).map_or((Rank::MAX, NONE), |&right| pair(made, right));
            if at > 0 {
                next[at - 1] = pair(symbols[at - 1], made);
            }
        }
        ids.append(&mut tokens);
    }
}

/// The single characters of a vocabulary, and the ids of the symbols that they are.
fn characters(spec: &TokenizerSpec) -> (HashMap<char, Symbol>, Vec<TokenId>) {
    let single = |bytes: &[u8]| {
        let mut chars = std::str::from_utf8(bytes).ok()?.chars();
        chars.next().filter(|_| chars.next().is_none())
    };
    let known = || spec.vocab.iter().filter_map(|(id, bytes)| Some((single(bytes)?, id)));
    (
        known().zip(0..).map(|((character, _), symbol)| (character, symbol)).collect(),
        known().map(|(_, id)| id).collect(),
    )
}

/// The members of a set of places, ascending.
struct Members(u64);

impl Iterator for Members {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        let first = self.0.trailing_zeros() as usize;
        self.0 &= self.0.wrapping_sub(1);
        (first < 64).then_some(first)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = self.0.count_ones() as usize;
        (count, Some(count))
    }
}
