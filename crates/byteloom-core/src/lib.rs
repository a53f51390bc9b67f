//! The core of byteloom: byte-level BPE in pure Rust.
#![cfg_attr(not(test), deny(missing_docs))]

pub mod error;
pub mod pretokenize;
pub mod special;
pub mod token;
pub mod train;

pub use error::{Error, Result};
