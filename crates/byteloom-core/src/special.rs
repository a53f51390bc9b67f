//! Special tokens: control tokens that no ordinary text becomes by itself.
//!
//! Matching is leftmost, then longest, whatever the order of declaration. A special token is an atom: the text on
//! each side of it is pre-tokenized on its own, as if the text ended and began there.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use aho_corasick::{AhoCorasick, MatchKind};
use regex::Regex;

use crate::error::{Error, Result, excerpt};
use crate::token::{MAX_TOKEN_BYTES, MAX_TOKEN_ID, TokenId};
use crate::utf8::unit_len;

/// One special or added token: an atom that is matched in text as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SpecialToken {
    /// The text that spells it.
    pub content: String,
    /// Its id.
    pub id: TokenId,
    /// How it is matched.
    pub flags: TokenFlags,
}

/// How an added token is matched, as `tokenizer.json` has it. The default is a special token, matched exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "five independent switches of a file format")]
pub struct TokenFlags {
    /// Obeys allow and deny sets. An added token that is not special is always matched.
    pub special: bool,
    /// Takes the white space before it along. Text is lost then: decoding gives the content alone.
    pub lstrip: bool,
    /// Takes the white space after it along.
    pub rstrip: bool,
    /// Matches only where no word character stands beside it.
    pub single_word: bool,
    /// Is looked for in normalized text, after the others.
    pub normalized: bool,
}

impl Default for TokenFlags {
    fn default() -> Self {
        Self { special: true, lstrip: false, rstrip: false, single_word: false, normalized: false }
    }
}

impl TokenFlags {
    /// Whether encoding may lose white space at such a token.
    pub fn loses_text(self) -> bool {
        self.lstrip || self.rstrip
    }
}

impl SpecialToken {
    /// A special token that is matched exactly.
    pub fn new(content: impl Into<String>, id: TokenId) -> Self {
        Self { content: content.into(), id, flags: TokenFlags::default() }
    }
}

/// The special tokens of a tokenizer and the roles that some of them have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpecialTokens {
    tokens: Vec<SpecialToken>,
    /// Begins a sequence when `add_special_tokens` is asked for.
    pub bos: Option<TokenId>,
    /// Ends a sequence when `add_special_tokens` is asked for.
    pub eos: Option<TokenId>,
    /// Fills up the rows of a padded batch.
    pub pad: Option<TokenId>,
}

impl SpecialTokens {
    /// Checks and keeps `tokens`, in order of id.
    ///
    /// # Errors
    /// [`Error::SpecialToken`] for an empty or over-long content, for a content or an id given twice.
    pub fn new(mut tokens: Vec<SpecialToken>) -> Result<Self> {
        tokens.sort_by_key(|token| token.id);
        let mut contents = HashSet::new();
        for (index, token) in tokens.iter().enumerate() {
            let name = excerpt(&token.content);
            if token.content.is_empty() {
                return Err(Error::SpecialToken(format!(
                    "special token with id {} is empty; every special token needs at least one character",
                    token.id
                )));
            }
            if token.content.len() > MAX_TOKEN_BYTES {
                return Err(Error::SpecialToken(format!(
                    "special token {name} is longer than {MAX_TOKEN_BYTES} bytes"
                )));
            }
            if token.id > MAX_TOKEN_ID {
                return Err(Error::SpecialToken(format!(
                    "special token {name} has id {}; the largest id is {MAX_TOKEN_ID}",
                    token.id
                )));
            }
            if !contents.insert(token.content.as_str()) {
                return Err(Error::SpecialToken(format!("special token {name} is declared twice")));
            }
            if index > 0 && tokens[index - 1].id == token.id {
                return Err(Error::SpecialToken(format!(
                    "special tokens {} and {name} share the id {}",
                    excerpt(&tokens[index - 1].content),
                    token.id
                )));
            }
        }
        Ok(Self { tokens, bos: None, eos: None, pad: None })
    }

    /// The tokens, ascending by id.
    pub fn tokens(&self) -> &[SpecialToken] {
        &self.tokens
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// The id of the special token spelled `content`.
    pub fn id_of(&self, content: &str) -> Option<TokenId> {
        self.tokens.iter().find(|token| token.content == content).map(|token| token.id)
    }

    /// The special token with `id`.
    pub fn by_id(&self, id: TokenId) -> Option<&SpecialToken> {
        let index = self.tokens.binary_search_by_key(&id, |token| token.id).ok()?;
        Some(&self.tokens[index])
    }
}

/// Finds the special tokens of a set in text, leftmost-longest.
#[derive(Clone, Debug)]
pub struct SpecialMatcher {
    automaton: Option<AhoCorasick>,
    /// The byte that all of them begin with, if it is one: most texts have none, which is soon seen.
    first: Option<u8>,
    tokens: Arc<[(TokenId, TokenFlags)]>,
    longest: usize,
}

/// A special token found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecialMatch {
    /// Where it stands, in bytes.
    pub span: Range<usize>,
    /// Which token it is.
    pub id: TokenId,
}

impl SpecialMatcher {
    /// A matcher for `tokens`.
    pub fn new<'a>(tokens: impl IntoIterator<Item = &'a SpecialToken>) -> Result<Self> {
        let (contents, tokens): (Vec<&str>, Vec<(TokenId, TokenFlags)>) =
            tokens.into_iter().map(|token| (token.content.as_str(), (token.id, token.flags))).unzip();
        if tokens.iter().any(|(_, flags)| flags.single_word) {
            // Made now: at the first match, a process forked at that moment would wait for it for ever.
            LazyLock::force(&WORD);
        }
        let longest = contents.iter().map(|content| content.len()).max().unwrap_or(0);
        let first = contents.first().and_then(|content| content.bytes().next());
        let first =
            first.filter(|first| contents.iter().all(|content| content.as_bytes().first() == Some(first)));
        let automaton = if contents.is_empty() {
            None
        } else {
            let built = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&contents);
            Some(built.map_err(|error| Error::SpecialToken(format!("special tokens do not fit: {error}")))?)
        };
        Ok(Self { automaton, first, tokens: tokens.into(), longest })
    }

    /// The first match that starts at or after `from`. Its span has the white space that the token takes along, but
    /// nothing before `from`.
    pub fn find(&self, text: &[u8], from: usize) -> Option<SpecialMatch> {
        let automaton = self.automaton.as_ref()?;
        let mut search = from;
        loop {
            if let Some(first) = self.first {
                search += memchr::memchr(first, text.get(search..)?)?;
            }
            let found = automaton.find(aho_corasick::Input::new(text).span(search..text.len()))?;
            let (id, flags) = self.tokens[found.pattern().as_usize()];
            let mut span = found.range();
            if flags.single_word && !stands_alone(text, &span) {
                search = span.end;
                continue;
            }
            if flags.lstrip {
                while let Some(space) = last_char(&text[from..span.start]).filter(|c| c.is_whitespace()) {
                    span.start -= space.len_utf8();
                }
            }
            if flags.rstrip {
                while let Some(space) = first_char(&text[span.end..]).filter(|c| c.is_whitespace()) {
                    span.end += space.len_utf8();
                }
            }
            return Some(SpecialMatch { span, id });
        }
    }

    /// Cuts `text` at its special tokens: ordinary runs (possibly empty) and matches in order.
    pub fn split<'t>(&'t self, text: &'t [u8]) -> impl Iterator<Item = Segment<'t>> {
        let mut position = Some(0);
        let mut pending = None;
        std::iter::from_fn(move || {
            if let Some(id) = pending.take() {
                return Some(Segment::Special(id));
            }
            let from = position?;
            if let Some(found) = self.find(text, from) {
                position = Some(found.span.end);
                pending = Some(found.id);
                Some(Segment::Ordinary(&text[from..found.span.start]))
            } else {
                position = None;
                Some(Segment::Ordinary(&text[from..]))
            }
        })
    }

    /// Whether cutting `text` at `cut` could cut through a special token.
    ///
    /// True where any special token stands across the cut, found or not by [`Self::find`]; matching each side on its
    /// own gives the matches of the whole exactly when this is false.
    pub fn straddles(&self, text: &[u8], cut: usize) -> bool {
        let Some(automaton) = &self.automaton else { return false };
        let mut from = cut.saturating_sub(self.longest.saturating_sub(1));
        let end = (cut + self.longest.saturating_sub(1)).min(text.len());
        // Leftmost-longest search restarted one byte on sees a longest match at every start.
        while from < cut {
            let input = aho_corasick::Input::new(text).span(from..end);
            match automaton.find(input) {
                Some(found) if found.start() < cut => {
                    if found.end() > cut {
                        return true;
                    }
                    from = found.start() + 1;
                }
                _ => return false,
            }
        }
        false
    }

    /// The length of the longest special token in bytes; 0 if there is none.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// Whether there is nothing to find.
    pub fn is_empty(&self) -> bool {
        self.automaton.is_none()
    }
}

/// The `\w` of Rust's regex, which is what `tokenizer.json` means.
static WORD: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\w$").ok());

/// Whether no word character touches `span`.
fn stands_alone(text: &[u8], span: &Range<usize>) -> bool {
    let is_word = |c: char| WORD.as_ref().is_some_and(|word| word.is_match(c.encode_utf8(&mut [0; 4])));
    !last_char(&text[..span.start]).is_some_and(is_word)
        && !first_char(&text[span.end..]).is_some_and(is_word)
}

/// The character at the start of `bytes`, if one is there.
fn first_char(bytes: &[u8]) -> Option<char> {
    std::str::from_utf8(&bytes[..unit_len(bytes)]).ok()?.chars().next()
}

/// The character at the end of `bytes`, if one is there.
fn last_char(bytes: &[u8]) -> Option<char> {
    (1..=bytes.len().min(4))
        .find_map(|len| std::str::from_utf8(&bytes[bytes.len() - len..]).ok()?.chars().next())
}

/// A stretch of text between special tokens, or one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment<'t> {
    /// Text that is pre-tokenized and merged.
    Ordinary(&'t [u8]),
    /// A special token.
    Special(TokenId),
}

/// Ids of special tokens by content, for allow and deny lists.
pub(crate) fn ids_by_content(tokens: &[SpecialToken]) -> HashMap<&str, TokenId> {
    tokens.iter().map(|token| (token.content.as_str(), token.id)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(content: &str, id: TokenId) -> SpecialToken {
        SpecialToken::new(content, id)
    }

    #[test]
    fn longest_wins_in_every_order() {
        let tokens = [token("<x>", 300), token("<x>y", 301), token("<x>yz", 302)];
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let matcher = SpecialMatcher::new(order.map(|index| &tokens[index])).unwrap();
            let found: Vec<_> = matcher.split(b"<x>yz").collect();
            assert_eq!(found, [Segment::Ordinary(b""), Segment::Special(302), Segment::Ordinary(b"")]);
        }
    }

    #[test]
    fn faulty_sets_are_refused() {
        assert!(SpecialTokens::new(vec![token("", 1)]).is_err());
        assert!(SpecialTokens::new(vec![token("a", 1), token("a", 2)]).is_err());
        assert!(SpecialTokens::new(vec![token("a", 1), token("b", 1)]).is_err());
        assert!(SpecialTokens::new(vec![token("a", u32::MAX)]).is_err());
        assert!(
            SpecialTokens::new(vec![token("\0", 1), token("\n", 2), token(" ", 3), token("🚀", 4)]).is_ok()
        );
    }

    #[test]
    fn flags_are_honoured_as_in_tokenizer_json() {
        let with = |change: fn(&mut TokenFlags)| {
            let mut flags = TokenFlags::default();
            change(&mut flags);
            SpecialMatcher::new(&[SpecialToken { flags, ..token("<m>", 7) }]).unwrap()
        };
        let spans = |matcher: &SpecialMatcher, text: &str| {
            let mut spans = vec![];
            let mut from = 0;
            while let Some(found) = matcher.find(text.as_bytes(), from) {
                from = found.span.end;
                spans.push(found.span);
            }
            spans
        };
        assert_eq!(spans(&with(|f| f.lstrip = true), "a \u{3000}<m> <m>b"), [1..8, 8..12]);
        assert_eq!(spans(&with(|f| f.rstrip = true), "a <m> \n<m>b"), [2..7, 7..10]);
        assert_eq!(spans(&with(|f| f.single_word = true), "a<m> <m> <m>é é<m> <m>"), [5..8, 21..24]);
    }

    #[test]
    fn straddling_is_seen_at_every_cut() {
        let tokens = [token("<a>", 1), token("a><", 2)];
        let matcher = SpecialMatcher::new(&tokens).unwrap();
        let text = b"x<a><y";
        let across: Vec<bool> = (0..=text.len()).map(|cut| matcher.straddles(text, cut)).collect();
        assert_eq!(across, [false, false, true, true, true, false, false]);
    }
}
