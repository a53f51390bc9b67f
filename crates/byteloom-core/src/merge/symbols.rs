//! The numbers by which merging goes: symbols.
//!
//! Base symbols come first, bytes by their values. Those that merges make follow in the order of their ranks, so that
//! comparing two of them compares ranks and one number says both what a pair becomes and how early.
//!
//! That takes a rank of its own for each symbol. Where several merges make one token, only one of them ever happens:
//! what merges inside a span does not depend on what stands around it, so the bytes of a token are always joined in
//! one way. If the merges of each token stand together in the list, it does not matter which. Where they do not, or
//! where merges share ranks, the values of the pairs are numbers of merges, whose ranks stand in a list.

use std::collections::HashMap;

use super::NOTHING;
use super::pairs::{NONE, PairTable, Symbol};
use crate::error::{Error, Result};
use crate::spec::TokenizerSpec;
use crate::token::{Rank, TokenId};

/// Symbols and the merges between them.
#[derive(Clone, Debug)]
pub(super) struct Symbols {
    /// What pairs become: symbols, or numbers of merges where `order` says so.
    pub(super) pairs: PairTable,
    /// The token of each symbol.
    pub(super) ids: Vec<TokenId>,
    /// From this symbol on, ids are in a row.
    row: Symbol,
    /// How many there are before those that merges make.
    pub(super) base: usize,
    pub(super) order: Order,
}

/// How values of pairs are ranked.
#[derive(Clone, Debug)]
pub(super) enum Order {
    /// Symbols by rank.
    Symbols {
        /// The parts of each symbol that is made, by its first merge in the list.
        parts: Vec<(Symbol, Symbol)>,
        /// The ranks of these merges where they are not 0, 1, 2….
        ranks: Option<Vec<Rank>>,
        /// The other merges, with their ranks.
        others: HashMap<(Symbol, Symbol), Rank>,
    },
    /// By merge: its rank in the high half, the symbol it makes in the low half.
    Merges(Vec<u64>),
}

/// A merge with the bytes it joins looked up.
struct Joined {
    parts: (TokenId, TokenId),
    made: TokenId,
}

impl Symbols {
    /// The symbols of `spec`, of which `base` are there from the start; `late` gets a symbol if it has none.
    pub(super) fn new(spec: &TokenizerSpec, base: Vec<TokenId>, late: Option<TokenId>) -> Result<Self> {
        if spec.shared_ranks.as_ref().is_some_and(|ranks| ranks.len() != spec.merges.len()) {
            return Err(Error::Vocabulary("there must be as many ranks as merges".to_owned()));
        }
        let most = spec.vocab.len() + 256 + spec.merges.len() + 1;
        if most >= NONE as usize {
            return Err(Error::Vocabulary(format!(
                "{} tokens and {} merges are too many; together they may be {NONE} at most",
                spec.vocab.len(),
                spec.merges.len()
            )));
        }
        let joined = join(spec)?;
        let mut ids = base;
        let base = ids.len();
        let end =
            ids.iter().chain(&late).max().map_or(0, |&id| id as usize + 1).max(spec.vocab.id_end() as usize);
        let mut symbols = vec![NONE; end];
        for (symbol, &id) in (0..).zip(&ids) {
            symbols[id as usize] = symbol;
        }
        let (mut last, mut together) = (NONE, spec.shared_ranks.is_none());
        for merge in &joined {
            let symbol = &mut symbols[merge.made as usize];
            if *symbol == NONE {
                *symbol = ids.len() as Symbol;
                ids.push(merge.made);
            } else if *symbol != last {
                together = false;
            }
            last = *symbol;
        }
        if let Some(id) = late
            && symbols[id as usize] == NONE
        {
            symbols[id as usize] = ids.len() as Symbol;
            ids.push(id);
        }
        // A merge of something that is no symbol never happens, nor does one that makes a base symbol.
        let symbol = |id: TokenId| symbols[id as usize];
        let happens = |merge: &Joined| {
            let (left, right) = merge.parts;
            symbol(left) != NONE && symbol(right) != NONE && symbol(merge.made) as usize >= base
        };
        let mut pairs = Vec::with_capacity(joined.len());
        let mut places = Vec::with_capacity(joined.len());
        for (place, merge) in (0..).zip(&joined) {
            if happens(merge) {
                let (left, right) = merge.parts;
                pairs.push((symbol(left), symbol(right), symbol(merge.made)));
                places.push(place);
            }
        }
        let rank = |place: u32| spec.shared_ranks.as_ref().map_or(place, |ranks| ranks[place as usize]);
        let order = if together {
            by_symbol(&pairs, &places, ids.len() - base, base)
        } else {
            let ranked = (pairs.iter().zip(&places))
                .map(|(&(_, _, made), &place)| u64::from(rank(place)) << 32 | u64::from(made));
            let ranked = ranked.collect();
            for (number, pair) in (0..).zip(&mut pairs) {
                pair.2 = number;
            }
            Order::Merges(ranked)
        };
        let pairs = PairTable::new(&pairs).map_err(|index| {
            let place = places[index];
            let (left, right) = spec.merges[place as usize];
            Error::Vocabulary(format!("merge {place} of ids {left} and {right} is given twice"))
        })?;
        let in_a_row = ids[base..].windows(2).all(|two| two[0].checked_add(1) == Some(two[1]));
        Ok(Self { pairs, row: if in_a_row { base as Symbol } else { NONE }, ids, base, order })
    }

    /// The value of each pair of the first 256 symbols that has one.
    pub(super) fn for_each_pair_of_bytes(&self, mut visit: impl FnMut(u8, u8, u32)) {
        for left in 0..=255 {
            for right in 0..=255 {
                let value = self.pairs.get(left.into(), right.into());
                if value != NONE {
                    visit(left, right, value);
                }
            }
        }
    }

    /// The token of a symbol. Merges mostly make ids in a row, and then nothing far away is read.
    #[inline]
    pub(super) fn id(&self, symbol: Symbol) -> TokenId {
        let read = symbol.min(self.row);
        self.ids[read as usize] + (symbol - read)
    }

    /// What two symbols become: a rank in the high half, of use to compare only, and the symbol in the low half.
    #[inline]
    pub(super) fn ranked(&self, left: Symbol, right: Symbol) -> u64 {
        self.expand(self.pairs.get(left, right))
    }

    #[inline]
    pub(super) fn expand(&self, value: u32) -> u64 {
        match &self.order {
            _ if value == NONE => NOTHING,
            Order::Symbols { .. } => u64::from(value) << 32 | u64::from(value),
            Order::Merges(ranked) => ranked[value as usize],
        }
    }

    /// The rank of the merge of two symbols, as the spec counts.
    pub(super) fn rank(&self, left: Symbol, right: Symbol) -> Rank {
        let value = self.pairs.get(left, right);
        match &self.order {
            _ if value == NONE => Rank::MAX,
            Order::Merges(ranked) => (ranked[value as usize] >> 32) as Rank,
            Order::Symbols { ranks, others, .. } => {
                let made = value as usize - self.base;
                let first = ranks.as_ref().map_or(made as Rank, |ranks| ranks[made]);
                if others.is_empty() { first } else { others.get(&(left, right)).copied().unwrap_or(first) }
            }
        }
    }
}

fn by_symbol(pairs: &[(Symbol, Symbol, Symbol)], places: &[u32], made: usize, base: usize) -> Order {
    let mut parts = vec![(NONE, NONE); made];
    let mut ranks = vec![0; made];
    let mut others = HashMap::new();
    for (&(left, right, symbol), &place) in pairs.iter().zip(places) {
        let made = symbol as usize - base;
        if parts[made].0 == NONE {
            parts[made] = (left, right);
            ranks[made] = place;
        } else {
            others.insert((left, right), place);
        }
    }
    let plain = (0..).zip(&ranks).all(|(place, &rank)| place == rank);
    Order::Symbols { parts, ranks: (!plain).then_some(ranks), others }
}

/// The token that each merge makes.
fn join(spec: &TokenizerSpec) -> Result<Vec<Joined>> {
    let vocab = &spec.vocab;
    let mut joined = Vec::with_capacity(spec.merges.len());
    let mut buffer = Vec::new();
    // Tokens mostly stand in the order of their merges: then no bytes are hashed.
    let mut next: TokenId = 0;
    for (place, &(left, right)) in spec.merges.iter().enumerate() {
        let part = |id: TokenId| {
            vocab
                .bytes(id)
                .ok_or_else(|| Error::Vocabulary(format!("merge {place} names id {id}, which is no token")))
        };
        let (head, tail) = (part(left)?, part(right)?);
        let expected = vocab.bytes(next).and_then(|bytes| bytes.strip_prefix(head));
        let made = if expected == Some(tail) {
            next
        } else {
            buffer.clear();
            buffer.extend_from_slice(head);
            buffer.extend_from_slice(tail);
            vocab.id(&buffer).ok_or_else(|| {
                Error::Vocabulary(format!(
                    "merge {place} of ids {left} and {right} makes \"{}\", which is no token",
                    buffer.escape_ascii()
                ))
            })?
        };
        next = made.wrapping_add(1);
        joined.push(Joined { parts: (left, right), made });
    }
    Ok(joined)
}
