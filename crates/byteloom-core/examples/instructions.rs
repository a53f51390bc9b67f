//! Work of a fixed size for an instruction counter: `instructions WORK`, with `BYTELOOM_SIMD` for the path.
//!
//! Only what runs below `measured` is to be counted: `benchmarks/instructions.py` tells callgrind so. The text, the
//! vocabulary and so the ids are the same everywhere; a checksum of the result goes to standard output.
#![expect(clippy::print_stdout, reason = "a program")]

use std::hint::black_box;

use byteloom_core::pretokenize::Window;
use byteloom_core::tokenizer::Tokenizer;
use byteloom_core::{Error, Result};

#[path = "../benches/sample/mod.rs"]
mod sample;

/// What is learned from; the measured text is longer, so that it has words that are no tokens.
const TRAINING_BYTES: usize = 64 << 10;
const TEXT_BYTES: usize = 256 << 10;
const MERGES: usize = 2_000;
const CACHE_BYTES: usize = 64 << 20;

/// Everything counted runs in here.
#[inline(never)]
fn measured(work: &mut dyn FnMut() -> Result<u64>) -> Result<u64> {
    work()
}

fn checksum(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0, |sum: u64, number| sum.rotate_left(5) ^ number)
}

fn main() -> Result<()> {
    let work = std::env::args().nth(1).unwrap_or_default();
    let text = sample::text(TEXT_BYTES).into_bytes();
    let spec = sample::spec(&text[..TRAINING_BYTES], "cl100k", MERGES)?;
    let tokenizer = Tokenizer::new(spec, CACHE_BYTES)?;
    let encode = |text: &[u8], ids: &mut Vec<u32>| {
        ids.clear();
        tokenizer.encode_into(text, tokenizer.ordinary(), ids, &mut || Ok(()))
    };
    let mut ids = Vec::with_capacity(text.len());
    // Tables that are built at the first call are no part of any pass.
    encode(b"warm up", &mut ids)?;
    let result = match work.as_str() {
        "encode-first" => {
            measured(&mut || encode(black_box(&text), &mut ids).map(|()| ids.len() as u64))?;
            checksum(ids.iter().map(|&id| id.into()))
        }
        "encode-second" => {
            encode(&text, &mut ids)?;
            measured(&mut || encode(black_box(&text), &mut ids).map(|()| ids.len() as u64))?;
            checksum(ids.iter().map(|&id| id.into()))
        }
        "decode" => {
            encode(&text, &mut ids)?;
            let mut bytes = Vec::with_capacity(text.len() + 64);
            measured(&mut || {
                tokenizer.decode_into(black_box(&ids), false, &mut bytes).map(|()| bytes.len() as u64)
            })?;
            checksum(bytes.iter().map(|&byte| byte.into()))
        }
        "pretokenize" => {
            let mut window = Window::default();
            measured(&mut || {
                let (mut blocks, mut sum) = (tokenizer.pretokenizer().blocks(black_box(&text)), 0);
                while blocks.next_window(&mut window)? {
                    sum += black_box(&window.ends).len() as u64;
                }
                Ok(sum)
            })?
        }
        other => {
            return Err(Error::Argument(format!(
                "{other:?} is no work; there are encode-first, encode-second, decode and pretokenize"
            )));
        }
    };
    println!("{result:016x}");
    Ok(())
}
