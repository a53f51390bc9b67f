//! The pre-tokens that a thread met last, in a table small enough for its L2 cache.
//!
//! Nine of ten pre-tokens of a text are found here. It stands before the [`Cache`](crate::cache::Cache), which all
//! threads share; whatever it forgets is still there. A slot is 16 bytes: 12 of the pre-token, padded with zeros, and
//! a word of its length, its first id, and whether there is a second, which is kept beside the table. So one
//! comparison decides, two slots never hold the same pre-token, and the answer is exact.

#[cfg_attr(not(target_arch = "x86_64"), path = "no_avx2.rs")]
mod avx2;
mod emit;
mod few;

use crate::cache::Key;
use crate::token::TokenId;
pub(crate) use emit::EMIT_ROOM;

/// The longest pre-token that is kept, in bytes.
pub(crate) const MAX_LENGTH: usize = 12;
/// 256 KiB: half as much misses half as often again, and twice as much is all of some processors' L2.
const SLOT_BITS: u32 = 14;
const SLOTS: usize = 1 << SLOT_BITS;
/// The bits of a hash that are the place of a slot, in bytes.
const PLACE: u32 = (SLOTS as u32 - 1) << 4;

/// A slot as words: three of the pre-token, then its length in the high 4 bits, [`SECOND`], and the first id.
type Slot = [u32; 4];
const LENGTH_SHIFT: u32 = 28;
const SECOND: u32 = 1 << 27;
/// Larger ids are not kept.
const ID_LIMIT: TokenId = SECOND;
/// What a key has of a slot's last word.
const KEY_PART: u32 = 0xF << LENGTH_SHIFT;

/// In the place of a second id: there is none.
pub(crate) const NO_SECOND: TokenId = TokenId::MAX;

/// Slots are looked up in groups of this many pre-tokens at most.
pub(crate) const GROUP: usize = 512;

/// What a pre-token of each length keeps of 16 bytes, and the word that marks its length. Those that are too long get
/// a length that no slot has.
static MASKS: [[Slot; 2]; 17] = {
    let mut masks = [[[0; 4], [0, 0, 0, KEY_PART]]; 17];
    let mut length = 1;
    while length <= MAX_LENGTH {
        let mut byte = 0;
        while byte < length {
            masks[length][0][byte / 4] |= 0xFF << (8 * (byte % 4));
            byte += 1;
        }
        masks[length][1][3] = (length as u32) << LENGTH_SHIFT;
        length += 1;
    }
    masks
};

/// The table of one tokenizer in one thread.
#[derive(Debug)]
pub(crate) struct HotTier {
    slots: Box<[AlignedSlot; SLOTS]>,
    seconds: Box<[TokenId; SLOTS]>,
    /// Whether places come from the processor's AES instruction; else from a multiplication.
    by_aes: bool,
}

/// A slot never crosses a cache line.
#[derive(Clone, Copy, Debug, bytemuck::Zeroable)]
#[repr(align(16))]
struct AlignedSlot(Slot);

/// What a group of pre-tokens was looked up to.
#[derive(Debug)]
pub(crate) struct Found {
    /// For each pre-token its first id.
    pub(crate) first: [TokenId; GROUP],
    /// For each pre-token its second id, or [`NO_SECOND`].
    pub(crate) second: [TokenId; GROUP],
    /// For each pre-token the place of its slot in bytes, or a hash of which [`PLACE`] cuts it.
    places: [u32; GROUP],
    /// The numbers of those that the tier does not hold, `missing` of them, and room to write eight at a time.
    misses: [u16; GROUP + 8],
    missing: usize,
}

impl Default for Found {
    fn default() -> Self {
        Self { first: [0; GROUP], second: [0; GROUP], places: [0; GROUP], misses: [0; GROUP + 8], missing: 0 }
    }
}

impl Found {
    /// The numbers of the pre-tokens that the tier does not hold, in order.
    #[inline]
    pub(crate) fn misses(&self) -> &[u16] {
        &self.misses[..self.missing]
    }
}

/// The number of a slot, from a hash or from its place in bytes.
#[inline(always)]
#[expect(clippy::inline_always, reason = "one instruction")]
fn place_of(hash: u32) -> usize {
    ((hash & PLACE) >> 4) as usize
}

/// The 16 bytes of `text` from `start` on, with zeros behind its end.
#[inline(always)]
#[expect(clippy::inline_always, reason = "part of the hottest loop")]
fn sixteen(text: &[u8], start: usize) -> [u8; 16] {
    match text.get(start..start + 16).and_then(|bytes| bytes.first_chunk()) {
        Some(bytes) => *bytes,
        None => padded(text, start),
    }
}

#[cold]
fn padded(text: &[u8], start: usize) -> [u8; 16] {
    let mut bytes = [0; 16];
    let rest = text.get(start..).unwrap_or_default();
    let length = rest.len().min(16);
    bytes[..length].copy_from_slice(&rest[..length]);
    bytes
}

/// The key of the first `length` of 16 bytes, as a slot without ids has it.
#[inline(always)]
#[expect(clippy::inline_always, reason = "part of the hottest loop")]
fn key(bytes: [u8; 16], length: usize) -> Slot {
    let [kept, mark] = &MASKS[length.min(16)];
    let words: Slot = bytemuck::cast(bytes);
    std::array::from_fn(|at| words[at].to_le() & kept[at] | mark[at])
}

/// What the place of a key comes from, by multiplication.
#[inline]
fn hash(key: Slot) -> u32 {
    let low = u64::from(key[0]) | u64::from(key[1]) << 32;
    let high = u64::from(key[2]) | u64::from(key[3]) << 32;
    let product = u128::from(low ^ 0x9E37_79B9_7F4A_7C15) * u128::from(high ^ 0xD1B5_4A32_D192_ED03);
    let hash = (product >> 64) as u64 ^ product as u64;
    (hash >> 32) as u32
}

impl HotTier {
    pub(crate) fn new() -> Self {
        Self { slots: bytemuck::zeroed_box(), seconds: bytemuck::zeroed_box(), by_aes: avx2::available() }
    }

    /// Looks up the pre-tokens of `text` that end at `ends`, at most [`GROUP`], the first of which begins at `start`.
    #[inline]
    pub(crate) fn look_up(&self, text: &[u8], start: u32, ends: &[u32], found: &mut Found) {
        let ends = &ends[..ends.len().min(GROUP)];
        if self.by_aes {
            avx2::look_up(self, text, start, ends, found);
        } else {
            self.look_up_plainly(text, start, ends, found);
        }
    }

    fn look_up_plainly(&self, text: &[u8], start: u32, ends: &[u32], found: &mut Found) {
        let Found { first, second, places, misses, missing } = found;
        *missing = 0;
        let mut from = start;
        for (number, &end) in ends.iter().enumerate() {
            let key = key(sixteen(text, from as usize), (end - from) as usize);
            let hash = hash(key);
            let place = place_of(hash);
            let slot = self.slots[place].0;
            let same = slot[..3] == key[..3] && (slot[3] ^ key[3]) & KEY_PART == 0;
            first[number] = slot[3] & (ID_LIMIT - 1);
            second[number] = if slot[3] & SECOND == 0 { NO_SECOND } else { self.seconds[place] };
            places[number] = hash;
            misses[*missing & (GROUP - 1)] = number as u16;
            *missing += usize::from(!same);
            from = end;
        }
    }

    /// Keeps one or two ids for the pre-token of a key, which was looked up under a number; the second is
    /// [`NO_SECOND`] where there is none. A pre-token that is too long is not kept.
    #[inline]
    pub(crate) fn insert(
        &mut self,
        key: &Key,
        found: &Found,
        number: usize,
        first: TokenId,
        second: TokenId,
    ) {
        let (words, length) = key.short();
        if length > MAX_LENGTH || first >= ID_LIMIT {
            return;
        }
        let has_second = if second == NO_SECOND { 0 } else { SECOND };
        let place = place_of(found.places[number & (GROUP - 1)]);
        let [a, b, c] = words;
        self.slots[place] = AlignedSlot([a, b, c, (length as u32) << LENGTH_SHIFT | has_second | first]);
        self.seconds[place] = second;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both kinds of tier, where there are two.
    pub(super) fn tiers() -> Vec<HotTier> {
        let mut plain = HotTier::new();
        plain.by_aes = false;
        let fast = HotTier::new();
        if fast.by_aes { vec![plain, fast] } else { vec![plain] }
    }

    /// What the tier says of each piece of a text: its ids, as far as it knows them.
    fn known(tier: &HotTier, pieces: &[Vec<u8>]) -> Vec<Option<Vec<TokenId>>> {
        let text = pieces.concat();
        let mut ends = Vec::new();
        for piece in pieces {
            ends.push(ends.last().unwrap_or(&0) + piece.len() as u32);
        }
        let mut found = Found::default();
        let mut start = 0;
        let mut all = Vec::new();
        for ends in ends.chunks(GROUP) {
            tier.look_up(&text, start, ends, &mut found);
            let mut ids: Vec<_> = found.first[..ends.len()].iter().map(|&id| Some(vec![id])).collect();
            for (ids, &second) in ids.iter_mut().zip(&found.second) {
                if let Some(ids) = ids {
                    ids.extend((second != NO_SECOND).then_some(second));
                }
            }
            for &number in found.misses() {
                ids[number as usize] = None;
            }
            all.extend(ids);
            start = *ends.last().unwrap();
        }
        all
    }

    fn put(tier: &mut HotTier, piece: &[u8], ids: &[TokenId]) {
        let mut found = Found::default();
        tier.look_up(piece, 0, &[piece.len() as u32], &mut found);
        if !found.misses().is_empty() {
            let second = ids.get(1).copied().unwrap_or(NO_SECOND);
            tier.insert(&Key::of(piece), &found, 0, ids[0], second);
        }
    }

    #[test]
    fn keeps_exactly_what_was_put() {
        for mut tier in tiers() {
            let pieces: Vec<Vec<u8>> = (0..20_000u32)
                .map(|number| format!("w{}", u64::from(number) * 7919 % 1_000_003).into_bytes())
                .chain([b"a".to_vec(), b"a\0".to_vec(), b"a\0\0".to_vec(), b"\0".to_vec(), vec![0; 12]])
                .collect();
            let ids =
                |at: usize| if at.is_multiple_of(3) { vec![at as TokenId, 9] } else { vec![at as TokenId] };
            assert!(known(&tier, &pieces).iter().all(Option::is_none));
            for (at, piece) in pieces.iter().enumerate() {
                put(&mut tier, piece, &ids(at));
            }
            let known = known(&tier, &pieces);
            let right =
                known.iter().enumerate().filter(|(at, known)| known.as_ref() == Some(&ids(*at))).count();
            assert_eq!(right, known.iter().flatten().count());
            assert!(right > pieces.len() / 2, "{right}");
        }
    }

    #[test]
    fn what_does_not_fit_is_not_kept() {
        for mut tier in tiers() {
            let pieces = [
                &b"thirteen byte"[..],
                b"more than sixteen bytes",
                b"more than the cache remembers",
                b"large",
            ];
            for (piece, ids) in pieces.iter().zip([&[1][..], &[1], &[1], &[ID_LIMIT]]) {
                put(&mut tier, piece, ids);
            }
            let pieces: Vec<Vec<u8>> = pieces.iter().map(|piece| piece.to_vec()).collect();
            assert!(known(&tier, &pieces).iter().all(Option::is_none));
            put(&mut tier, b"largest", &[ID_LIMIT - 1]);
            assert_eq!(known(&tier, &[b"largest".to_vec()]), [Some(vec![ID_LIMIT - 1])]);
        }
    }
}
