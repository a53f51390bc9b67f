//! File formats: bytes to a [`crate::spec::TokenizerSpec`] and back, nothing else.

pub mod minbpe;
pub mod native;
mod protobuf;
mod recover;
pub mod sentencepiece;
pub mod tiktoken;

use crate::error::{Error, Result};

/// The largest tokenizer file that is read.
pub const MAX_FILE_BYTES: usize = 256 << 20;

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
