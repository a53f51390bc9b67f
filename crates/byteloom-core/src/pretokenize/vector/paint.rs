//! The classes of characters beyond ASCII: each is read, looked up, and all of its bytes painted.

use super::masks::{BLOCK_BYTES, Classes, Masks};
use crate::pretokenize::unicode::flags;
use crate::utf8::scalar;

/// A character that reaches into the next block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Straddler {
    /// Its bytes there.
    bytes: u64,
    flags: u8,
}

/// Paints the blocks of `masks`, the first of which begins at `base` in `text`.
pub(super) fn paint<C: Classes>(text: &[u8], base: usize, masks: &mut [Masks], straddler: &mut Straddler) {
    for (block, masks) in masks.iter_mut().enumerate() {
        if masks.inner != 0 {
            paint_block::<C>(text, base + block * BLOCK_BYTES, masks, straddler);
        }
    }
}

fn paint_block<C: Classes>(text: &[u8], base: usize, masks: &mut Masks, straddler: &mut Straddler) {
    let Straddler { bytes, flags: found } = std::mem::take(straddler);
    let mut left = masks.inner & !bytes;
    let mut inner = bytes;
    C::paint(masks, bytes, found);
    while left != 0 {
        let place = left.trailing_zeros();
        let (scalar, length) = scalar(text, base + place as usize);
        let found = flags(scalar);
        let ones = (1_u64 << length) - 1;
        let bytes = ones << place;
        C::paint(masks, bytes, found);
        inner |= bytes & bytes << 1;
        left &= !bytes;
        if place as usize + length > BLOCK_BYTES {
            *straddler = Straddler { bytes: ones >> (BLOCK_BYTES as u32 - place), flags: found };
        }
    }
    masks.inner = inner;
}
