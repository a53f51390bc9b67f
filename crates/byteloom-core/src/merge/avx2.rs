//! [`super::scan`] with the numbers of a piece in the registers of AVX2.
#![expect(unsafe_code, reason = "functions for a feature of the CPU may only be called where it is there")]

use std::arch::x86_64::{
    __m256i, _mm_cvtsi128_si32, _mm_min_epu32, _mm_shuffle_epi32, _mm256_add_epi32, _mm256_blendv_epi8,
    _mm256_castsi256_si128, _mm256_cmpeq_epi32, _mm256_extracti128_si256, _mm256_min_epu32,
    _mm256_set1_epi32, _mm256_setr_epi32,
};

use super::pairs::{NONE, PairTable};
use super::scan::{Keys, NEVER, PLACE_BITS, Places};

/// That this CPU has AVX2.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx2(());

impl Avx2 {
    pub(super) fn detect() -> Option<Self> {
        (is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt"))
        .then_some(Self(()))
    }

    /// As [`super::scan::merge_portable`].
    #[inline]
    #[expect(clippy::unused_self, reason = "it is the proof that the CPU has the feature")]
    pub(super) fn merge(
        self,
        pairs: &PairTable,
        keys: &Keys,
        places: &mut Places,
        live: u64,
        count: usize,
    ) -> u64 {
        // SAFETY: a value of this type is only made where the CPU has these features.
        unsafe {
            match count {
                0..=8 => merge::<1>(pairs, keys, places, live),
                9..=16 => merge::<2>(pairs, keys, places, live),
                17..=32 => merge::<4>(pairs, keys, places, live),
                _ => merge::<8>(pairs, keys, places, live),
            }
        }
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
fn merge<const BLOCKS: usize>(pairs: &PairTable, keys: &Keys, places: &mut Places, mut live: u64) -> u64 {
    let mut lanes = [_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7); BLOCKS];
    let mut numbers = [_mm256_set1_epi32(-1); BLOCKS];
    for block in 0..BLOCKS {
        numbers[block] = bytemuck::cast::<[u32; 8], __m256i>(keys[block]);
        lanes[block] = _mm256_add_epi32(lanes[block], _mm256_set1_epi32((8 * block as u32).cast_signed()));
    }
    loop {
        let mut least = numbers[0];
        for &other in &numbers[1..] {
            least = _mm256_min_epu32(least, other);
        }
        let half = _mm_min_epu32(_mm256_castsi256_si128(least), _mm256_extracti128_si256::<1>(least));
        let half = _mm_min_epu32(half, _mm_shuffle_epi32::<0x4E>(half));
        let half = _mm_min_epu32(half, _mm_shuffle_epi32::<0xB1>(half));
        let best = _mm_cvtsi128_si32(half).cast_unsigned();
        if best >> PLACE_BITS >= NONE {
            return live;
        }
        let merge = places.merge(best, &mut live, pairs);
        let splat = |number: u32| _mm256_set1_epi32(number.cast_signed());
        let (at, swallowed, left) = (splat(merge.at), splat(merge.swallowed), splat(merge.left));
        let (at_key, left_key, never) = (splat(merge.at_key), splat(merge.left_key), splat(NEVER));
        for (number, &lane) in numbers.iter_mut().zip(&lanes) {
            *number = _mm256_blendv_epi8(*number, never, _mm256_cmpeq_epi32(lane, swallowed));
            *number = _mm256_blendv_epi8(*number, at_key, _mm256_cmpeq_epi32(lane, at));
            *number = _mm256_blendv_epi8(*number, left_key, _mm256_cmpeq_epi32(lane, left));
        }
    }
}
