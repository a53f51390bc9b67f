//! The look-up with vectors of AVX2, and hashes by the AES instruction, which mixes 16 bytes in four cycles.
//!
//! Two loops over a few pre-tokens: keys and hashes first, then the slots. Each step of the second is short, so that
//! the processor waits for dozens of slots at once. Eight slots are compared together: transposed, a vector holds one
//! word of each.
#![expect(unsafe_code, reason = "a third of the instructions in the hottest loop")]

use std::arch::x86_64::{
    __m128i, __m256i, _mm_add_epi16, _mm_aesenc_si128, _mm_and_si128, _mm_castsi128_ps, _mm_cmpeq_epi32,
    _mm_cvtepu8_epi16, _mm_cvtsi64_si128, _mm_cvtsi128_si32, _mm_load_si128, _mm_loadu_si128,
    _mm_movemask_ps, _mm_set1_epi16, _mm_set1_epi32, _mm_set1_epi64x, _mm_setzero_si128, _mm_shuffle_epi8,
    _mm_unpackhi_epi32, _mm_unpacklo_epi32, _mm_unpacklo_epi64, _mm256_add_epi32, _mm256_and_si256,
    _mm256_castsi256_ps, _mm256_cmpeq_epi32, _mm256_max_epu32, _mm256_min_epu32, _mm256_movemask_ps,
    _mm256_or_si256, _mm256_set_m128i, _mm256_set1_epi32, _mm256_setzero_si256, _mm256_slli_epi32,
    _mm256_srli_epi32, _mm256_sub_epi32, _mm256_unpackhi_epi32, _mm256_unpackhi_epi64, _mm256_unpacklo_epi32,
    _mm256_unpacklo_epi64, _mm256_xor_si256,
};

use super::emit::emit_plainly;
use super::{
    Found, GROUP, HotTier, ID_LIMIT, LENGTH_SHIFT, MAX_LENGTH, NO_SECOND, PLACE, SECOND, place_of, sixteen,
};
use crate::pretokenize::{PLACES, simd_path};
use crate::token::TokenId;

/// Pre-tokens whose slots are waited for together.
const CHUNK: usize = 64;
/// The length of all pre-tokens of 15 bytes and more: no slot has one of more than [`MAX_LENGTH`].
const TOO_LONG: i32 = 15;

/// What a pre-token of each length keeps of 16 bytes.
static KEPT: Kept = {
    let mut kept = [[0; 16]; 16];
    let mut length = 0;
    while length < 16 {
        let mut byte = 0;
        while byte < length && byte < MAX_LENGTH {
            kept[length][byte] = 0xFF;
            byte += 1;
        }
        length += 1;
    }
    Kept(kept)
};

#[repr(align(16))]
struct Kept([[u8; 16]; 16]);

pub(super) fn available() -> bool {
    simd_path() == "avx2"
        && is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("aes")
        && is_x86_feature_detected!("popcnt")
}

pub(super) fn look_up(tier: &HotTier, text: &[u8], start: u32, ends: &[u32], found: &mut Found) {
    // SAFETY: `by_aes` of a tier, without which this is not called, says that `available` was true.
    unsafe { look_up_by_aes(tier, text, start, ends, found) }
}

/// One chunk on its way.
struct Chunk {
    lengths: [__m256i; CHUNK / 8],
    /// Of each eight, number `at` stands beside number `at + 4`, as transposing wants them.
    keys: [[__m256i; 4]; CHUNK / 8],
    /// Where what is kept of 16 bytes stands in [`KEPT`], in bytes.
    kept: [u32; CHUNK],
    /// Where the slots are, in bytes.
    places: [u32; CHUNK],
}

#[target_feature(enable = "avx2,aes,popcnt")]
fn look_up_by_aes(tier: &HotTier, text: &[u8], start: u32, ends: &[u32], found: &mut Found) {
    let mut twos = [0_u16; GROUP + 8];
    let (mut missing, mut with_second) = (0, 0);
    let zero = _mm256_setzero_si256();
    let mut chunk = Chunk {
        lengths: [zero; CHUNK / 8],
        keys: [[zero; 4]; CHUNK / 8],
        kept: [0; CHUNK],
        places: [0; CHUNK],
    };
    for base in (0..ends.len().min(GROUP)).step_by(CHUNK) {
        let count = (ends.len() - base).min(CHUNK);
        let whole = base.checked_sub(1).and_then(|before| {
            Some((ends[before..].first_chunk::<CHUNK>()?, ends[base..].first_chunk::<CHUNK>()?))
        });
        let mut copy;
        let (starts, ends) = if let Some(both) = whole {
            both
        } else {
            // The first of a group, and the last, which may be short: those behind `count` are empty.
            copy = [[base.checked_sub(1).map_or(start, |before| ends[before]); CHUNK]; 2];
            let [starts, here] = &mut copy;
            here[..count].copy_from_slice(&ends[base..base + count]);
            starts[1..count].copy_from_slice(&ends[base..base + count - 1]);
            (&*starts, &*here)
        };
        let farthest = measure(&mut chunk, starts, ends) as usize;
        // Beyond `near`, sixteen bytes cannot be read.
        if text.len().checked_sub(16).is_some_and(|near| farthest <= near) {
            // SAFETY: sixteen bytes from any of the starts are inside the text, and the chunk was measured.
            unsafe { make_keys(&mut chunk, text, starts) };
        } else {
            let copy: [[u8; 16]; CHUNK] = std::array::from_fn(|at| sixteen(text, starts[at] as usize));
            let starts: [u32; CHUNK] = std::array::from_fn(|at| 16 * at as u32);
            // SAFETY: the starts are now the places of sixteen bytes each in the copy; the chunk was measured.
            unsafe { make_keys(&mut chunk, copy.as_flattened(), &starts) };
        }
        found.places[base..base + CHUNK].copy_from_slice(&chunk.places);
        let (mut same, mut two) = (0, 0);
        for (eight, number) in (0..count.div_ceil(8)).zip((base..).step_by(8)) {
            // SAFETY: the keys of the chunk were made.
            let (same_here, two_here) = unsafe { compare(tier, &chunk, eight, number, found) };
            same |= u64::from(same_here) << (8 * eight);
            two |= u64::from(two_here) << (8 * eight);
        }
        // Listed behind the comparisons, not among them: their results are waited for.
        let real = !0 >> (CHUNK - count);
        let (misses_here, twos_here) = ((!same & real).to_le_bytes(), (same & two & real).to_le_bytes());
        for (eight, number) in (0..8).zip((base..).step_by(8)) {
            list(&mut found.misses, &mut missing, number, misses_here[eight]);
            list(&mut twos, &mut with_second, number, twos_here[eight]);
        }
    }
    found.missing = missing;
    for &number in &twos[..with_second] {
        let number = number as usize & (GROUP - 1);
        found.second[number] = tier.seconds[place_of(found.places[number])];
    }
}

/// How long the pre-tokens of a chunk are; returns where the last of them begins.
#[inline]
#[target_feature(enable = "avx2")]
fn measure(chunk: &mut Chunk, starts: &[u32; CHUNK], ends: &[u32; CHUNK]) -> u32 {
    let (starts, ends) = (starts.as_chunks::<8>().0, ends.as_chunks::<8>().0);
    let mut farthest = _mm256_setzero_si256();
    let kept = chunk.kept.as_chunks_mut::<8>().0;
    for (((length, kept), ends), starts) in chunk.lengths.iter_mut().zip(kept).zip(ends).zip(starts) {
        // Lengths from 1 to 14; all others are too long.
        farthest = _mm256_max_epu32(farthest, bytemuck::cast(*starts));
        let less = _mm256_sub_epi32(bytemuck::cast(*ends), bytemuck::cast(*starts));
        let less = _mm256_add_epi32(less, _mm256_set1_epi32(-1));
        let less = _mm256_min_epu32(less, _mm256_set1_epi32(TOO_LONG - 1));
        *length = _mm256_add_epi32(less, _mm256_set1_epi32(1));
        *kept = bytemuck::cast(_mm256_slli_epi32::<4>(*length));
    }
    bytemuck::cast::<_, [u32; 8]>(farthest).into_iter().fold(0, u32::max)
}

/// Makes the keys of a chunk, and finds the places of their slots.
///
/// # Safety
/// Sixteen bytes from each of the starts on must be inside `text`, and `kept` must be as [`measure`] leaves it.
#[inline]
#[target_feature(enable = "avx2,aes")]
unsafe fn make_keys(chunk: &mut Chunk, text: &[u8], starts: &[u32; CHUNK]) {
    let keys: &mut [[__m128i; 8]] = bytemuck::cast_slice_mut(&mut chunk.keys);
    let (places, _) = chunk.places.as_chunks_mut::<8>();
    let ((starts, _), (kept, _)) = (starts.as_chunks::<8>(), chunk.kept.as_chunks::<8>());
    for (((keys, places), starts), kept) in keys.iter_mut().zip(places).zip(starts).zip(kept) {
        let mut mixed = [_mm_setzero_si128(); 8];
        for at in 0..8 {
            // SAFETY: the bytes as the caller promises; `measure` leaves places of entries of the table.
            let key = unsafe {
                let bytes = _mm_loadu_si128(text.as_ptr().add(starts[at] as usize).cast());
                _mm_and_si128(bytes, _mm_load_si128(KEPT.0.as_ptr().byte_add(kept[at] as usize).cast()))
            };
            keys[at % 4 * 2 + at / 4] = key;
            mixed[at] = mix(key);
        }
        // Four lowest words side by side. By themselves, LLVM would join them later, where that makes the loads of
        // slots wait for each other.
        let join = |four: &[__m128i]| {
            let pairs = [_mm_unpacklo_epi32(four[0], four[1]), _mm_unpacklo_epi32(four[2], four[3])];
            let words = _mm_unpacklo_epi64(pairs[0], pairs[1]);
            _mm_and_si128(words, _mm_set1_epi32(PLACE.cast_signed()))
        };
        *places = bytemuck::cast([join(&mixed[..4]), join(&mixed[4..])]);
    }
}

/// What the place of a key comes from.
#[inline]
#[target_feature(enable = "aes")]
fn mixed(key: __m128i) -> u32 {
    _mm_cvtsi128_si32(mix(key)).cast_unsigned()
}

/// Two rounds: one mixes only four bytes into each word.
#[inline]
#[target_feature(enable = "aes")]
fn mix(key: __m128i) -> __m128i {
    let salt = _mm_set1_epi64x(0x9E37_79B9_7F4A_7C15_u64.cast_signed());
    _mm_aesenc_si128(_mm_aesenc_si128(key, salt), salt)
}

/// [`HotTier::take_known`], for a tier whose `by_aes` is true.
pub(super) fn take_known(
    tier: &HotTier,
    text: &[u8],
    ends: &[u32],
    number: usize,
    ids: &mut [TokenId],
    count: usize,
) -> (usize, usize) {
    // SAFETY: as for `look_up`.
    unsafe { take_by_aes(tier, text, ends, number, ids, count) }
}

#[target_feature(enable = "avx2,aes")]
fn take_by_aes(
    tier: &HotTier,
    text: &[u8],
    ends: &[u32],
    number: usize,
    ids: &mut [TokenId],
    count: usize,
) -> (usize, usize) {
    tier.take_by(text, ends, number, ids, count, |kept, _| mixed(bytemuck::cast(kept)))
}

/// What the place of one key comes from, for a tier whose `by_aes` is true.
pub(super) fn hash_of(_: &HotTier, kept: u128) -> u32 {
    // SAFETY: as for `look_up`.
    unsafe { mixed(bytemuck::cast(kept)) }
}

/// Compares eight slots with their keys and takes their ids; as bits, which are the same, and which have a second id.
///
/// # Safety
/// The places must be those that [`make_keys`] leaves.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn compare(
    tier: &HotTier,
    chunk: &Chunk,
    eight: usize,
    number: usize,
    found: &mut Found,
) -> (u32, u32) {
    let places = &chunk.places[8 * eight..8 * eight + 8];
    let keys = &chunk.keys[eight];
    let mut rows = [_mm256_setzero_si256(); 4];
    let slots: *const __m128i = tier.slots.as_ptr().cast();
    for at in 0..4 {
        // SAFETY: as the caller promises, each place is that of the first byte of a slot.
        let [low, high] = [places[at], places[at + 4]]
            .map(|place| unsafe { _mm_load_si128(slots.byte_add(place as usize)) });
        let slots = _mm256_set_m128i(high, low);
        rows[at] = _mm256_xor_si256(slots, keys[at]);
    }
    let low = [_mm256_unpacklo_epi32(rows[0], rows[1]), _mm256_unpacklo_epi32(rows[2], rows[3])];
    let high = [_mm256_unpackhi_epi32(rows[0], rows[1]), _mm256_unpackhi_epi32(rows[2], rows[3])];
    // What differs in the three words of the keys; a key has nothing in the fourth.
    let differs = _mm256_or_si256(
        _mm256_or_si256(_mm256_unpacklo_epi64(low[0], low[1]), _mm256_unpackhi_epi64(low[0], low[1])),
        _mm256_unpacklo_epi64(high[0], high[1]),
    );
    let word = _mm256_unpackhi_epi64(high[0], high[1]);
    let same = _mm256_and_si256(
        _mm256_cmpeq_epi32(differs, _mm256_setzero_si256()),
        _mm256_cmpeq_epi32(_mm256_srli_epi32::<{ LENGTH_SHIFT.cast_signed() }>(word), chunk.lengths[eight]),
    );
    let ids = _mm256_and_si256(word, _mm256_set1_epi32((ID_LIMIT - 1).cast_signed()));
    found.first[number..number + 8].copy_from_slice(&bytemuck::cast::<_, [u32; 8]>(ids));
    found.second[number..number + 8].fill(NO_SECOND);
    let same = _mm256_movemask_ps(_mm256_castsi256_ps(same)).cast_unsigned();
    let two = _mm256_slli_epi32::<{ SECOND.leading_zeros().cast_signed() }>(word);
    (same, _mm256_movemask_ps(_mm256_castsi256_ps(two)).cast_unsigned())
}

/// Appends `number` plus the place of each of eight bits to `list`, which has room for eight more.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn list(list: &mut [u16], count: &mut usize, number: usize, bits: u8) {
    let places = _mm_cvtepu8_epi16(_mm_cvtsi64_si128(PLACES[usize::from(bits)].cast_signed()));
    let numbers = _mm_add_epi16(places, _mm_set1_epi16((number as u16).cast_signed()));
    if let Some(room) = list.get_mut(*count..*count + 8) {
        room.copy_from_slice(&bytemuck::cast::<_, [u16; 8]>(numbers));
    }
    *count += bits.count_ones() as usize;
}

/// For each two bits, a set one for a pre-token without a second id: which bytes of four words, first and second id of
/// each, are of ids. Behind them, anything.
static IDS_OF_TWO: [[u8; 16]; 4] = {
    let mut orders = [[0; 16]; 4];
    let mut bits = 0;
    while bits < 4 {
        let (mut byte, mut count) = (0_u8, 0);
        while byte < 16 {
            if byte / 4 % 2 == 0 || bits >> (byte / 8) & 1 == 0 {
                orders[bits][count] = byte;
                count += 1;
            }
            byte += 1;
        }
        bits += 1;
    }
    orders
};

pub(super) fn emit(first: &[TokenId], second: &[TokenId], ids: &mut [TokenId], at: usize) -> usize {
    // SAFETY: as for `look_up`.
    unsafe { emit_fours(first, second, ids, at) }
}

#[target_feature(enable = "avx2,popcnt")]
fn emit_fours(first: &[TokenId], second: &[TokenId], ids: &mut [TokenId], mut at: usize) -> usize {
    let ((first, rest), (second, rest_second)) = (first.as_chunks::<4>(), second.as_chunks::<4>());
    for (&first, &second) in first.iter().zip(second) {
        let (first, second): (__m128i, __m128i) = (bytemuck::cast(first), bytemuck::cast(second));
        let alone = _mm_cmpeq_epi32(second, _mm_set1_epi32(NO_SECOND.cast_signed()));
        let alone = _mm_movemask_ps(_mm_castsi128_ps(alone)).cast_unsigned();
        let low = _mm_shuffle_epi8(
            _mm_unpacklo_epi32(first, second),
            bytemuck::cast(IDS_OF_TWO[alone as usize & 3]),
        );
        let high = _mm_shuffle_epi8(
            _mm_unpackhi_epi32(first, second),
            bytemuck::cast(IDS_OF_TWO[alone as usize >> 2 & 3]),
        );
        if let Some(room) = ids.get_mut(at..at + 8) {
            room[..4].copy_from_slice(&bytemuck::cast::<_, [u32; 4]>(low));
            let count = 4 - (alone & 3).count_ones() as usize;
            room[count..count + 4].copy_from_slice(&bytemuck::cast::<_, [u32; 4]>(high));
        }
        at += 8 - alone.count_ones() as usize;
    }
    emit_plainly(rest, rest_second, ids, at)
}
