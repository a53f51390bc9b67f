//! [`super::write_utf8`] with vectors of AVX2.
//!
//! Sixteen characters of ASCII are packed at once. Of others, eight are made together: each has its form of one, two
//! and three bytes computed in a lane of four, the right one is chosen, and a table moves the bytes of four lanes
//! together. Characters of four bytes, which are rare, go one by one.
#![expect(unsafe_code, reason = "functions for a feature of the CPU may only be called where it is there")]

use std::arch::x86_64::{
    __m128i, __m256i, _mm256_add_epi32, _mm256_and_si256, _mm256_blendv_epi8, _mm256_castsi256_ps,
    _mm256_cmpeq_epi32, _mm256_cmpgt_epi32, _mm256_movemask_epi8, _mm256_movemask_ps, _mm256_or_si256,
    _mm256_packus_epi16, _mm256_packus_epi32, _mm256_permutevar8x32_epi32, _mm256_set_m128i,
    _mm256_set1_epi32, _mm256_setr_epi32, _mm256_shuffle_epi8, _mm256_slli_epi32, _mm256_srli_epi32,
    _mm256_testz_si256,
};

use super::{BLOCK, Unit, write_plainly};

/// That this CPU has AVX2.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx2(());

impl Avx2 {
    pub(super) fn detect() -> Option<Self> {
        (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt")).then_some(Self(()))
    }

    /// As [`super::write_plainly`].
    #[expect(clippy::unused_self, reason = "it is the proof that the CPU has the feature")]
    pub(super) fn write<U: Unit>(self, units: &[U], to: &mut [u8], at: usize) -> Result<usize, usize> {
        // SAFETY: a value of this type is only made where the CPU has these features.
        unsafe { write(units, to, at) }
    }
}

/// For four characters, a bit each for those of two bytes and more, and above them for those of three: where the bytes
/// of their lanes go.
static TOGETHER: [[u8; 16]; 256] = {
    let mut all = [[0x80; 16]; 256];
    let mut bits = 0;
    while bits < 256 {
        let (mut lane, mut to) = (0, 0);
        while lane < 4 {
            let length = 1 + (bits >> lane & 1) + (bits >> (lane + 4) & 1);
            let mut byte = 0;
            while byte < length {
                all[bits][to] = (4 * lane + byte) as u8;
                to += 1;
                byte += 1;
            }
            lane += 1;
        }
        bits += 1;
    }
    all
};

#[target_feature(enable = "avx2,popcnt")]
fn write<U: Unit>(units: &[U], to: &mut [u8], mut at: usize) -> Result<usize, usize> {
    let (blocks, rest) = units.as_chunks::<BLOCK>();
    let beyond_ascii = _mm256_set1_epi32(!0x7F);
    for (index, block) in blocks.iter().enumerate() {
        let halves: [[u32; 8]; 2] = bytemuck::cast(block.map(Into::<u32>::into));
        let [low, high]: [__m256i; 2] = bytemuck::cast(halves);
        if _mm256_testz_si256(_mm256_or_si256(low, high), beyond_ascii) == 1 {
            let packed = _mm256_packus_epi32(low, high);
            let packed = _mm256_packus_epi16(packed, packed);
            // Packing goes by halves of a vector.
            let packed = _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 0, 4, 1, 5));
            if let Some(room) = to.get_mut(at..at + 16) {
                room.copy_from_slice(&bytemuck::cast::<_, [u8; 32]>(packed)[..16]);
            }
            at += 16;
            continue;
        }
        for (half, wide) in [low, high].into_iter().enumerate() {
            at = match write_eight(wide, to, at) {
                Some(end) => end,
                None => write_plainly(&block[8 * half..8 * half + 8], to, at)
                    .map_err(|at| BLOCK * index + 8 * half + at)?,
            };
        }
    }
    write_plainly(rest, to, at).map_err(|at| BLOCK * blocks.len() + at)
}

/// Eight characters of up to three bytes; `None` where one of them is longer, or none.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn write_eight(wide: __m256i, to: &mut [u8], at: usize) -> Option<usize> {
    let all = _mm256_set1_epi32;
    let surrogates = _mm256_cmpeq_epi32(_mm256_and_si256(wide, all(!0x7FF)), all(0xD800));
    let beyond = _mm256_or_si256(surrogates, _mm256_and_si256(wide, all(!0xFFFF)));
    if _mm256_testz_si256(beyond, beyond) == 0 {
        return None;
    }
    let six = all(0x3F);
    let last = _mm256_or_si256(_mm256_and_si256(wide, six), all(0x80));
    let middle = _mm256_or_si256(_mm256_and_si256(_mm256_srli_epi32::<6>(wide), six), all(0x80));
    let three = _mm256_or_si256(
        _mm256_add_epi32(_mm256_srli_epi32::<12>(wide), all(0xE0)),
        _mm256_or_si256(_mm256_slli_epi32::<8>(middle), _mm256_slli_epi32::<16>(last)),
    );
    let has_three = _mm256_cmpgt_epi32(wide, all(0x7FF));
    if _mm256_movemask_epi8(has_three) == -1 {
        return Some(store(three, [0xFF; 2], to, at));
    }
    let has_two = _mm256_cmpgt_epi32(wide, all(0x7F));
    let two = _mm256_or_si256(
        _mm256_add_epi32(_mm256_srli_epi32::<6>(wide), all(0xC0)),
        _mm256_slli_epi32::<8>(last),
    );
    let bytes = _mm256_blendv_epi8(_mm256_blendv_epi8(wide, two, has_two), three, has_three);
    let has_two = _mm256_movemask_ps(_mm256_castsi256_ps(has_two)).cast_unsigned() as usize;
    let has_three = _mm256_movemask_ps(_mm256_castsi256_ps(has_three)).cast_unsigned() as usize;
    let bits = [has_two & 15 | (has_three & 15) << 4, has_two >> 4 & 15 | has_three & 0xF0];
    Some(store(bytes, bits, to, at))
}

/// Writes the bytes of eight lanes, as the bits of two times four say; gives the end.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn store(bytes: __m256i, bits: [usize; 2], to: &mut [u8], mut at: usize) -> usize {
    let order = bits.map(|bits| bytemuck::cast::<_, __m128i>(TOGETHER[bits]));
    let bytes = _mm256_shuffle_epi8(bytes, _mm256_set_m128i(order[1], order[0]));
    let bytes: [[u8; 16]; 2] = bytemuck::cast(bytes);
    for (bytes, bits) in bytes.iter().zip(bits) {
        if let Some(room) = to.get_mut(at..at + 16) {
            room.copy_from_slice(bytes);
        }
        at += 4 + bits.count_ones() as usize;
    }
    at
}
