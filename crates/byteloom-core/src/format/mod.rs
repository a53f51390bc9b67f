//! File formats: bytes to a [`crate::spec::TokenizerSpec`] and back, nothing else.

pub mod gpt2_files;
pub mod hf_json;
mod json;
pub mod minbpe;
pub mod native;
mod protobuf;
mod recover;
pub mod sentencepiece;
pub mod sniff;
pub mod tiktoken;

use crate::error::{Error, Result};
use crate::merge::{MergeScratch, MergeTable};
use crate::spec::{Alphabet, TokenizerSpec};
use crate::token::TokenId;

/// The largest tokenizer file that is read.
pub const MAX_FILE_BYTES: usize = 256 << 20;

/// A file that was written, and what it could not hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// The file.
    pub data: Vec<u8>,
    /// What of the tokenizer is not in it, in words; empty where reading it back gives the same tokenizer.
    pub losses: Vec<String>,
}

/// Refuses a file before anything is built from it.
fn check_size(data: &[u8]) -> Result<()> {
    if data.len() > MAX_FILE_BYTES {
        return Err(Error::format(
            "file",
            format!("has {} bytes; tokenizer files of more than {MAX_FILE_BYTES} are not read", data.len()),
        ));
    }
    Ok(())
}

/// Refuses to write a tokenizer whose symbols are no bytes.
fn check_byte_level(spec: &TokenizerSpec, format: &str) -> Result<()> {
    if spec.alphabet == Alphabet::Bytes {
        return Ok(());
    }
    Err(Error::format(
        "alphabet",
        format!(
            "the symbols of this tokenizer are characters, and {format} holds byte-level ones; save it in \
             byteloom's own format"
        ),
    ))
}

/// The first token that merging its bytes does not give; it is found as a whole only.
fn first_unreachable(spec: &TokenizerSpec) -> Result<Option<TokenId>> {
    let table = MergeTable::new(spec)?;
    let (mut scratch, mut ids) = (MergeScratch::default(), Vec::new());
    Ok(spec.vocab.iter().find_map(|(id, bytes)| {
        ids.clear();
        let length = |id| spec.vocab.bytes(id).map_or(0, <[u8]>::len);
        table.merge(bytes, length, &mut scratch, &mut ids);
        (ids != [id]).then_some(id)
    }))
}

/// The merges in the order of their ranks.
fn merges_by_rank(spec: &TokenizerSpec) -> Vec<(TokenId, TokenId)> {
    let Some(ranks) = &spec.shared_ranks else { return spec.merges.clone() };
    let mut ranked: Vec<_> = ranks.iter().zip(&spec.merges).collect();
    ranked.sort_by_key(|(rank, _)| **rank);
    ranked.into_iter().map(|(_, merge)| *merge).collect()
}

/// What no format but our own holds.
fn common_losses(spec: &TokenizerSpec) -> Vec<String> {
    let mut losses = Vec::new();
    if spec.shared_ranks.is_some() {
        losses.push("shared ranks: merges of one rank become merges one after the other".to_owned());
    }
    losses
}
