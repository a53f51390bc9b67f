//! The classes of characters beyond ASCII: each is read, looked up, and all of its bytes painted.

use super::Kernel;
use super::masks::{BLOCK_BYTES, Classes, Letters, Masks};
use crate::pretokenize::unicode::{LETTER, LOWER, OF_TWO, PY_WORD, UPPER, flags};
use crate::utf8::scalar;

/// A character that reaches into the next block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Straddler {
    /// Its bytes there.
    bytes: u64,
    flags: u8,
}

/// The first bytes of characters that are in the block as a whole.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Common {
    /// Letters without case, of three bytes.
    pub(super) caseless: u64,
    /// Neither letters nor numbers nor white space, of three bytes.
    pub(super) plain: u64,
    /// Letters of two bytes.
    pub(super) two: u64,
}

/// Fewer bytes beyond ASCII in a block are read one character after the other.
const MANY: u32 = 12;

/// Paints the blocks of `masks`, the first of which begins at `base` in `text`.
#[inline(always)]
pub(super) fn paint<C: Classes, K: Kernel>(
    kernel: K,
    text: &[u8],
    base: usize,
    masks: &mut [Masks],
    straddler: &mut Straddler,
) {
    for (block, masks) in masks.iter_mut().enumerate() {
        if masks.inner != 0 {
            paint_block::<C, K>(kernel, text, base + block * BLOCK_BYTES, masks, straddler);
        }
    }
}

#[inline(always)]
fn paint_block<C: Classes, K: Kernel>(
    kernel: K,
    text: &[u8],
    base: usize,
    masks: &mut Masks,
    straddler: &mut Straddler,
) {
    let Straddler { bytes, flags: found } = std::mem::take(straddler);
    let mut left = masks.inner & !bytes;
    let mut inner = bytes;
    C::paint(masks, bytes, found);
    if left.count_ones() >= MANY
        && let Some(block) = text.get(base..).and_then(|rest| rest.first_chunk())
    {
        let mut common = kernel.common(block);
        // What may reach into the next block is left to the loop below.
        common.caseless &= !0 >> 2;
        common.plain &= !0 >> 2;
        common.two &= !0 >> 2;
        let behind = common.caseless << 1 | common.caseless << 2;
        C::paint(masks, common.caseless | behind, LETTER | UPPER | LOWER | PY_WORD);
        let behind = behind | common.plain << 1 | common.plain << 2;
        inner |= behind;
        left &= !(common.caseless | common.plain | behind);
        // Case is not known of these.
        if C::ASCII.letters as u8 != Letters::Cased as u8 {
            let behind = common.two << 1;
            C::paint(masks, common.two | behind, LETTER | PY_WORD);
            inner |= behind;
            left &= !(common.two | behind);
        }
    }
    while left != 0 {
        let place = left.trailing_zeros();
        let (found, length) = flags_at(text, base + place as usize);
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

/// The flags of the character at a place, and its length; the commonest ones are told by few instructions.
#[inline(always)]
fn flags_at(text: &[u8], at: usize) -> (u8, usize) {
    let Some(bytes) = text.get(at..).and_then(|rest| rest.first_chunk()) else {
        return flags_of_any(text, at);
    };
    let word = u32::from_le_bytes(*bytes);
    let tail = |byte: u32| word >> (8 * byte) & 0x3F;
    // The lead byte and those that continue it, and no form longer than it need be.
    if word & 0xC0E0 == 0x80C0 && word & 0x1E != 0 {
        return (OF_TWO[((word & 0x1F) << 6 | tail(1)) as usize], 2);
    }
    let scalar = (word & 0x0F) << 12 | tail(1) << 6 | tail(2);
    if word & 0x00C0_C0F0 == 0x0080_80E0 && scalar >= 0x800 && scalar & 0xF800 != 0xD800 {
        return (flags(scalar), 3);
    }
    flags_of_any(text, at)
}

#[inline(never)]
fn flags_of_any(text: &[u8], at: usize) -> (u8, usize) {
    let (scalar, length) = scalar(text, at);
    (flags(scalar), length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_characters_are_told_as_all_are() {
        let edges = [0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF];
        for lead in 0x80..=0xFF {
            for (second, third) in (0..=0xFF).flat_map(|second| edges.map(|third| (second, third))) {
                for fourth in [b'a', 0x80] {
                    let bytes = [b'a', lead, second, third, fourth];
                    assert_eq!(flags_at(&bytes, 1), flags_of_any(&bytes, 1), "{bytes:X?}");
                    assert_eq!(flags_at(&bytes[..3], 1), flags_of_any(&bytes[..3], 1), "{:X?}", &bytes[..3]);
                }
            }
        }
    }
}
