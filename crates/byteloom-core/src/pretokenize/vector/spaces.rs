//! White space, which several families treat alike.

use super::masks::Masks;

/// The first bytes of the white-space characters of `run` that are the last before something else: `\s+(?!\S)` leaves
/// them to it. `run` is white space of the block, all of it or all but newlines.
#[inline(always)]
pub(super) fn last_of_run(run: u64, masks: &Masks, next: &Masks) -> u64 {
    let behind = |mask: u64, next: u64, bytes: u32| mask >> bytes | next << (64 - bytes);
    let space = |bytes| behind(masks.space, next.space, bytes);
    if masks.inner & masks.space == 0 && (next.inner & next.space & 1 == 0) {
        return run & !space(1);
    }
    // Characters of two and three bytes among them; there is no white space of four.
    let inner = |bytes| behind(masks.inner, next.inner, bytes);
    let one = !inner(1) & !space(1);
    let two = inner(1) & !inner(2) & !space(2);
    let three = inner(1) & inner(2) & !space(3);
    run & !masks.inner & (one | two | three)
}

/// The bytes of `fill` from each byte of `seeds`, which are some of them, to the end of the stretch it is in.
#[inline(always)]
pub(super) fn flood(fill: u64, seeds: u64) -> u64 {
    // The carry of the addition runs up each stretch; a seed that it passes stays set, and is put back.
    (fill.wrapping_add(seeds) ^ fill | seeds) & fill
}

/// `mask`, single bytes, spread over the whole characters that begin there.
#[inline(always)]
pub(super) fn whole_characters(mut mask: u64, inner: u64) -> u64 {
    mask |= mask << 1 & inner;
    mask |= mask << 1 & inner;
    mask | mask << 1 & inner
}
