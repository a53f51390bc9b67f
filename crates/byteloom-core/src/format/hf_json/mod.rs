//! Hugging Face's `tokenizer.json`, as far as it is byte-level BPE.
//!
//! What the file says is honoured or refused by name; unknown keys are refused wherever they could change ids.

mod dialect;
mod merges;
mod quick;
mod read;
mod roles;
#[cfg(test)]
mod tests;
mod write;

pub(super) use read::{find_merges, read_vocab};
pub use read::{read, read_plain, with_config};
pub(super) use write::check_spelled_alike;
pub use write::{PAD_LOSS, write, write_config};

/// Where [`read`] keeps facts of a file that are no part of what a tokenizer does, in its metadata.
const METADATA: &str = "huggingface";
