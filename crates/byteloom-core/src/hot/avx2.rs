//! The look-up with vectors of AVX2, and hashes by the AES instruction, which mixes 16 bytes in four cycles.
//!
//! Two loops over a few pre-tokens: keys and hashes first, then the slots. Each step of the second is short, so that
//! the processor waits for dozens of slots at once. Eight slots are compared together: transposed, a vector holds one
//! word of each.
#![expect(unsafe_code, reason = "a third of the instructions in the hottest loop")]

use std::arch::x86_64::{
    __m128i, __m256i, _mm_add_epi16, _mm_aesenc_si128, _mm_and_si128, _mm_castsi128_ps, _mm_cmpeq_epi32,
    _mm_cvtepu8_epi16, _mm_cvtsi64_si128, _mm_cvtsi128_si32, _mm_loadu_si128, _mm_movemask_ps,
    _mm_set1_epi16, _mm_set1_epi32, _mm_set1_epi64x, _mm_unpackhi_epi32, _mm_unpacklo_epi32,
    _mm256_add_epi32, _mm256_and_si256, _mm256_castsi256_ps, _mm256_cmpeq_epi32, _mm256_min_epu32,
    _mm256_movemask_ps, _mm256_or_si256, _mm256_permutevar8x32_epi32, _mm256_set_m128i, _mm256_set1_epi32,
    _mm256_setzero_si256, _mm256_slli_epi32, _mm256_srli_epi32, _mm256_sub_epi32, _mm256_unpackhi_epi32,
    _mm256_unpackhi_epi64, _mm256_unpacklo_epi32, _mm256_unpacklo_epi64, _mm256_xor_si256,
};

use super::emit::emit_plainly;
use super::{
    Found, GROUP, HotTier, ID_LIMIT, LENGTH_SHIFT, MAX_LENGTH, NO_SECOND, SECOND, place_of, sixteen,
};
use crate::pretokenize::{PLACES, simd_path};
use crate::token::TokenId;

/// Pre-tokens whose slots are waited for together.
const CHUNK: usize = 64;
/// The length of all pre-tokens of 15 bytes and more: no slot has one of more than [`MAX_LENGTH`].
const TOO_LONG: i32 = 15;

/// What a pre-token of each length keeps of 16 bytes.
static KEPT: [[u8; 16]; 16] = {
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
    kept
};

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
    /// Where the pre-tokens begin.
    starts: [u32; CHUNK],
    lengths: [__m256i; CHUNK / 8],
    /// Of each eight, number `at` stands beside number `at + 4`, as transposing wants them.
    keys: [[__m256i; 4]; CHUNK / 8],
}

#[target_feature(enable = "avx2,aes,popcnt")]
fn look_up_by_aes(tier: &HotTier, text: &[u8], start: u32, ends: &[u32], found: &mut Found) {
    let mut twos = [0_u16; GROUP + 8];
    let mut with_second = 0;
    let mut chunk = Chunk {
        starts: [0; CHUNK],
        lengths: [_mm256_setzero_si256(); CHUNK / 8],
        keys: [[_mm256_setzero_si256(); 4]; CHUNK / 8],
    };
    found.missing = 0;
    let mut from = start;
    for (base, ends) in (0..GROUP).step_by(CHUNK).zip(ends.chunks(CHUNK)) {
        measure(&mut chunk, from, ends);
        from = ends.last().copied().unwrap_or(from);
        // Beyond `near`, sixteen bytes cannot be read.
        let farthest = chunk.starts.iter().fold(0, |most, &start| most.max(start)) as usize;
        if text.len().checked_sub(16).is_some_and(|near| farthest <= near) {
            // SAFETY: sixteen bytes from any of the starts are inside the text.
            unsafe { make_keys(&mut chunk, text, &mut found.hashes[base..base + CHUNK]) };
        } else {
            let mut copy = [[0; 16]; CHUNK];
            for ((copy, start), place) in copy.iter_mut().zip(&mut chunk.starts).zip((0..).step_by(16)) {
                *copy = sixteen(text, *start as usize);
                *start = place;
            }
            // SAFETY: the starts are now the places of sixteen bytes each in the copy.
            unsafe { make_keys(&mut chunk, copy.as_flattened(), &mut found.hashes[base..base + CHUNK]) };
        }
        for (eight, number) in (0..ends.len().div_ceil(8)).zip((base..).step_by(8)) {
            // Of the last eight, some may be none.
            let real = (1_u32 << (ends.len() - 8 * eight).min(8)) - 1;
            let (same, two) = compare(tier, &chunk, eight, number, found);
            list(&mut found.misses, &mut found.missing, number, !same & real);
            list(&mut twos, &mut with_second, number, same & two & real);
        }
    }
    for &number in &twos[..with_second] {
        let number = number as usize & (GROUP - 1);
        found.second[number] = tier.seconds[place_of(found.hashes[number])];
    }
}

/// Where the pre-tokens of a chunk begin, and how long they are.
#[inline]
#[target_feature(enable = "avx2")]
fn measure(chunk: &mut Chunk, from: u32, ends: &[u32]) {
    let mut all = [from; CHUNK];
    all[..ends.len()].copy_from_slice(ends);
    chunk.starts[0] = from;
    chunk.starts[1..].copy_from_slice(&all[..CHUNK - 1]);
    if let Some(unused) = chunk.starts.get_mut(ends.len()..) {
        unused.fill(from);
    }
    let (ends, _) = all.as_chunks::<8>();
    let (starts, _) = chunk.starts.as_chunks::<8>();
    for ((length, ends), starts) in chunk.lengths.iter_mut().zip(ends).zip(starts) {
        // Lengths from 1 to 14; all others are too long.
        let less = _mm256_sub_epi32(bytemuck::cast(*ends), bytemuck::cast(*starts));
        let less = _mm256_add_epi32(less, _mm256_set1_epi32(-1));
        let less = _mm256_min_epu32(less, _mm256_set1_epi32(TOO_LONG - 1));
        *length = _mm256_add_epi32(less, _mm256_set1_epi32(1));
    }
}

/// Makes the keys of a chunk, and their hashes.
///
/// # Safety
/// Sixteen bytes from each of the starts on must be inside `text`.
#[inline]
#[target_feature(enable = "avx2,aes")]
unsafe fn make_keys(chunk: &mut Chunk, text: &[u8], hashes: &mut [u32]) {
    let lengths: &[[u32; 8]] = bytemuck::cast_slice(&chunk.lengths);
    let keys: &mut [[__m128i; 8]] = bytemuck::cast_slice_mut(&mut chunk.keys);
    let (starts, _) = chunk.starts.as_chunks::<8>();
    let (hashes, _) = hashes.as_chunks_mut::<8>();
    for (((keys, hashes), starts), lengths) in keys.iter_mut().zip(hashes).zip(starts).zip(lengths) {
        for at in 0..8 {
            // SAFETY: as the caller promises.
            let bytes = unsafe { _mm_loadu_si128(text.as_ptr().add(starts[at] as usize).cast()) };
            let key = _mm_and_si128(bytes, bytemuck::cast(KEPT[lengths[at] as usize & 15]));
            keys[at % 4 * 2 + at / 4] = key;
            hashes[at] = mixed(key);
        }
    }
}

/// What the place of a key comes from.
#[inline]
#[target_feature(enable = "aes")]
fn mixed(key: __m128i) -> u32 {
    let salt = _mm_set1_epi64x(0x9E37_79B9_7F4A_7C15_u64.cast_signed());
    // Two rounds: one mixes only four bytes into each word.
    _mm_cvtsi128_si32(_mm_aesenc_si128(_mm_aesenc_si128(key, salt), salt)).cast_unsigned()
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
#[inline]
#[target_feature(enable = "avx2")]
fn compare(tier: &HotTier, chunk: &Chunk, eight: usize, number: usize, found: &mut Found) -> (u32, u32) {
    let hashes = &found.hashes[number..number + 8];
    let keys = &chunk.keys[eight];
    let mut rows = [_mm256_setzero_si256(); 4];
    for at in 0..4 {
        let low = tier.slots[place_of(hashes[at])].0;
        let high = tier.slots[place_of(hashes[at + 4])].0;
        let slots = _mm256_set_m128i(bytemuck::cast(high), bytemuck::cast(low));
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
fn list(list: &mut [u16], count: &mut usize, number: usize, bits: u32) {
    let places = _mm_cvtepu8_epi16(_mm_cvtsi64_si128(PLACES[bits as usize & 255].cast_signed()));
    let numbers = _mm_add_epi16(places, _mm_set1_epi16((number as u16).cast_signed()));
    if let Some(room) = list.get_mut(*count..*count + 8) {
        room.copy_from_slice(&bytemuck::cast::<_, [u16; 8]>(numbers));
    }
    *count += bits.count_ones() as usize;
}

/// For each four bits, a set one for a pre-token without a second id: which of eight words, first and second id of
/// each, are ids. Behind them, anything.
static KEPT_WORDS: [[u32; 8]; 16] = {
    let mut orders = [[0; 8]; 16];
    let mut bits = 0;
    while bits < 16 {
        let (mut word, mut count) = (0, 0);
        while word < 8 {
            if word % 2 == 0 || bits >> (word / 2) & 1 == 0 {
                orders[bits][count] = word;
                count += 1;
            }
            word += 1;
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
        let words = _mm256_set_m128i(_mm_unpackhi_epi32(first, second), _mm_unpacklo_epi32(first, second));
        let kept = _mm256_permutevar8x32_epi32(words, bytemuck::cast(KEPT_WORDS[alone as usize & 15]));
        if let Some(room) = ids.get_mut(at..at + 8) {
            room.copy_from_slice(&bytemuck::cast::<_, [u32; 8]>(kept));
        }
        at += 8 - alone.count_ones() as usize;
    }
    emit_plainly(rest, rest_second, ids, at)
}
