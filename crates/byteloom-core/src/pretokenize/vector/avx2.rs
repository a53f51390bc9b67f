//! What runs on AVX2, and the doors to it.
#![expect(unsafe_code, reason = "code for a CPU feature may only be entered once the CPU was asked for it")]

use std::arch::x86_64::{
    __m256i, _mm256_add_epi8, _mm256_cmpeq_epi8, _mm256_cmpgt_epi8, _mm256_movemask_epi8, _mm256_or_si256,
    _mm256_set1_epi8,
};

use super::masks::{BLOCK_BYTES, Classes, Letters, Masks, Spaces};
use super::{Kernel, Scan, scan_window};
use crate::pretokenize::Window;

/// Proof that the CPU has AVX2, BMI1, BMI2, LZCNT and POPCNT.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx2(());

impl Avx2 {
    pub(super) fn new() -> Option<Self> {
        let has = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt");
        has.then_some(Self(()))
    }

    pub(super) fn scan<S: Scan>(self, text: &[u8], window: &mut Window) {
        // SAFETY: the CPU has the features, or there were no `Avx2`.
        unsafe { scan::<S>(self, text, window) }
    }
}

impl Kernel for Avx2 {
    #[inline(always)]
    fn classify<C: Classes>(self, blocks: &[[u8; BLOCK_BYTES]], masks: &mut [Masks]) {
        // SAFETY: as above.
        unsafe { classify::<C>(blocks, masks) }
    }
}

/// The whole scan, with the bit instructions but without AVX2: with it, LLVM would turn the algebra of words into
/// slow vector code.
#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
fn scan<S: Scan>(kernel: Avx2, text: &[u8], window: &mut Window) {
    scan_window::<S, Avx2>(kernel, text, window);
}

/// The ASCII classes of blocks.
#[target_feature(enable = "avx2")]
fn classify<C: Classes>(blocks: &[[u8; BLOCK_BYTES]], masks: &mut [Masks]) {
    for (block, masks) in blocks.iter().zip(masks) {
        let halves: [__m256i; 2] = bytemuck::cast(*block);
        let ascii = const { &C::ASCII };
        match ascii.letters {
            Letters::None => {}
            Letters::Any => masks.letter = either_case(halves),
            Letters::Cased => {
                masks.upper = between(halves, b'A', b'Z');
                masks.lower = between(halves, b'a', b'z');
                masks.letter = masks.upper | masks.lower;
            }
            Letters::Word => {
                masks.letter = either_case(halves) | between(halves, b'0', b'9') | equal(halves, b'_');
            }
        }
        if ascii.numbers {
            masks.number = between(halves, b'0', b'9');
        }
        let blank = equal(halves, b' ');
        if ascii.blank {
            masks.blank = blank;
        }
        match ascii.spaces {
            Spaces::None => {}
            Spaces::Regex => masks.space = blank | between(halves, 9, 13),
            Spaces::Python => masks.space = blank | between(halves, 9, 13) | between(halves, 0x1C, 0x1F),
        }
        if ascii.newline {
            masks.newline = equal(halves, b'\n') | equal(halves, b'\r');
        }
        if ascii.quote {
            masks.quote = equal(halves, b'\'');
        }
        if let Some(extra) = ascii.extra {
            masks.extra = equal(halves, extra);
        }
        masks.mark = 0;
        masks.inner = bits(halves);
    }
}

/// The top bits of the bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn bits(halves: [__m256i; 2]) -> u64 {
    let [low, high] = halves.map(|half| u64::from(_mm256_movemask_epi8(half).cast_unsigned()));
    low | high << 32
}

#[inline]
#[target_feature(enable = "avx2")]
fn equal(halves: [__m256i; 2], byte: u8) -> u64 {
    bits(halves.map(|half| _mm256_cmpeq_epi8(half, _mm256_set1_epi8(byte.cast_signed()))))
}

/// Bytes from `first` to `last`, both ASCII.
#[inline]
#[target_feature(enable = "avx2")]
fn between(halves: [__m256i; 2], first: u8, last: u8) -> u64 {
    // The range moved to the bottom of the signed numbers takes one comparison.
    let down = 0x80_u8.wrapping_sub(first).cast_signed();
    let limit = (0x80 + (last - first + 1)).cast_signed();
    bits(halves.map(|half| {
        let moved = _mm256_add_epi8(half, _mm256_set1_epi8(down));
        _mm256_cmpgt_epi8(_mm256_set1_epi8(limit), moved)
    }))
}

/// ASCII letters.
#[inline]
#[target_feature(enable = "avx2")]
fn either_case(halves: [__m256i; 2]) -> u64 {
    let lower = halves.map(|half| _mm256_or_si256(half, _mm256_set1_epi8(0x20)));
    between(lower, b'a', b'z')
}
