//! In the place of the vectors of AVX2, where there are none.

use super::emit::emit_plainly;
use super::{Found, HotTier};
use crate::token::TokenId;

pub(super) fn available() -> bool {
    false
}

pub(super) fn look_up(tier: &HotTier, text: &[u8], start: u32, ends: &[u32], found: &mut Found) {
    tier.look_up_plainly(text, start, ends, found);
}

pub(super) fn emit(first: &[TokenId], second: &[TokenId], ids: &mut [TokenId], at: usize) -> usize {
    emit_plainly(first, second, ids, at)
}

pub(super) fn take_known(
    tier: &HotTier,
    text: &[u8],
    ends: &[u32],
    number: usize,
    ids: &mut [TokenId],
    count: usize,
) -> (usize, usize) {
    tier.take_known(text, ends, number, ids, count)
}

pub(super) fn hash_of(_: &HotTier, _: u128) -> u32 {
    0
}
