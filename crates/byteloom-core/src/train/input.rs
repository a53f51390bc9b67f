//! Reads a document block by block and settles what happens to invalid UTF-8.

use std::io::Read;
use std::path::Path;

use crate::error::{Error, Result};

/// What to do with bytes of a file that are not UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidUtf8 {
    /// Refuse the file, naming the first such byte.
    Strict,
    /// Put U+FFFD in the place of each maximal sequence that is not UTF-8.
    Replace,
    /// Train on the bytes as they are.
    Keep,
}

/// A file in the course of being read: the text that is not counted yet.
pub(crate) struct Document<'r> {
    reader: &'r mut (dyn Read + Send),
    path: &'r Path,
    invalid: InvalidUtf8,
    /// Text, and behind `checked` up to 3 bytes of a character that the next block goes on with.
    buffer: Vec<u8>,
    checked: usize,
    /// Where in the file the byte at `checked` stands.
    offset: u64,
    /// Bytes that U+FFFD has taken the place of.
    pub(crate) replaced: u64,
    pub(crate) at_end: bool,
}

impl<'r> Document<'r> {
    pub(crate) fn new(reader: &'r mut (dyn Read + Send), path: &'r Path, invalid: InvalidUtf8) -> Self {
        Self { reader, path, invalid, buffer: Vec::new(), checked: 0, offset: 0, replaced: 0, at_end: false }
    }

    /// The text read and not yet dropped: all that is left once `at_end` is set.
    pub(crate) fn text(&self) -> &[u8] {
        &self.buffer[..self.checked]
    }

    /// How much of the file has been read and checked, in bytes as they stand there.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.offset
    }

    /// Forgets the first `length` bytes of the text.
    pub(crate) fn drop_front(&mut self, length: usize) {
        self.buffer.drain(..length);
        self.checked -= length;
    }

    /// Moves the first `length` bytes of the text to `text`, in place of what is there; its memory is used again.
    pub(crate) fn take_front(&mut self, length: usize, text: &mut Vec<u8>) {
        text.clear();
        text.extend_from_slice(&self.buffer[length..]);
        std::mem::swap(&mut self.buffer, text);
        text.truncate(length);
        self.checked -= length;
    }

    /// Reads `block` bytes more, or as many as are left.
    pub(crate) fn read(&mut self, block: usize) -> Result<()> {
        let wanted = block.max(1);
        let failed = |error| Error::io(self.path, error);
        self.buffer.try_reserve(wanted).map_err(|_| {
            Error::Training(format!(
                "{}: no memory for {} bytes in a row; the pattern has no place to cut this text",
                self.path.display(),
                self.buffer.len() + wanted
            ))
        })?;
        let got = (&mut *self.reader).take(wanted as u64).read_to_end(&mut self.buffer).map_err(failed)?;
        self.at_end = got < wanted;
        match self.invalid {
            InvalidUtf8::Keep => self.accept(self.buffer.len()),
            InvalidUtf8::Strict => self.check()?,
            InvalidUtf8::Replace => self.replace(),
        }
        Ok(())
    }

    fn accept(&mut self, end: usize) {
        self.offset += (end - self.checked) as u64;
        self.checked = end;
    }

    fn check(&mut self) -> Result<()> {
        let (valid, bad) = self.next_invalid();
        self.accept(self.checked + valid);
        if bad.is_none() {
            return Ok(());
        }
        Err(Error::Text(format!(
            "{}: invalid UTF-8 at byte {} (0x{:02x}); repair the file, or choose to replace or to keep such bytes",
            self.path.display(),
            self.offset,
            self.buffer[self.checked]
        )))
    }

    fn replace(&mut self) {
        let (mut valid, mut bad) = self.next_invalid();
        if bad.is_none() {
            return self.accept(self.checked + valid);
        }
        // Rare: go on in a copy of the rest, since U+FFFD may be longer than what it replaces.
        let rest = self.buffer.split_off(self.checked);
        let mut start = 0;
        while let Some(length) = bad {
            self.buffer.extend_from_slice(&rest[start..start + valid]);
            self.buffer.extend_from_slice("\u{FFFD}".as_bytes());
            self.replaced += length as u64;
            start += valid + length;
            (valid, bad) = invalid_in(&rest[start..], self.at_end);
        }
        self.offset += start as u64;
        self.checked = self.buffer.len();
        self.buffer.extend_from_slice(&rest[start..]);
        self.accept(self.checked + valid);
    }

    fn next_invalid(&self) -> (usize, Option<usize>) {
        invalid_in(&self.buffer[self.checked..], self.at_end)
    }
}

/// How many bytes of `bytes` are valid, and how long the invalid sequence behind them is, if there is one. An
/// unfinished character is invalid only at the end of the file.
fn invalid_in(bytes: &[u8], at_end: bool) -> (usize, Option<usize>) {
    match simdutf8::compat::from_utf8(bytes) {
        Ok(_) => (bytes.len(), None),
        Err(error) => {
            let valid = error.valid_up_to();
            let unfinished = at_end.then_some(bytes.len() - valid);
            (valid, error.error_len().or(unfinished))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// [`invalid_in`] by the standard library.
    fn plain(bytes: &[u8], at_end: bool) -> (usize, Option<usize>) {
        std::str::from_utf8(bytes).map_or_else(
            |error| {
                let valid = error.valid_up_to();
                (valid, error.error_len().or(at_end.then_some(bytes.len() - valid)))
            },
            |_| (bytes.len(), None),
        )
    }

    #[test]
    fn broken_bytes_are_found_where_the_standard_library_finds_them() {
        let mut state = 7_u64;
        let mut random = move |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let pieces = ["a", "some words of English, ", "é", "漢", "🚀", "\u{10FFFF}", "\u{800}", "\u{D7FF}"];
        for _ in 0..4_000 {
            let mut bytes: Vec<u8> =
                (0..random(60)).flat_map(|_| pieces[random(pieces.len())].bytes()).collect();
            for _ in 0..random(3).min(bytes.len()) {
                let at = random(bytes.len());
                bytes[at] = [0x80, 0xBF, 0xC0, 0xC2, 0xE0, 0xED, 0xF0, 0xF4, 0xF5, 0xFF][random(10)];
            }
            bytes.truncate(bytes.len() - random(4).min(bytes.len()));
            for at_end in [false, true] {
                assert_eq!(invalid_in(&bytes, at_end), plain(&bytes, at_end), "{bytes:x?}");
            }
        }
    }
}
