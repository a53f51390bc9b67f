//! The pre-tokens that a thread met last, in a table small enough for its L2 cache.
//!
//! Nine of ten pre-tokens of a text are found here. It stands before the [`Cache`](crate::cache::Cache), which all
//! threads share; whatever it forgets is still there. A slot is 16 bytes: 12 of the pre-token, padded with zeros, and
//! a word of its length, its first id, and whether there is a second, which is kept beside the table. So one
//! comparison decides, two slots never hold the same pre-token, and the answer is exact.

use crate::token::TokenId;

/// The longest pre-token that is kept, in bytes.
pub(crate) const MAX_LENGTH: usize = 12;
/// 256 KiB: half as much misses half as often again, and twice as much is all of some processors' L2.
const SLOT_BITS: u32 = 14;
const SLOTS: usize = 1 << SLOT_BITS;

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

/// A pre-token that the hot tier could not complete: its number in the group, whether the tier holds it (and only a
/// second id is to be fetched), and its place there.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Left(u32);

impl Left {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "part of the hottest loop")]
    fn new(number: u32, found: u32, place: u32) -> Self {
        Self(number | (found * Self::FOUND) | (place << Self::PLACE_SHIFT))
    }

    const FOUND: u32 = GROUP as u32;
    const PLACE_SHIFT: u32 = Self::FOUND.trailing_zeros() + 1;

    #[inline]
    pub(crate) fn number(self) -> usize {
        self.0 as usize & (GROUP - 1)
    }

    #[inline]
    pub(crate) fn found(self) -> bool {
        self.0 & Self::FOUND != 0
    }

    #[inline]
    pub(crate) fn place(self) -> usize {
        (self.0 >> Self::PLACE_SHIFT) as usize
    }
}

/// What a group of pre-tokens was looked up to.
#[derive(Debug)]
pub(crate) struct Found {
    /// For each pre-token its first id.
    pub(crate) first: [TokenId; GROUP],
    /// For each pre-token its second id: [`NO_SECOND`], until it is fetched for those that need more.
    pub(crate) second: [TokenId; GROUP],
    /// Those that need more, `count` of them.
    pub(crate) left: [Left; GROUP],
    pub(crate) count: usize,
}

impl Default for Found {
    fn default() -> Self {
        Self { first: [0; GROUP], second: [0; GROUP], left: [Left(0); GROUP], count: 0 }
    }
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

/// Where a key belongs, by multiplication.
#[inline]
fn place(key: Slot) -> usize {
    let low = u64::from(key[0]) | u64::from(key[1]) << 32;
    let high = u64::from(key[2]) | u64::from(key[3]) << 32;
    let product = u128::from(low ^ 0x9E37_79B9_7F4A_7C15) * u128::from(high ^ 0xD1B5_4A32_D192_ED03);
    let hash = (product >> 64) as u64 ^ product as u64;
    (hash >> (64 - SLOT_BITS)) as usize
}

impl HotTier {
    pub(crate) fn new() -> Self {
        Self { slots: bytemuck::zeroed_box(), seconds: bytemuck::zeroed_box(), by_aes: fast::available() }
    }

    /// Looks up the pre-tokens of `text` that end at `ends`, at most [`GROUP`], the first of which begins at `start`.
    #[inline]
    pub(crate) fn look_up(&self, text: &[u8], start: u32, ends: &[u32], found: &mut Found) {
        let ends = &ends[..ends.len().min(GROUP)];
        found.second[..ends.len()].fill(NO_SECOND);
        if self.by_aes {
            fast::look_up(self, text, start, ends, found);
        } else {
            self.look_up_plainly(text, start, ends, found);
        }
    }

    fn look_up_plainly(&self, text: &[u8], start: u32, ends: &[u32], found: &mut Found) {
        let Found { first, left, count, .. } = found;
        *count = 0;
        let mut from = start;
        for (number, (&end, first)) in (0..).zip(ends.iter().zip(first)) {
            let key = key(sixteen(text, from as usize), (end - from) as usize);
            let place = place(key);
            let slot = self.slots[place].0;
            let same = slot[..3] == key[..3] && (slot[3] ^ key[3]) & KEY_PART == 0;
            *first = slot[3] & (ID_LIMIT - 1);
            left[*count & (GROUP - 1)] = Left::new(number, u32::from(same), place as u32);
            *count += usize::from(!same) | usize::from(slot[3] & SECOND != 0);
            from = end;
        }
    }

    /// The second id of the slot at `place`.
    #[inline]
    pub(crate) fn second(&self, place: usize) -> TokenId {
        self.seconds[place & (SLOTS - 1)]
    }

    /// Keeps one or two ids for the pre-token of `length` bytes at `start`, whose place was found before; more ids are
    /// not kept, nor is a pre-token that is too long.
    #[inline]
    pub(crate) fn insert(&mut self, text: &[u8], start: usize, length: usize, place: usize, ids: &[TokenId]) {
        let (first, second) = match *ids {
            [first] => (first, None),
            [first, second] => (first, Some(second)),
            _ => return,
        };
        if length > MAX_LENGTH || first >= ID_LIMIT {
            return;
        }
        let mut slot = key(sixteen(text, start), length);
        let place = place & (SLOTS - 1);
        slot[3] |= first;
        if let Some(second) = second {
            slot[3] |= SECOND;
            self.seconds[place] = second;
        }
        self.slots[place] = AlignedSlot(slot);
    }
}

/// The same with vectors of 16 bytes, and places by a round of AES, which mixes 16 bytes in four cycles.
#[cfg(target_arch = "x86_64")]
mod fast {
    #![expect(unsafe_code, reason = "a third fewer instructions in the hottest loop")]

    use std::arch::x86_64::{
        __m128i, _mm_aesenc_si128, _mm_and_si128, _mm_cvtsi128_si32, _mm_extract_epi32, _mm_or_si128,
        _mm_set1_epi64x, _mm_test_all_zeros, _mm_xor_si128,
    };
    use std::hint::black_box;

    use super::{Found, GROUP, HotTier, ID_LIMIT, KEY_PART, Left, MASKS, SECOND, SLOT_BITS, sixteen};
    use crate::pretokenize::simd_path;

    pub(super) fn available() -> bool {
        simd_path() == "avx2" && is_x86_feature_detected!("avx2") && is_x86_feature_detected!("aes")
    }

    pub(super) fn look_up(tier: &HotTier, text: &[u8], start: u32, ends: &[u32], found: &mut Found) {
        // SAFETY: `by_aes` of a tier, without which this is not called, says that `available` was true.
        unsafe { look_up_by_aes(tier, text, start, ends, found) }
    }

    #[target_feature(enable = "avx2,aes")]
    fn look_up_by_aes(tier: &HotTier, text: &[u8], start: u32, ends: &[u32], found: &mut Found) {
        let Found { first, left, count, .. } = found;
        // Known to the compiler, it becomes a comparison of three instructions more.
        let key_part: __m128i = bytemuck::cast(black_box([u32::MAX, u32::MAX, u32::MAX, KEY_PART]));
        let salt = _mm_set1_epi64x(0x9E37_79B9_7F4A_7C15_u64.cast_signed());
        let mut listed = 0;
        let mut from = start;
        for (number, (&end, first)) in (0..).zip(ends.iter().zip(first)) {
            let length = ((end - from) as usize).min(16);
            let bytes: __m128i = bytemuck::cast(sixteen(text, from as usize));
            let [kept, mark] = &MASKS[length];
            let key = _mm_or_si128(_mm_and_si128(bytes, bytemuck::cast(*kept)), bytemuck::cast(*mark));
            // Two rounds: one mixes only four bytes into each word.
            let hash = _mm_aesenc_si128(_mm_aesenc_si128(key, salt), salt);
            let place = _mm_cvtsi128_si32(hash).cast_unsigned() >> (32 - SLOT_BITS);
            let slot: __m128i = bytemuck::cast(tier.slots[place as usize].0);
            let same = _mm_test_all_zeros(_mm_xor_si128(slot, key), key_part).cast_unsigned();
            let word = _mm_extract_epi32::<3>(slot).cast_unsigned();
            *first = word & (ID_LIMIT - 1);
            left[listed & (GROUP - 1)] = Left::new(number, same, place);
            listed += usize::from(same == 0) | usize::from(word & SECOND != 0);
            from = end;
        }
        *count = listed;
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod fast {
    use super::{Found, HotTier};

    pub(super) fn available() -> bool {
        false
    }

    pub(super) fn look_up(tier: &HotTier, text: &[u8], start: u32, ends: &[u32], found: &mut Found) {
        tier.look_up_plainly(text, start, ends, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both kinds of tier, where there are two.
    fn tiers() -> Vec<HotTier> {
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
            for left in &found.left[..found.count] {
                match &mut ids[left.number()] {
                    Some(ids) if left.found() => ids.push(tier.second(left.place())),
                    ids => *ids = None,
                }
            }
            all.extend(ids);
            start = *ends.last().unwrap();
        }
        all
    }

    fn put(tier: &mut HotTier, piece: &[u8], ids: &[TokenId]) {
        let mut found = Found::default();
        tier.look_up(piece, 0, &[piece.len() as u32], &mut found);
        if found.count > 0 {
            tier.insert(piece, 0, piece.len(), found.left[0].place(), ids);
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
            let pieces = [&b"thirteen byte"[..], b"more than sixteen bytes", b"three", b"large", b"none"];
            for (piece, ids) in pieces.iter().zip([&[1][..], &[1], &[1, 2, 3], &[ID_LIMIT], &[]]) {
                put(&mut tier, piece, ids);
            }
            let pieces: Vec<Vec<u8>> = pieces.iter().map(|piece| piece.to_vec()).collect();
            assert!(known(&tier, &pieces).iter().all(Option::is_none));
            put(&mut tier, b"largest", &[ID_LIMIT - 1]);
            assert_eq!(known(&tier, &[b"largest".to_vec()]), [Some(vec![ID_LIMIT - 1])]);
        }
    }
}
