//! Merging long text in linear time: the longest token first, where it fits what stands before it.
//!
//! A sequence of tokens is the right one exactly when every two neighbours are right together (see the head of this
//! module), and there is one such sequence for each text. So it may be looked for from the left: take the longest token
//! that is right beside the one before; where none is, go back and take a shorter one. What was taken up to some
//! place is the one right sequence of that prefix; a place from which there is no way on is never tried again, which
//! bounds the work by the length of the text. (The `bpe` crate of GitHub's rust-gems encodes in this way.)
//!
//! Two tokens are right together where no merge crosses their boundary. Going back in time from both, the later of
//! the two last merges at the boundary is undone, again and again; the symbols that face each other then are all that
//! ever do, and a pair of them crosses if its rank comes before the merge undone last. That needs symbols whose parts
//! rank below them. The few others are tried out.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::BuildHasher;

use foldhash::fast::RandomState;

use super::long::Heap;
use super::pairs::{NONE, PairTable, Symbol};
use super::symbols::{Order, Symbols};
use super::{Base, MergeTable};

/// At most one token in so many may have parts that rank above it, and it may be this long.
const ODD_SHARE: usize = 64;
const ODD_LENGTH: usize = 64;
/// So many tokens may fail to fit in any piece.
const LEAST_PATIENCE: usize = 8;
const EMPTY: u64 = u64::MAX;
/// Nodes of the trie have 24 bits.
const MOST_NODES: usize = 1 << 24;

/// What greedy merging needs of a vocabulary.
#[derive(Debug)]
pub(super) struct Greedy {
    tokens: Vec<Token>,
    trie: Trie,
}

#[derive(Clone, Copy, Debug)]
struct Token {
    left: Symbol,
    right: Symbol,
    /// The longest token that this one begins with.
    shorter: Symbol,
    len: u32,
    /// Whether some part ranks above what it is a part of.
    odd: bool,
}

/// Tokens by their bytes.
#[derive(Debug)]
struct Trie {
    /// The node of each two bytes; 0 where no token begins with them.
    first: Box<[u32]>,
    /// A node and a byte in the high half, the next node in the low half.
    slots: Box<[u64]>,
    shift: u32,
    factor: u64,
    /// The token that ends in each node.
    tokens: Vec<Symbol>,
}

impl Trie {
    fn new(nodes: usize) -> Self {
        let size = (2 * nodes).next_power_of_two().max(64);
        Self {
            first: vec![0; 1 << 16].into_boxed_slice(),
            slots: vec![EMPTY; size].into_boxed_slice(),
            shift: 64 - size.ilog2(),
            factor: RandomState::default().hash_one(size) | 1,
            tokens: vec![NONE],
        }
    }

    #[inline]
    fn find(&self, node: u32, byte: u8) -> (usize, u32) {
        let key = node << 8 | u32::from(byte);
        let mask = self.slots.len() - 1;
        let mut at = (u64::from(key).wrapping_mul(self.factor) >> self.shift) as usize;
        loop {
            let slot = self.slots[at];
            if slot == EMPTY {
                return (at, 0);
            }
            if (slot >> 32) as u32 == key {
                return (at, slot as u32);
            }
            at = (at + 1) & mask;
        }
    }

    /// Adds a token of two bytes or more; gives the longest one before it that it begins with.
    fn insert(&mut self, bytes: &[u8], symbol: Symbol) -> Symbol {
        let mut longest = Symbol::from(bytes[0]);
        let mut node = self.first[usize::from(bytes[0]) << 8 | usize::from(bytes[1])];
        if node == 0 {
            node = self.tokens.len() as u32;
            self.tokens.push(NONE);
            self.first[usize::from(bytes[0]) << 8 | usize::from(bytes[1])] = node;
        }
        for &byte in &bytes[2..] {
            if self.tokens[node as usize] != NONE {
                longest = self.tokens[node as usize];
            }
            let (at, next) = self.find(node, byte);
            if next == 0 {
                let next = self.tokens.len() as u32;
                self.tokens.push(NONE);
                self.slots[at] = u64::from(node << 8 | u32::from(byte)) << 32 | u64::from(next);
                node = next;
            } else {
                node = next;
            }
        }
        self.tokens[node as usize] = symbol;
        longest
    }

    /// The longest token that `text` begins with, and how many bytes of it decided that; the end of the text is one
    /// of them where it did.
    #[inline]
    fn longest(&self, text: &[u8]) -> (Symbol, usize) {
        let mut longest = Symbol::from(text[0]);
        let &[first, second, ref rest @ ..] = text else { return (longest, 2) };
        let mut node = self.first[usize::from(first) << 8 | usize::from(second)];
        let mut seen = 2;
        while node != 0 {
            let token = self.tokens[node as usize];
            if token != NONE {
                longest = token;
            }
            seen += 1;
            let Some(&byte) = rest.get(seen - 3) else { break };
            node = self.find(node, byte).1;
        }
        (longest, seen)
    }
}

impl Greedy {
    /// `None` where greedy merging is not known to be exact, or would be slow.
    pub(super) fn new(table: &MergeTable, length_of: &dyn Fn(Symbol) -> usize) -> Option<Self> {
        let Symbols { pairs, base, ids, order: Order::Symbols { parts, others, .. }, .. } = &table.symbols
        else {
            return None;
        };
        if !matches!(table.base, Base::Bytes { .. }) {
            return None;
        }
        let base = *base;
        let mut tokens: Vec<Token> = (0..ids.len() as Symbol)
            .map(|symbol| {
                let (left, right) =
                    parts.get((symbol as usize).wrapping_sub(base)).copied().unwrap_or((NONE, NONE));
                Token { left, right, shorter: NONE, len: length_of(symbol) as u32, odd: false }
            })
            .collect();
        let mut more: HashMap<Symbol, Vec<(Symbol, Symbol)>> = HashMap::new();
        for &(left, right) in others.keys() {
            more.entry(pairs.get(left, right)).or_default().push((left, right));
        }
        // Parts before what they are parts of.
        let mut made: Vec<Symbol> = (base as Symbol..ids.len() as Symbol).collect();
        made.sort_by_key(|&symbol| tokens[symbol as usize].len);
        let mut bytes: Vec<u8> = (0..=255).collect();
        let mut spans: Vec<Option<(usize, usize)>> = vec![None; ids.len()];
        for (at, span) in spans.iter_mut().take(256).enumerate() {
            *span = Some((at, at + 1));
        }
        let (mut odd, mut heap, mut alone) = (0, Heap::default(), Vec::new());
        let mut reached = Vec::with_capacity(made.len());
        for symbol in made {
            let first = (tokens[symbol as usize].left, tokens[symbol as usize].right);
            let ways = std::iter::once(first).chain(more.remove(&symbol).unwrap_or_default());
            for (left, right) in ways {
                let span = |part: Symbol| spans.get(part as usize).copied().flatten();
                let (Some(first), Some(second)) = (span(left), span(right)) else { continue };
                let start = bytes.len();
                bytes.extend_from_within(first.0..first.1);
                bytes.extend_from_within(second.0..second.1);
                let parts_odd = tokens[left as usize].odd || tokens[right as usize].odd;
                let is_reached = if parts_odd {
                    alone.clear();
                    table.by_heap(&bytes[start..], &mut heap, &mut alone);
                    alone == [symbol]
                } else {
                    face(&tokens, pairs, left, right)
                };
                if !is_reached {
                    // Another merge crosses the boundary first: this one never happens.
                    bytes.truncate(start);
                    continue;
                }
                spans[symbol as usize] = Some((start, bytes.len()));
                let token = &mut tokens[symbol as usize];
                (token.left, token.right) = (left, right);
                token.odd = parts_odd || left > symbol || right > symbol;
                odd += usize::from(token.odd);
                if token.odd && bytes.len() - start > ODD_LENGTH {
                    return None;
                }
                reached.push(symbol);
                break;
            }
        }
        if odd * ODD_SHARE > reached.len() || bytes.len() >= MOST_NODES {
            return None;
        }
        // As many nodes as bytes would do for certain; most tokens share their beginnings.
        let mut trie = Trie::new(count_nodes(&bytes, &reached, &spans));
        for symbol in reached {
            let Some((start, end)) = spans[symbol as usize] else { continue };
            tokens[symbol as usize].shorter = trie.insert(&bytes[start..end], symbol);
        }
        Some(Self { tokens, trie })
    }

    /// Appends the symbols of `piece`, or gives up where too many tokens do not fit: then scanning is faster. `dead`
    /// is a buffer.
    pub(super) fn merge(
        &self,
        table: &MergeTable,
        piece: &[u8],
        dead: &mut Vec<u64>,
        heap: &mut Heap,
        made: &mut Vec<Symbol>,
        patience: usize,
    ) -> bool {
        dead.clear();
        dead.resize(piece.len() / 64 + 1, 0);
        let first = made.len();
        let (mut at, mut failed) = (0, 0);
        // What was found at the place before; in a run of one token it is found again.
        let (mut from, mut longest, mut seen) = (0, NONE, 0);
        let mut fitting = (NONE, NONE);
        while at < piece.len() {
            let repeats = made[first..].iter().rev().take(2).eq([&longest; 2])
                && piece.get(at..at + seen).is_some_and(|next| piece.get(from..from + seen) == Some(next));
            if !repeats {
                (longest, seen) = self.trie.longest(&piece[at..]);
            }
            from = at;
            let mut token = longest;
            loop {
                let end = at + self.tokens[token as usize].len as usize;
                if dead[end / 64] >> (end % 64) & 1 == 0
                    && made[first..].last().is_none_or(|&last| {
                        (last, token) == fitting || self.together(table, last, token, heap, piece, at)
                    })
                {
                    fitting = (made[first..].last().copied().unwrap_or(NONE), token);
                    made.push(token);
                    at = end;
                    break;
                }
                failed += 1;
                if failed > LEAST_PATIENCE.max(patience) + at / 64 * patience {
                    return false;
                }
                token = self.tokens[token as usize].shorter;
                while token == NONE {
                    // No way on from here.
                    dead[at / 64] |= 1 << (at % 64);
                    let Some(last) = made.pop() else { return false };
                    at -= self.tokens[last as usize].len as usize;
                    token = self.tokens[last as usize].shorter;
                }
            }
        }
        true
    }

    /// Whether `left`, which ends at `at`, and `right` are right together.
    #[inline]
    fn together(
        &self,
        table: &MergeTable,
        left: Symbol,
        right: Symbol,
        heap: &mut Heap,
        piece: &[u8],
        at: usize,
    ) -> bool {
        let [before, after] = [left, right].map(|symbol| &self.tokens[symbol as usize]);
        if before.odd || after.odd {
            let mut both = Vec::new();
            table.by_heap(&piece[at - before.len as usize..at + after.len as usize], heap, &mut both);
            return both == [left, right];
        }
        let pairs = &table.symbols.pairs;
        pairs.get(left, right) == NONE && face(&self.tokens, pairs, left, right)
    }
}

/// Whether two tokens come to stand beside each other: no merge crosses their boundary before both are made.
#[inline]
fn face(tokens: &[Token], pairs: &PairTable, mut left: Symbol, mut right: Symbol) -> bool {
    loop {
        // The later of the two is undone. Of equals, the left one was made first.
        let limit = match left.cmp(&right) {
            Ordering::Greater => {
                let parts = &tokens[left as usize];
                if parts.right == NONE {
                    return true;
                }
                let limit = left;
                left = parts.right;
                limit
            }
            Ordering::Less | Ordering::Equal => {
                let parts = &tokens[right as usize];
                if parts.left == NONE {
                    return true;
                }
                let limit = right + 1;
                right = parts.left;
                limit
            }
        };
        if pairs.get(left, right) < limit {
            return false;
        }
    }
}

/// The number of different beginnings of three bytes or more, at most.
fn count_nodes(bytes: &[u8], reached: &[Symbol], spans: &[Option<(usize, usize)>]) -> usize {
    let all = reached.iter().filter_map(|&symbol| spans[symbol as usize]);
    all.map(|(start, end)| end - start - 2).sum::<usize>().min(bytes.len())
}
