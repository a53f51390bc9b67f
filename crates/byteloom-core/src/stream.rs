//! Decoding a token at a time, without ever showing half a character.

use crate::error::Result;
use crate::token::TokenId;
use crate::tokenizer::Tokenizer;
use crate::utf8;

/// Holds back the bytes that may still become a character.
#[derive(Clone, Debug)]
pub struct StreamDecoder {
    tokenizer: Tokenizer,
    skip_special: bool,
    pending: Vec<u8>,
}

impl StreamDecoder {
    /// A decoder for `tokenizer`.
    pub fn new(tokenizer: Tokenizer, skip_special: bool) -> Self {
        Self { tokenizer, skip_special, pending: Vec::new() }
    }

    /// The text that `ids` complete. Bytes that can never become a character show as U+FFFD.
    ///
    /// # Errors
    /// An id that stands for nothing, with its position in `ids`; the decoder is then as it was before.
    pub fn feed(&mut self, ids: &[TokenId]) -> Result<String> {
        let before = self.pending.len();
        if let Err(error) = self.tokenizer.decode_into(ids, self.skip_special, &mut self.pending) {
            self.pending.truncate(before);
            return Err(error);
        }
        let mut text = String::new();
        let held_back = utf8::push_lossy(&self.pending, &mut text);
        self.pending.drain(..self.pending.len() - held_back);
        Ok(text)
    }

    /// Ends the stream: an unfinished character shows as one U+FFFD. The decoder may be used again.
    pub fn flush(&mut self) -> String {
        if self.pending.is_empty() {
            return String::new();
        }
        self.pending.clear();
        char::REPLACEMENT_CHARACTER.to_string()
    }
}
