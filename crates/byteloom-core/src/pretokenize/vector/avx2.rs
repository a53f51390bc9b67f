//! What runs on AVX2, and the doors to it.
#![expect(unsafe_code, reason = "code for a CPU feature may only be entered once the CPU was asked for it")]

use std::arch::x86_64::{
    __m256i, _mm_cvtsi64_si128, _mm256_add_epi8, _mm256_add_epi32, _mm256_cmpeq_epi8, _mm256_cmpgt_epi8,
    _mm256_cvtepu8_epi32, _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8, _mm256_set1_epi32,
};

use super::masks::{BLOCK_BYTES, Classes, Letters, Masks, Spaces};
use super::paint::Common;
use super::positions::{PLACES, push_bytes};
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

    #[inline(always)]
    fn push(self, ends: &mut Vec<u32>, base: u32, bits: u64) {
        // SAFETY: as above.
        unsafe { push_places(ends, base, bits) }
    }

    #[inline(always)]
    fn common(self, block: &[u8; BLOCK_BYTES]) -> Common {
        // SAFETY: as above.
        unsafe { common(block) }
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

/// Characters of scripts in common use, found by their bytes; ranges in which all code points are of one class.
#[target_feature(enable = "avx2")]
fn common(block: &[u8; BLOCK_BYTES]) -> Common {
    let halves: [__m256i; 2] = bytemuck::cast(*block);
    let range = |first, last| between(halves, first, last);
    let inner = range(0x80, 0xBF);
    // U+4E00 to U+9FFF (with most of E4: U+4000 to U+4DBF), and the Hangul syllables from U+B000 to U+CFFF.
    let mut caseless = range(0xE5, 0xE9) | range(0xEB, 0xEC);
    let other_leads = equal(halves, 0xE3) | equal(halves, 0xE4) | range(0xEA, 0xEF) & !caseless;
    let mut plain = 0;
    if other_leads != 0 {
        // The hexagrams are U+4DC0 to U+4DFF.
        caseless |= equal(halves, 0xE4) & !(equal(halves, 0xB7) >> 1);
        // U+AC00 to U+AFFF and U+D000 to U+D77F.
        caseless |= equal(halves, 0xEA) & range(0xB0, 0xBF) >> 1;
        caseless |= equal(halves, 0xED) & range(0x80, 0x9D) >> 1;
        let kana = equal(halves, 0xE3);
        let hiragana = equal(halves, 0x81) >> 1 & range(0x81, 0xBF) >> 2;
        let mixed = equal(halves, 0x82) >> 1 & (range(0x80, 0x96) | range(0xA1, 0xBF)) >> 2;
        let katakana = equal(halves, 0x83) >> 1 & (range(0x80, 0xBA) | range(0xBC, 0xBF)) >> 2;
        caseless |= kana & (hiragana | mixed | katakana);
        // The ideographic comma and full stop, brackets, fullwidth punctuation.
        let brackets = range(0x81, 0x82) | range(0x88, 0x91);
        plain |= kana & equal(halves, 0x80) >> 1 & brackets >> 2;
        let fullwidth = range(0x81, 0x8F) | range(0x9A, 0xA0);
        plain |= equal(halves, 0xEF) & equal(halves, 0xBC) >> 1 & fullwidth >> 2;
    }
    let three = inner >> 1 & inner >> 2;
    // U+0400 to U+047F, U+0100 to U+027F, most of U+00C0 to U+00FF.
    let latin = equal(halves, 0xC3) & !(equal(halves, 0x97) >> 1 | equal(halves, 0xB7) >> 1);
    let two = (range(0xD0, 0xD1) | range(0xC4, 0xC9) | latin) & inner >> 1;
    Common { caseless: caseless & three, plain: plain & three, two }
}

/// Appends `base` plus the place of each set bit: a table gives the places of eight bits at once. How many there are
/// is no branch.
#[target_feature(enable = "avx2,popcnt")]
fn push_places(ends: &mut Vec<u32>, base: u32, bits: u64) {
    let mut base = _mm256_set1_epi32(base.cast_signed());
    push_bytes(ends, bits, |byte| {
        let places = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(PLACES[byte as usize].cast_signed()));
        let here = _mm256_add_epi32(places, base);
        base = _mm256_add_epi32(base, _mm256_set1_epi32(8));
        bytemuck::cast(here)
    });
}
