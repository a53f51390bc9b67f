//! Decoding a token at a time, without ever showing half a character.

use crate::error::{Error, Result};
use crate::token::TokenId;
use crate::tokenizer::{DecodeStart, Tokenizer};
use crate::utf8;

/// Holds back the bytes that may still become a character.
#[derive(Clone, Debug)]
pub struct StreamDecoder {
    tokenizer: Tokenizer,
    skip_special: bool,
    pending: Vec<u8>,
    start: DecodeStart,
}

impl StreamDecoder {
    /// A decoder for `tokenizer`.
    pub fn new(tokenizer: Tokenizer, skip_special: bool) -> Self {
        Self { start: tokenizer.decode_start(), tokenizer, skip_special, pending: Vec::new() }
    }

    /// The text that `ids` complete. Bytes that can never become a character show as U+FFFD.
    ///
    /// # Errors
    /// An id that stands for nothing, with its position in `ids`; the decoder is then as it was before.
    pub fn feed(&mut self, ids: &[TokenId]) -> Result<String> {
        let (before, mut start) = (self.pending.len(), self.start);
        for (position, &id) in ids.iter().enumerate() {
            if let Some(piece) = self.tokenizer.decode_token(id, self.skip_special, &mut start) {
                self.pending.extend_from_slice(piece);
            } else {
                self.pending.truncate(before);
                return Err(Error::unknown_token(id, position));
            }
        }
        self.start = start;
        let mut text = String::new();
        let held_back = utf8::push_lossy(&self.pending, &mut text);
        self.pending.drain(..self.pending.len() - held_back);
        Ok(text)
    }

    /// Ends the stream: an unfinished character shows as one U+FFFD. The decoder may be used again.
    pub fn flush(&mut self) -> String {
        self.start = self.tokenizer.decode_start();
        if self.pending.is_empty() {
            return String::new();
        }
        self.pending.clear();
        char::REPLACEMENT_CHARACTER.to_string()
    }
}
