//! Numbers that the whole core shares.

/// The number of a token, as models see it.
pub type TokenId = u32;

/// The place of a merge in the order in which merges apply: lower first. Not always the id of the result.
pub type Rank = u32;

/// The largest id a tokenizer may use. Higher ids are refused before anything is sized by them.
pub const MAX_TOKEN_ID: TokenId = (1 << 22) - 1;

/// The longest token, in bytes, that a vocabulary may hold.
pub const MAX_TOKEN_BYTES: usize = 1 << 16;

/// The most bytes that all tokens of a vocabulary may have together.
pub const MAX_VOCABULARY_BYTES: usize = 1 << 28;
