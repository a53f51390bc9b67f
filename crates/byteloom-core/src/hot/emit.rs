//! Ids out: of each pre-token one or two, side by side.

use super::{Found, HotTier, NO_SECOND};
use crate::token::TokenId;

/// Room that is needed behind the ids.
pub(crate) const EMIT_ROOM: usize = 8;

impl HotTier {
    /// Writes the ids of the pre-tokens numbered `from` up to `to` into `ids` from `at` on, and returns where they end.
    /// There must be room for two a pre-token and for [`EMIT_ROOM`] more.
    #[inline]
    pub(crate) fn emit(
        &self,
        found: &Found,
        from: usize,
        to: usize,
        ids: &mut [TokenId],
        at: usize,
    ) -> usize {
        if self.by_aes {
            super::avx2::emit(&found.first[from..to], &found.second[from..to], ids, at)
        } else {
            emit_plainly(&found.first[from..to], &found.second[from..to], ids, at)
        }
    }
}

#[inline]
pub(super) fn emit_plainly(
    first: &[TokenId],
    second: &[TokenId],
    ids: &mut [TokenId],
    mut at: usize,
) -> usize {
    for (&first, &second) in first.iter().zip(second) {
        if let Some(pair) = ids.get_mut(at..at + 2) {
            pair.copy_from_slice(&[first, second]);
        }
        at += 1 + usize::from(second != NO_SECOND);
    }
    at
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn all_ways_write_the_same(pairs in prop::collection::vec((0..9_u32, prop::option::of(0..9_u32)), 0..99), at in 0..9_usize) {
            let first: Vec<_> = pairs.iter().map(|&(first, _)| first).collect();
            let second: Vec<_> = pairs.iter().map(|&(_, second)| second.unwrap_or(NO_SECOND)).collect();
            let right: Vec<_> = pairs.iter().flat_map(|&(first, second)| [Some(first), second]).flatten().collect();
            let room = at + 2 * pairs.len() + EMIT_ROOM;
            let mut ids = vec![77; room];
            let end = emit_plainly(&first, &second, &mut ids, at);
            prop_assert_eq!(&ids[at..end], &right);
            if HotTier::new().by_aes {
                let mut ids = vec![77; room];
                let end = super::super::avx2::emit(&first, &second, &mut ids, at);
                prop_assert_eq!(&ids[at..end], &right);
                prop_assert_eq!(&ids[..at], &vec![77; at]);
            }
        }
    }
}
