//! The merges of a file while they are read.

use crate::token::TokenId;
use crate::vocab::Vocabulary;

/// No merge.
const NONE: u32 = u32::MAX;

/// Merges by their parts, none of them twice.
pub(super) struct MergeList<'v> {
    vocab: &'v Vocabulary,
    pairs: Vec<(TokenId, TokenId)>,
    /// The token that comes next where tokens stand in the order of their merges, as they mostly do: then no bytes
    /// are hashed.
    expected: TokenId,
    /// The last merge that makes each token, and for each merge the one before it that makes the same: as many as the
    /// token has places to cut, at most.
    last: Vec<u32>,
    before: Vec<u32>,
}

impl<'v> MergeList<'v> {
    pub(super) fn new(vocab: &'v Vocabulary) -> Self {
        Self {
            vocab,
            pairs: Vec::with_capacity(vocab.len()),
            expected: 0,
            last: vec![NONE; vocab.id_end() as usize],
            before: Vec::with_capacity(vocab.len()),
        }
    }

    /// Adds a pair, whose bytes together are `joined`; false where it is there already, `None` where no token has these
    /// bytes.
    #[inline]
    pub(super) fn push(&mut self, pair: (TokenId, TokenId), joined: &[u8]) -> Option<bool> {
        let made = if self.vocab.bytes(self.expected) == Some(joined) {
            self.expected
        } else {
            self.vocab.id(joined)?
        };
        self.expected = made + 1;
        let last = self.last.get_mut(made as usize)?;
        let mut same = *last;
        while same != NONE {
            if self.pairs[same as usize] == pair {
                return Some(false);
            }
            same = self.before[same as usize];
        }
        self.before.push(*last);
        *last = self.pairs.len() as u32;
        self.pairs.push(pair);
        Some(true)
    }

    pub(super) fn into_pairs(self) -> Vec<(TokenId, TokenId)> {
        self.pairs
    }
}
