//! Where tokens stand in a text, and where a text may be cut to fit a budget of tokens.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::spec::Alphabet;
use crate::token::TokenId;
use crate::tokenizer::{Part, Poll, SpecialPolicy, Tokenizer};
use crate::utf8::{UnitIndex, floor_boundary, unit_len};

impl Tokenizer {
    /// The ids of `text` and the span of each in it, in bytes.
    pub fn encode_spans(
        &self,
        text: &[u8],
        policy: &SpecialPolicy,
        poll: Poll<'_>,
    ) -> Result<(Vec<TokenId>, Vec<Range<usize>>)> {
        let mut ids = Vec::new();
        let mut spans = Vec::new();
        self.for_each_part(text, policy, &mut |part| {
            match part {
                Part::Token { id, span } => {
                    ids.push(id);
                    spans.push(span);
                }
                Part::Text { text, origin } => {
                    self.encode_ordinary(text, &mut |block| {
                        ids.extend_from_slice(block);
                        poll()
                    })?;
                    // Tokens tile normalized text, so that spans follow from lengths.
                    let mut at = 0;
                    for &id in &ids[spans.len()..] {
                        let end = at + self.length_at(id, &text[at..]);
                        spans.push(origin.span(at..end));
                        at = end;
                    }
                }
            }
            Ok(())
        })?;
        Ok((ids, spans))
    }

    /// The length of the text that `id` stands for at the start of `text`: a lost character has its own.
    pub(crate) fn length_at(&self, id: TokenId, text: &[u8]) -> usize {
        match self.spec().alphabet {
            Alphabet::CharactersOr(unknown) if id == unknown => unit_len(text),
            _ => self.token_bytes(id).map_or(0, <[u8]>::len),
        }
    }

    /// Spans in bytes as spans in characters: a token that holds part of a character covers all of it.
    pub fn char_spans(text: &[u8], spans: &[Range<usize>]) -> Vec<Range<usize>> {
        // Two indices, since the end of one span may lie behind the start of the next in characters.
        let (mut starts, mut ends) = (UnitIndex::new(text), UnitIndex::new(text));
        spans.iter().map(|span| starts.floor(span.start)..ends.ceil(span.end)).collect()
    }

    /// The text of `ids`, with U+FFFD for what is no character, and the index of the character in which each begins.
    pub fn decode_with_starts(&self, ids: &[TokenId], skip_special: bool) -> Result<(String, Vec<usize>)> {
        let mut bytes = Vec::new();
        let mut byte_starts = Vec::with_capacity(ids.len());
        for (position, &id) in ids.iter().enumerate() {
            byte_starts.push(bytes.len());
            self.decode_into(&[id], skip_special, &mut bytes)
                .map_err(|_| Error::unknown_token(id, position))?;
        }
        let mut text = String::new();
        let mut starts = Vec::with_capacity(ids.len());
        let (mut byte, mut character) = (0, 0);
        // Every chunk is some valid text and, but for the last, an ill-formed part that shows as one character.
        let mut pieces = bytes.utf8_chunks().flat_map(|chunk| {
            let ill_formed = chunk.invalid().len();
            let replaced = (ill_formed > 0).then_some((ill_formed, char::REPLACEMENT_CHARACTER));
            chunk.valid().chars().map(|c| (c.len_utf8(), c)).chain(replaced)
        });
        for start in byte_starts {
            while byte < start
                && let Some((len, shown)) = pieces.next()
            {
                byte += len;
                character += 1;
                text.push(shown);
            }
            starts.push(if byte > start { character - 1 } else { character });
        }
        text.extend(pieces.map(|(_, shown)| shown));
        Ok((text, starts))
    }

    /// The length of the prefix of `text` that fits into `max_tokens` ids: the text of its first `max_tokens` tokens,
    /// cut back to whole characters, and further where the prefix by itself would need more ids.
    pub fn truncate(
        &self,
        text: &[u8],
        max_tokens: usize,
        policy: &SpecialPolicy,
        poll: Poll<'_>,
    ) -> Result<usize> {
        let ends = self.token_ends(text, policy, poll)?;
        self.fit(text, 0, &ends, max_tokens, policy, poll)
    }

    /// Cuts `text` into pieces that each encode to at most `max_tokens` ids by themselves; joined, they are the text.
    ///
    /// # Errors
    /// [`Error::Argument`] where a single character needs more than `max_tokens`.
    pub fn chunk(
        &self,
        text: &[u8],
        max_tokens: usize,
        policy: &SpecialPolicy,
        poll: Poll<'_>,
    ) -> Result<Vec<Range<usize>>> {
        let ends = self.token_ends(text, policy, poll)?;
        let mut chunks = Vec::new();
        let mut start = 0;
        let mut first = 0;
        while start < text.len() {
            first += ends[first..].partition_point(|&end| end <= start);
            let mut cut = self.fit(text, start, &ends[first..], max_tokens, policy, poll)?;
            if cut == start {
                // The first token by itself does not fit or ends inside a character: take one character.
                cut = start + unit_len(&text[start..]);
                let needed = self.count(&text[start..cut], policy, poll)?;
                if needed > max_tokens {
                    let character = UnitIndex::new(text).floor(start);
                    return Err(Error::Argument(format!(
                        "the character at index {character} alone is {needed} tokens; max_tokens must be at least \
                         {needed}, not {max_tokens}"
                    )));
                }
            }
            chunks.push(start..cut);
            start = cut;
        }
        Ok(chunks)
    }

    fn token_ends(&self, text: &[u8], policy: &SpecialPolicy, poll: Poll<'_>) -> Result<Vec<usize>> {
        let (_, spans) = self.encode_spans(text, policy, poll)?;
        Ok(spans.into_iter().map(|span| span.end).collect())
    }

    /// Where to cut `text` so that the part from `start` on fits; `ends` are the ends of its tokens behind `start`.
    /// Returns `start` where not even one token's worth does.
    fn fit(
        &self,
        text: &[u8],
        start: usize,
        ends: &[usize],
        max_tokens: usize,
        policy: &SpecialPolicy,
        poll: Poll<'_>,
    ) -> Result<usize> {
        /// A prefix by itself may split otherwise than in its text (white space at its end does). The first few
        /// shorter cuts are tried one by one, then in growing steps, so that the work stays n log n.
        const CLOSE_TRIES: usize = 16;
        let mut candidates = max_tokens.min(ends.len());
        let mut step = 1;
        let mut tries = 0;
        let mut last = usize::MAX;
        while candidates > 0 {
            let cut = floor_boundary(text, ends[candidates - 1]);
            if cut <= start {
                break;
            }
            if cut == last {
                candidates -= 1;
                continue;
            }
            last = cut;
            match self.count(&text[start..cut], policy, poll) {
                Ok(count) if count <= max_tokens => return Ok(cut),
                // A cut can leave a word standing alone that is a special token only then: no place to cut.
                Ok(_) | Err(Error::SpecialToken(_)) => {}
                Err(other) => return Err(other),
            }
            tries += 1;
            if tries > CLOSE_TRIES {
                step *= 2;
            }
            candidates = candidates.saturating_sub(step);
        }
        Ok(start)
    }
}
