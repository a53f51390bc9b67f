//! Normalizers: what some file formats do to text before it is encoded.
//!
//! byteloom's own tokenizers have none. A normalizer may lose text; that it is there is part of a tokenizer's
//! `info`. Offsets are always those of the text as it was given, through a [`Map`].

use std::borrow::Cow;
use std::iter::once;
use std::ops::Range;

use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// SentencePiece's sign for a space.
pub(crate) const SPACE_SIGN: &str = "\u{2581}";

/// What happens to text before it is cut into pre-tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Normalizer {
    /// Unicode's normalization form C.
    pub nfc: bool,
    /// U+2581 becomes a space, as SentencePiece writes spaces.
    pub space_sign: bool,
    /// A space is put before the text.
    pub prefix: Prefix,
}

/// Where a space is put.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prefix {
    /// Nowhere.
    #[default]
    None,
    /// Before the whole text; decoding takes it away again (SentencePiece's `add_dummy_prefix`).
    Text,
    /// Before each stretch between special tokens that does not begin with one; decoding shows it
    /// (`add_prefix_space` of `tokenizer.json`).
    Segment,
}

impl Prefix {
    /// Its name in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Text => "text",
            Self::Segment => "segment",
        }
    }
}

/// Normalized text, and the way back to the offsets of the original.
#[derive(Debug)]
pub struct Normalized<'t> {
    /// The text.
    pub text: Cow<'t, [u8]>,
    /// From offsets in it to offsets in the original.
    pub map: Map,
}

/// Offsets of normalized text in the original: stretches that were copied, and between them ones that were changed.
#[derive(Debug, Default)]
pub struct Map {
    /// Ascending and without gaps; empty where nothing changed.
    stretches: Vec<Stretch>,
}

#[derive(Clone, Debug)]
struct Stretch {
    normalized: Range<usize>,
    original: Range<usize>,
    copied: bool,
}

impl Normalizer {
    /// Whether text stays as it is.
    pub fn is_identity(&self) -> bool {
        *self == Self::default()
    }

    /// The names of what it does, for people.
    pub fn names(&self) -> Vec<&'static str> {
        let named = [
            (self.nfc, "NFC"),
            (self.space_sign, "space sign"),
            (self.prefix != Prefix::None, "prefix space"),
        ];
        named.into_iter().filter_map(|(done, name)| done.then_some(name)).collect()
    }

    /// Normalizes a stretch of text; `with_prefix` where a prefix belongs before it.
    pub fn apply<'t>(&self, text: &'t [u8], with_prefix: bool) -> Normalized<'t> {
        let prefix = with_prefix
            && match self.prefix {
                Prefix::None => false,
                Prefix::Text => true,
                Prefix::Segment => !text.is_empty() && text[0] != b' ',
            };
        if !prefix && !self.changes(text) {
            return Normalized { text: Cow::Borrowed(text), map: Map::default() };
        }
        let mut builder =
            Builder { text: Vec::with_capacity(text.len() + 1), map: Map::default(), original: 0 };
        if prefix {
            builder.change(b" ", 0);
        }
        for chunk in text.utf8_chunks() {
            if self.nfc {
                self.compose(chunk.valid(), &mut builder);
            } else {
                self.copy(chunk.valid(), &mut builder);
            }
            builder.copy(chunk.invalid());
        }
        Normalized { text: Cow::Owned(builder.text), map: builder.map }
    }

    fn changes(&self, text: &[u8]) -> bool {
        if !(self.nfc || self.space_sign) || text.is_ascii() {
            return false;
        }
        text.utf8_chunks().any(|chunk| {
            self.nfc && is_nfc_quick(chunk.valid().chars()) != IsNormalized::Yes
                || self.space_sign && chunk.valid().contains(SPACE_SIGN)
        })
    }

    /// Composes stretches that cannot influence one another one by one, so that offsets stay close.
    fn compose(&self, text: &str, builder: &mut Builder) {
        let begins =
            |c: char| canonical_combining_class(c) == 0 && is_nfc_quick(once(c)) == IsNormalized::Yes;
        let mut start = 0;
        let cuts = text.char_indices().skip(1).filter(|&(_, c)| begins(c)).map(|(at, _)| at);
        for end in cuts.chain(once(text.len())) {
            let stretch = &text[start..end];
            let composed: String = stretch.nfc().collect();
            if composed == stretch {
                self.copy(stretch, builder);
            } else {
                builder.change(composed.as_bytes(), stretch.len());
            }
            start = end;
        }
    }

    fn copy(&self, text: &str, builder: &mut Builder) {
        if !self.space_sign {
            return builder.copy(text.as_bytes());
        }
        for (number, part) in text.split(SPACE_SIGN).enumerate() {
            if number > 0 {
                builder.change(b" ", SPACE_SIGN.len());
            }
            builder.copy(part.as_bytes());
        }
    }
}

struct Builder {
    text: Vec<u8>,
    map: Map,
    original: usize,
}

impl Builder {
    fn copy(&mut self, bytes: &[u8]) {
        self.push(bytes, bytes.len(), true);
    }

    fn change(&mut self, bytes: &[u8], original_len: usize) {
        self.push(bytes, original_len, false);
    }

    fn push(&mut self, bytes: &[u8], original_len: usize, copied: bool) {
        if bytes.is_empty() && original_len == 0 {
            return;
        }
        let normalized = self.text.len()..self.text.len() + bytes.len();
        let original = self.original..self.original + original_len;
        self.text.extend_from_slice(bytes);
        self.original = original.end;
        match self.map.stretches.last_mut() {
            Some(last) if last.copied && copied => {
                (last.normalized.end, last.original.end) = (normalized.end, original.end);
            }
            _ => self.map.stretches.push(Stretch { normalized, original, copied }),
        }
    }
}

/// Where a part of a normalized text comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin<'a> {
    /// The map of the normalized text.
    pub(crate) map: &'a Map,
    /// Where the part begins in the normalized text.
    pub(crate) from: usize,
    /// Where the original of the normalized text begins in the text as it was given.
    pub(crate) base: usize,
}

impl Origin<'_> {
    /// A span of the part as a span of the text as it was given.
    pub(crate) fn span(&self, span: Range<usize>) -> Range<usize> {
        let span = self.map.original(self.from + span.start..self.from + span.end);
        self.base + span.start..self.base + span.end
    }
}

impl Map {
    /// Whether nothing was changed.
    pub(crate) fn is_identity(&self) -> bool {
        self.stretches.is_empty()
    }

    /// The map for spans inside `part` alone.
    pub(crate) fn restricted(&self, part: Range<usize>) -> Self {
        let first = self.stretches.partition_point(|stretch| stretch.normalized.end <= part.start);
        let after = self.stretches.partition_point(|stretch| stretch.normalized.start < part.end);
        Self { stretches: self.stretches[first..after.max(first)].to_vec() }
    }

    /// A span of the normalized text as a span of the original. What was changed maps as a whole.
    pub fn original(&self, span: Range<usize>) -> Range<usize> {
        if self.stretches.is_empty() {
            return span;
        }
        let holding = |at: usize| {
            let index = self.stretches.partition_point(|stretch| stretch.normalized.end <= at);
            self.stretches.get(index)
        };
        let last = self.stretches.last().map_or(0, |stretch| stretch.original.end);
        let start = holding(span.start).map_or(last, |stretch| {
            stretch.original.start + if stretch.copied { span.start - stretch.normalized.start } else { 0 }
        });
        if span.is_empty() {
            return start..start;
        }
        let end = holding(span.end - 1).map_or(last, |stretch| {
            if stretch.copied {
                stretch.original.start + (span.end - stretch.normalized.start)
            } else {
                stretch.original.end
            }
        });
        start..end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nfc() -> Normalizer {
        Normalizer { nfc: true, ..Normalizer::default() }
    }

    #[test]
    fn composes_and_keeps_offsets() {
        let text = "xe\u{301}y\u{212b}";
        let result = nfc().apply(text.as_bytes(), false);
        assert_eq!(&*result.text, "xéyÅ".as_bytes());
        assert_eq!(result.map.original(0..1), 0..1);
        assert_eq!(result.map.original(1..3), 1..4);
        assert_eq!(result.map.original(1..2), 1..4);
        // A character that decomposes may join what stands before it, so both map as one.
        assert_eq!(result.map.original(3..4), 4..8);
        assert_eq!(result.map.original(4..6), 4..8);
        assert!(matches!(nfc().apply("plain é".as_bytes(), false).text, Cow::Borrowed(_)));
    }

    #[test]
    fn stretch_by_stretch_is_the_same_as_at_once() {
        let pieces = [
            "a",
            "e",
            "\u{301}",
            "\u{323}",
            "\u{1100}",
            "\u{1161}",
            "\u{11a8}",
            "가",
            "\u{212b}",
            "\u{340}",
            "\u{915}",
            "\u{93c}",
            "\u{344}",
            "Å",
            "\u{2126}",
            "\u{16d67}",
            "\u{1d15e}",
        ];
        for first in pieces {
            for second in pieces {
                for third in pieces {
                    for fourth in pieces {
                        let text = [first, second, third, fourth].concat();
                        let expected: String = text.nfc().collect();
                        assert_eq!(
                            &*nfc().apply(text.as_bytes(), false).text,
                            expected.as_bytes(),
                            "{text:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn prefixes_and_space_signs() {
        let piece = Normalizer { space_sign: true, prefix: Prefix::Text, ..Normalizer::default() };
        let result = piece.apply("a\u{2581}b\u{ff}".as_bytes(), true);
        assert_eq!(&*result.text, " a b\u{ff}".as_bytes());
        assert_eq!(result.map.original(0..2), 0..1);
        assert_eq!(result.map.original(2..4), 1..5);
        assert_eq!(&*piece.apply(b"a\xff", false).text, b"a\xff");
        let segment = Normalizer { prefix: Prefix::Segment, ..Normalizer::default() };
        assert_eq!(&*segment.apply(b"a", true).text, b" a");
        assert_eq!(&*segment.apply(b" a", true).text, b" a");
        assert_eq!(&*segment.apply(b"", true).text, b"");
    }
}
