//! The core of byteloom: byte-level BPE in pure Rust.
//!
//! A tokenizer is plain data, a [`spec::TokenizerSpec`]. Trainers and readers make one, writers read it, and
//! [`tokenizer::Tokenizer`] compiles it once and never changes.
//!
//! ```
//! use byteloom_core::{pretokenize::PreTokenizer, spec::{SpecialPosition, TokenizerSpec}, tokenizer::Tokenizer};
//!
//! let merges = [(b't'.into(), b'h'.into()), (256, b'e'.into())];
//! let spec = TokenizerSpec::from_merges(&merges, PreTokenizer::new("gpt2")?, &[], SpecialPosition::Last)?;
//! let tokenizer = Tokenizer::new(spec, 0)?;
//! let mut ids = Vec::new();
//! tokenizer.encode_into("the thaw".as_bytes(), tokenizer.deny_all(), &mut ids, &mut || Ok(()))?;
//! assert_eq!(ids, [257, 32, 256, 97, 119]);
//! # Ok::<(), byteloom_core::Error>(())
//! ```

pub mod cache;
pub mod change;
mod encode;
pub mod entropy;
pub mod error;
pub mod explain;
pub mod files;
pub mod format;
mod hot;
mod large;
pub mod letters;
pub mod merge;
pub mod normalize;
pub mod offsets;
pub mod parallel;
pub mod patch;
mod prefetch;
pub mod pretokenize;
pub mod spec;
pub mod special;
pub mod stream;
pub mod token;
mod token_bytes;
pub mod tokenizer;
pub mod train;
pub mod utf8;
pub mod vocab;
mod whole_tokens;
pub mod wide;

pub use error::{Error, Result};
