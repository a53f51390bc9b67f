//! The pre-tokens that a thread met last, in a table small enough for its L2 cache.
//!
//! Nine of ten pre-tokens of a text are found here. It stands before the [`Cache`](crate::cache::Cache), which all
//! threads share; whatever it forgets is still there. A slot is 16 bytes: 12 of the pre-token, padded with zeros, and
//! a word of its length, its first id, and whether there is a second, which is kept beside the table. So one
//! comparison decides, two slots never hold the same pre-token, and the answer is exact.

use crate::prefetch::prefetch;
use crate::token::TokenId;

/// The longest pre-token that is kept, in bytes.
pub(crate) const MAX_LENGTH: usize = 12;
/// 512 KiB with 32 K slots was best where L2 has 1 MiB; with 512 KiB of L2, 16 K slots are.
const SLOT_BITS: u32 = 15;
const SLOTS: usize = 1 << SLOT_BITS;
/// The word's parts: 4 bits of length, one for a second id, 27 of the first id.
const LENGTH_SHIFT: u32 = 60;
const SECOND: u64 = 1 << 59;
const ID_SHIFT: u32 = 32;
/// Larger ids are not kept.
const ID_LIMIT: TokenId = 1 << 27;
/// What a key has of the second word of a slot.
const KEY_PART: u64 = 0xF000_0000_FFFF_FFFF;

/// No second id, in the high half of a value.
pub(crate) const NO_SECOND: u64 = 0xFFFF_FFFF << 32;

/// What a pre-token of each length keeps of 16 bytes, and what marks its length. Those that are too long get a length
/// that no slot has.
static MASKS: [(u64, u64, u64); 17] = {
    let mut masks = [(0, 0, 15 << LENGTH_SHIFT); 17];
    let mut length = 1;
    while length <= MAX_LENGTH {
        let low = if length >= 8 { u64::MAX } else { (1 << (8 * length)) - 1 };
        let high = if length <= 8 { 0 } else { (1 << (8 * (length - 8))) - 1 };
        masks[length] = (low, high, (length as u64) << LENGTH_SHIFT);
        length += 1;
    }
    masks
};

#[derive(Clone, Copy, Debug, Default, bytemuck::Zeroable)]
#[repr(C, align(16))]
struct Slot {
    low: u64,
    high: u64,
}

/// The table of one tokenizer in one thread.
#[derive(Debug)]
pub(crate) struct HotTier {
    slots: Box<[Slot]>,
    seconds: Box<[TokenId]>,
}

/// A pre-token as it is looked up here.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HotKey {
    low: u64,
    high: u64,
    place: u32,
}

impl HotKey {
    /// The key of the first `length` of 16 bytes.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "part of the hottest loop")]
    pub(crate) fn new(bytes: [u8; 16], length: usize) -> Self {
        let whole = u128::from_le_bytes(bytes);
        let (low_mask, high_mask, mark) = MASKS[length.min(16)];
        let low = whole as u64 & low_mask;
        let high = (whole >> 64) as u64 & high_mask | mark;
        let product = u128::from(low ^ 0x9E37_79B9_7F4A_7C15) * u128::from(high ^ 0xD1B5_4A32_D192_ED03);
        let hash = (product >> 64) as u64 ^ product as u64;
        Self { low, high, place: (hash >> (64 - SLOT_BITS)) as u32 }
    }

    /// Where it belongs.
    #[inline]
    pub(crate) fn place(self) -> u32 {
        self.place
    }
}

impl HotTier {
    pub(crate) fn new() -> Self {
        Self {
            slots: bytemuck::zeroed_slice_box(SLOTS),
            seconds: bytemuck::zeroed_slice_box(SLOTS),
        }
    }

    /// Whether the slot of `key` holds it, whether a second id belongs to what it holds, and that one's first id.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "part of the hottest loop")]
    pub(crate) fn look_up(&self, key: HotKey) -> (bool, bool, TokenId) {
        let slot = self.slots[key.place as usize & (SLOTS - 1)];
        let found = slot.low == key.low && (slot.high ^ key.high) & KEY_PART == 0;
        (found, slot.high & SECOND != 0, (slot.high >> ID_SHIFT) as TokenId & (ID_LIMIT - 1))
    }

    /// Asks the processor to bring the slot of `key` near.
    #[inline]
    pub(crate) fn prefetch(&self, key: HotKey) {
        prefetch(&self.slots[key.place as usize & (SLOTS - 1)]);
    }

    /// The second id of the slot at `place`.
    #[inline]
    pub(crate) fn second(&self, place: u32) -> TokenId {
        self.seconds[place as usize & (SLOTS - 1)]
    }

    /// Keeps one or two ids for a pre-token; more are not kept, nor is one that is too long.
    #[inline]
    pub(crate) fn insert(&mut self, key: HotKey, length: usize, ids: &[TokenId]) {
        let (first, second) = match *ids {
            [first] => (first, None),
            [first, second] => (first, Some(second)),
            _ => return,
        };
        if length > MAX_LENGTH || first >= ID_LIMIT {
            return;
        }
        let place = key.place as usize & (SLOTS - 1);
        let mut high = key.high | u64::from(first) << ID_SHIFT;
        if let Some(second) = second {
            high |= SECOND;
            self.seconds[place] = second;
        }
        self.slots[place] = Slot { low: key.low, high };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(piece: &[u8]) -> HotKey {
        let mut bytes = [b'x'; 16];
        let length = piece.len().min(16);
        bytes[..length].copy_from_slice(&piece[..length]);
        HotKey::new(bytes, piece.len())
    }

    #[test]
    fn keeps_exactly_what_was_put() {
        let mut tier = HotTier::new();
        let pieces: Vec<Vec<u8>> = (0..60_000u32)
            .map(|number| format!("w{}", u64::from(number) * 7919 % 1_000_003).into_bytes())
            .chain([b"a".to_vec(), b"a\0".to_vec(), b"a\0\0".to_vec(), b"\0".to_vec(), vec![0; 12]])
            .collect();
        let ids = |at: usize| if at % 3 == 0 { vec![at as TokenId, 9] } else { vec![at as TokenId] };
        for (at, piece) in pieces.iter().enumerate() {
            tier.insert(key(piece), piece.len(), &ids(at));
        }
        let mut hits = 0;
        for (at, piece) in pieces.iter().enumerate() {
            let (found, two, first) = tier.look_up(key(piece));
            if found {
                hits += 1;
                assert_eq!((first, two), (at as TokenId, at % 3 == 0));
                if two {
                    assert_eq!(tier.second(key(piece).place()), 9);
                }
            }
        }
        assert!(hits > SLOTS / 2, "{hits}");
    }

    #[test]
    fn what_does_not_fit_is_not_kept() {
        let mut tier = HotTier::new();
        tier.insert(key(b"thirteen byte"), 13, &[1]);
        tier.insert(key(b"three"), 5, &[1, 2, 3]);
        tier.insert(key(b"large"), 5, &[ID_LIMIT]);
        tier.insert(key(b"none"), 4, &[]);
        for piece in [&b"thirteen byte"[..], b"three", b"large", b"none"] {
            assert!(!tier.look_up(key(piece)).0);
        }
        tier.insert(key(b"largest"), 7, &[ID_LIMIT - 1]);
        assert_eq!(tier.look_up(key(b"largest")), (true, false, ID_LIMIT - 1));
    }
}
