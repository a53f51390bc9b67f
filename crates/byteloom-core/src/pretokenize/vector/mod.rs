//! The scanners by blocks of 64 bytes.
//!
//! A block becomes masks, a bit a byte, for the classes of the pattern: ASCII by vector compares or a table, all else
//! by the Unicode table (`paint.rs`). Where pre-tokens start is then algebra of whole words, in a file for each family
//! of patterns: it sees the masks of this block and of the next one, and carries what it must know of the blocks
//! before. Set bits become positions at last.
//!
//! The scalar scanners say what is right; the tests compare. They also take over where the algebra cannot decide (see
//! [`Scan::starts`]), which is rare, and read texts that are too short to be worth a block.

#![expect(clippy::inline_always, reason = "all is part of one loop, compiled for the features of a CPU")]

#[cfg(target_arch = "x86_64")]
mod avx2;
mod cl100k;
mod course;
mod gpt2;
mod masks;
mod o200k;
mod paint;
mod path;
mod positions;
mod spaces;

use super::scheme::Scheme;
use super::{WINDOW_BYTES, Window};
use cl100k::{Cl100k, Llama3, Qwen2};
use course::{CourseGpt2, CourseWords, CourseWs, SentencePiece, Simple};
use gpt2::Gpt2;
use masks::{BLOCK_BYTES, Classes, END_BYTE, Masks, classify_portable};
use o200k::O200k;
use paint::{Common, Straddler, paint};
pub(super) use path::chosen;
pub use path::{SimdPath, simd_path};
#[cfg(target_arch = "x86_64")]
pub(crate) use positions::PLACES;

/// How many blocks are classified at once.
const CHUNK: usize = 16;

/// A pattern as algebra. The value is what it carries from block to block; the default, that of a first block.
trait Scan: Classes + Default {
    /// The end of the pre-token that starts at the second argument, by the scalar scanner.
    fn scalar(text: &[u8], start: usize) -> usize;

    /// The bytes of the block at which a pre-token starts, given its masks and those of the next block; `text` and
    /// `base`, the place of the block in it, serve for a look ahead. Bit 0 of a first block means nothing.
    ///
    /// `None` where this cannot be told. What was told of the blocks before still holds.
    fn starts(&mut self, masks: &Masks, next: &Masks, text: &[u8], base: usize) -> Option<u64>;
}

/// Code that depends on the CPU.
trait Kernel: Copy {
    /// The ASCII classes of blocks, in as many masks.
    fn classify<C: Classes>(self, blocks: &[[u8; BLOCK_BYTES]], masks: &mut [Masks]);

    /// Appends `base` plus the place of each set bit.
    #[inline(always)]
    fn push(self, ends: &mut Vec<u32>, base: u32, bits: u64) {
        positions::push(ends, base, bits);
    }

    /// Characters beyond ASCII whose class is told quickly; as few as it likes.
    #[inline(always)]
    fn common(self, _: &[u8; BLOCK_BYTES]) -> Common {
        Common::default()
    }
}

#[derive(Clone, Copy, Debug)]
struct Portable;

impl Kernel for Portable {
    #[inline(always)]
    fn classify<C: Classes>(self, blocks: &[[u8; BLOCK_BYTES]], masks: &mut [Masks]) {
        for (block, masks) in blocks.iter().zip(masks) {
            classify_portable::<C>(block, masks);
        }
    }
}

/// Fills `window`, an empty one inside `text`, with the pre-tokens from its start on.
pub(super) fn fill(scheme: Scheme, path: SimdPath, text: &[u8], window: &mut Window) {
    let fill = match scheme {
        Scheme::Gpt2 => fill_by::<Gpt2>,
        Scheme::Cl100k => fill_by::<Cl100k>,
        Scheme::O200k => fill_by::<O200k>,
        Scheme::Llama3 => fill_by::<Llama3>,
        Scheme::Qwen2 => fill_by::<Qwen2>,
        Scheme::Simple => fill_by::<Simple>,
        Scheme::CourseWords => fill_by::<CourseWords>,
        Scheme::CourseWs => fill_by::<CourseWs>,
        Scheme::CourseGpt2 => fill_by::<CourseGpt2>,
        Scheme::SentencePiece => fill_by::<SentencePiece>,
        Scheme::Whole => fill_whole,
    };
    fill(path, text, window);
}

fn fill_whole(_: SimdPath, text: &[u8], window: &mut Window) {
    window.take(text.len());
}

fn fill_by<S: Scan>(path: SimdPath, text: &[u8], window: &mut Window) {
    match path {
        SimdPath::Scalar => scan_scalar::<S>(text, window),
        SimdPath::Portable => scan_portable::<S>(text, window),
        SimdPath::Avx2 => {
            #[cfg(target_arch = "x86_64")]
            if let Some(avx2) = avx2::Avx2::new() {
                return avx2.scan::<S>(text, window);
            }
            scan_portable::<S>(text, window);
        }
    }
}

fn scan_portable<S: Scan>(text: &[u8], window: &mut Window) {
    scan_window::<S, Portable>(Portable, text, window);
}

fn scan_scalar<S: Scan>(text: &[u8], window: &mut Window) {
    while window.end < text.len() {
        let end = S::scalar(text, window.end);
        if !window.take(end) {
            break;
        }
    }
}

/// Classifies the blocks of `text` from `base` on, as many as there are `masks`; behind the text all is white space.
#[inline(always)]
fn classify<C: Classes, K: Kernel>(
    kernel: K,
    text: &[u8],
    base: usize,
    masks: &mut [Masks],
    straddler: &mut Straddler,
) {
    let rest = text.get(base..).unwrap_or_default();
    let (blocks, tail) = rest.as_chunks::<BLOCK_BYTES>();
    let whole = blocks.len().min(masks.len());
    let (full, behind) = masks.split_at_mut(whole);
    kernel.classify::<C>(&blocks[..whole], full);
    let mut tail = if blocks.len() > whole { &[][..] } else { tail };
    for masks in behind {
        let mut block = [END_BYTE; BLOCK_BYTES];
        block[..tail.len()].copy_from_slice(tail);
        tail = &[];
        kernel.classify::<C>(&[block], std::slice::from_mut(masks));
    }
    if C::BEYOND_ASCII {
        paint::<C, K>(kernel, text, base, masks, straddler);
    }
}

/// Fills `window`, an empty one inside `text`.
///
/// What is before a pre-token does not matter to it, so each window begins anew at its first byte.
#[inline(always)]
fn scan_window<S: Scan, K: Kernel>(kernel: K, text: &[u8], window: &mut Window) {
    let rest = &text[window.start..];
    let mut base = 0;
    // At most one turn more than there are blocks that the algebra cannot decide.
    while let Some(undecided) = scan_blocks::<S, K>(kernel, rest, base, &mut window.ends) {
        // The scalar scanner goes on from the last start to the end of the block.
        let mut at = window.ends.last().map_or(0, |&end| end as usize);
        while at < undecided + BLOCK_BYTES && at < rest.len() {
            at = S::scalar(rest, at);
            match u32::try_from(at) {
                Ok(end) => window.ends.push(end),
                Err(_) => break,
            }
        }
        if at >= rest.len() || at >= WINDOW_BYTES {
            break;
        }
        base = at;
    }
    // A pre-token that reaches out of the window is left to the next one, unless it is the only one.
    while let [_, .., last] = window.ends[..]
        && last as usize > WINDOW_BYTES
    {
        window.ends.pop();
    }
    window.end = match window.ends.last() {
        Some(&end) => window.start + end as usize,
        // Longer than 4 GiB.
        None => S::scalar(text, window.start),
    };
}

/// Appends the ends from `first`, where a pre-token starts, to `ends`, until the window is full and has an end, or
/// the text is used up. `Some` is the place of a block that the algebra cannot decide.
#[inline(always)]
fn scan_blocks<S: Scan, K: Kernel>(
    kernel: K,
    text: &[u8],
    first: usize,
    ends: &mut Vec<u32>,
) -> Option<usize> {
    let mut masks = [Masks::default(); CHUNK + 1];
    let mut straddler = Straddler::default();
    let mut scan = S::default();
    let mut base = first;
    classify::<S, K>(kernel, text, base, &mut masks[..1], &mut straddler);
    let mut keep = !1;
    // Few blocks at first: what is classified ahead is lost where a block cannot be decided, or the text ends.
    let mut count = 2;
    loop {
        count = (2 * count).min(CHUNK).min((text.len() - base) / BLOCK_BYTES + 1);
        if base < WINDOW_BYTES {
            count = count.min((WINDOW_BYTES - base).div_ceil(BLOCK_BYTES));
        }
        classify::<S, K>(kernel, text, base + BLOCK_BYTES, &mut masks[1..=count], &mut straddler);
        ends.reserve(count * BLOCK_BYTES + positions::ROOM);
        for pair in masks[..=count].windows(2) {
            let [masks, next] = pair else { continue };
            let Some(starts) = scan.starts(masks, next, text, base) else { return Some(base) };
            let starts = starts & keep;
            keep = !0;
            let left = text.len() - base;
            if left < BLOCK_BYTES {
                let end = 1_u64 << left;
                kernel.push(ends, base as u32, starts & (end - 1) | end);
                // A text that ends where a block does has its end in an empty one, and no bit 0 kept.
                return None;
            }
            kernel.push(ends, base as u32, starts);
            base += BLOCK_BYTES;
        }
        if base >= WINDOW_BYTES && !ends.is_empty() || base > u32::MAX as usize - CHUNK * BLOCK_BYTES {
            return None;
        }
        masks[0] = masks[count];
    }
}
