//! The compiled tokenizer: immutable, shared between threads, one path for every entry point.
//!
//! Encoding is special tokens → pre-tokens → (caches | merges) → ids. Every way to encode, count, cut or measure a
//! text cuts it by [`Tokenizer::for_each_part`] and goes through `encode.rs`; every way back goes through
//! [`Tokenizer::token_bytes`].

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use sha2::{Digest, Sha256};

use crate::cache::Cache;
pub use crate::encode::SHORT;
use crate::error::{Error, Result, excerpt};
use crate::format::native;
use crate::merge::MergeTable;
use crate::normalize::{Origin, Prefix};
use crate::pretokenize::{Alternatives, PreTokenizer};
use crate::spec::{Alphabet, TokenizerSpec};
use crate::special::{SpecialMatcher, SpecialToken, ids_by_content};
use crate::token::TokenId;
use crate::token_bytes::TokenBytes;
use crate::utf8::UnitIndex;
use crate::whole_tokens::WholeTokens;

/// Ids that are decoded together.
const DECODE_BLOCK: usize = 4096;

/// Called now and then during long work; an error stops it.
pub type Poll<'a> = &'a mut dyn FnMut() -> Result<()>;

/// A tokenizer ready to encode and decode.
#[derive(Clone, Debug)]
pub struct Tokenizer {
    compiled: Arc<Compiled>,
    cache: Arc<Cache>,
}

#[derive(Debug)]
struct Compiled {
    spec: TokenizerSpec,
    merges: MergeTable,
    tokens: TokenBytes,
    whole_tokens: Option<WholeTokens>,
    /// The policies that need no sets of names.
    deny_all: SpecialPolicy,
    allow_all: SpecialPolicy,
    ordinary: SpecialPolicy,
    fingerprint: OnceLock<String>,
    alternatives: OnceLock<Alternatives>,
}

/// Which special tokens a text may spell, and what happens at the others.
#[derive(Clone, Debug)]
pub struct SpecialPolicy {
    /// Tokens that are looked for in the text as it is given.
    given: SpecialMatcher,
    /// Tokens that are looked for after that, in normalized text.
    normalized: SpecialMatcher,
    /// Whether a match is an error rather than a token.
    denied: Denied,
}

impl SpecialPolicy {
    fn new<'a>(tokens: impl Iterator<Item = &'a SpecialToken> + Clone, denied: Denied) -> Result<Self> {
        Ok(Self {
            given: SpecialMatcher::new(tokens.clone().filter(|token| !token.flags.normalized))?,
            normalized: SpecialMatcher::new(tokens.filter(|token| token.flags.normalized))?,
            denied,
        })
    }

    /// Whether any token is found in a text; one that is looked for after normalizing, in text that this leaves as it is.
    pub(crate) fn finds_any(&self, text: &[u8]) -> bool {
        self.given.find(text, 0).is_some() || self.normalized.find(text, 0).is_some()
    }
}

/// A part of a text as encoding sees it; offsets are those of the text as it was given.
pub(crate) enum Part<'a> {
    /// An added token.
    Token {
        /// Its id.
        id: TokenId,
        /// Where it stands.
        span: Range<usize>,
    },
    /// Ordinary text, normalized, and the offsets of its parts.
    Text {
        /// The text.
        text: &'a [u8],
        /// Where it comes from.
        origin: Origin<'a>,
    },
}

#[derive(Clone, Debug)]
enum Denied {
    All,
    None,
    These(Vec<TokenId>),
}

/// A set of special tokens as callers name it.
#[derive(Clone, Copy, Debug)]
pub enum SpecialSet<'a> {
    /// All of them; for the denied ones: all that are not allowed.
    All,
    /// These.
    Names(&'a [&'a str]),
}

impl Tokenizer {
    /// Compiles `spec`; the cache may take `cache_bytes`.
    ///
    /// # Errors
    /// [`Error::Vocabulary`] or [`Error::SpecialToken`] where the parts of the spec do not fit together.
    pub fn new(spec: TokenizerSpec, cache_bytes: usize) -> Result<Self> {
        spec.check_ids()?;
        let merges = MergeTable::new(&spec)?;
        let bytes = TokenBytes::new(&spec);
        let tokens = spec.special.tokens();
        let compiled = Compiled {
            deny_all: SpecialPolicy::new(tokens.iter(), Denied::All)?,
            allow_all: SpecialPolicy::new(tokens.iter(), Denied::None)?,
            ordinary: SpecialPolicy::new(tokens.iter().filter(|token| !token.flags.special), Denied::None)?,
            whole_tokens: WholeTokens::of(&spec),
            spec,
            merges,
            tokens: bytes,
            fingerprint: OnceLock::new(),
            alternatives: OnceLock::new(),
        };
        Ok(Self { compiled: Arc::new(compiled), cache: Arc::new(Cache::new(cache_bytes)) })
    }

    /// The same tokenizer with an empty cache of another size.
    #[must_use]
    pub fn with_cache_bytes(&self, cache_bytes: usize) -> Self {
        Self { compiled: Arc::clone(&self.compiled), cache: Arc::new(Cache::new(cache_bytes)) }
    }

    /// The plain data it was compiled from.
    pub fn spec(&self) -> &TokenizerSpec {
        &self.compiled.spec
    }

    /// The pre-tokenizer.
    pub fn pretokenizer(&self) -> &PreTokenizer {
        &self.compiled.spec.pretokenizer
    }

    /// The alternatives of the pattern, compiled when they are first asked for.
    pub fn alternatives(&self) -> &Alternatives {
        self.compiled.alternatives.get_or_init(|| Alternatives::new(self.pretokenizer()))
    }

    /// The limit of the cache in bytes.
    pub fn cache_bytes(&self) -> usize {
        self.cache.limit()
    }

    /// The number of tokens, special ones included.
    pub fn vocab_size(&self) -> usize {
        self.compiled.spec.vocab_size()
    }

    /// A hash of everything that ids depend on, in hex: equal for tokenizers that encode and decode alike by
    /// construction, whatever their metadata.
    pub fn fingerprint(&self) -> &str {
        self.compiled.fingerprint.get_or_init(|| {
            let digest = Sha256::digest(native::identity(&self.compiled.spec));
            digest.iter().fold(String::with_capacity(64), |mut hex, byte| {
                let _ = write!(hex, "{byte:02x}");
                hex
            })
        })
    }

    // Special tokens.

    /// The default policy: a text that spells any special token is an error.
    pub fn deny_all(&self) -> &SpecialPolicy {
        &self.compiled.deny_all
    }

    /// The policy that reads every text as ordinary text.
    pub fn ordinary(&self) -> &SpecialPolicy {
        &self.compiled.ordinary
    }

    /// The policy of allow and deny sets, as tiktoken has them.
    ///
    /// # Errors
    /// [`Error::SpecialToken`] for a name that is no special token.
    pub fn policy(&self, allowed: SpecialSet<'_>, denied: SpecialSet<'_>) -> Result<Cow<'_, SpecialPolicy>> {
        match (allowed, denied) {
            (SpecialSet::All, SpecialSet::All | SpecialSet::Names([])) => {
                return Ok(Cow::Borrowed(&self.compiled.allow_all));
            }
            (SpecialSet::Names([]), SpecialSet::All) => return Ok(Cow::Borrowed(self.deny_all())),
            (SpecialSet::Names([]), SpecialSet::Names([])) => return Ok(Cow::Borrowed(self.ordinary())),
            _ => {}
        }
        let tokens = self.compiled.spec.special.tokens();
        let by_content = ids_by_content(tokens);
        let resolve = |option: &str, set: SpecialSet<'_>| -> Result<Vec<TokenId>> {
            match set {
                SpecialSet::All => {
                    Ok(tokens.iter().filter(|token| token.flags.special).map(|token| token.id).collect())
                }
                SpecialSet::Names(names) => names
                    .iter()
                    .map(|&name| {
                        by_content.get(name).copied().ok_or_else(|| {
                            Error::SpecialToken(format!(
                                "{option} names {}, which is not a special token of this tokenizer",
                                excerpt(name)
                            ))
                        })
                    })
                    .collect(),
            }
        };
        let allowed = resolve("allowed_special", allowed)?;
        let all_denied = matches!(denied, SpecialSet::All);
        let mut denied = resolve("disallowed_special", denied)?;
        // "All" means all others; a name that is in both sets is denied.
        if all_denied {
            denied.retain(|id| !allowed.contains(id));
        }
        let named = |id| allowed.contains(&id) || denied.contains(&id);
        let relevant = tokens.iter().filter(|token| !token.flags.special || named(token.id));
        Ok(Cow::Owned(SpecialPolicy::new(relevant, Denied::These(denied.clone()))?))
    }

    fn denied_error(&self, text: &[u8], at: usize, id: TokenId) -> Error {
        let content = self.compiled.spec.special.by_id(id).map_or("", |token: &SpecialToken| &token.content);
        let character = UnitIndex::new(text).floor(at);
        let name = excerpt(content);
        Error::SpecialToken(format!(
            "the text spells the special token {name} at character {character} (byte {at}). To encode it as id {id}, \
             pass allowed_special={{{name}}}; to encode it as ordinary text, pass disallowed_special=() or use \
             encode_ordinary"
        ))
    }

    /// Cuts a text at its added tokens, normalizes what stands between, and hands out the parts in order.
    pub(crate) fn for_each_part(
        &self,
        text: &[u8],
        policy: &SpecialPolicy,
        visit: &mut dyn FnMut(Part<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut from = 0;
        // SentencePiece's prefix belongs before all ordinary text, also before a leading token that is not special.
        let mut prefix_due = true;
        loop {
            let found = policy.given.find(text, from);
            let end = found.as_ref().map_or(text.len(), |found| found.span.start);
            let before_ordinary =
                end > from || found.as_ref().is_some_and(|found| !self.is_special(found.id));
            let prefix = match self.compiled.spec.normalizer.prefix {
                Prefix::None => false,
                Prefix::Text => prefix_due && before_ordinary,
                Prefix::Segment => true,
            };
            prefix_due &= !before_ordinary;
            if end > from || prefix {
                self.for_each_normalized_part(text, from..end, prefix, policy, visit)?;
            }
            let Some(found) = found else { return Ok(()) };
            self.check_allowed(text, policy, found.span.start, found.id)?;
            from = found.span.end;
            visit(Part::Token { id: found.id, span: found.span })?;
        }
    }

    fn for_each_normalized_part(
        &self,
        text: &[u8],
        segment: Range<usize>,
        prefix: bool,
        policy: &SpecialPolicy,
        visit: &mut dyn FnMut(Part<'_>) -> Result<()>,
    ) -> Result<()> {
        let normalized = self.compiled.spec.normalizer.apply(&text[segment.clone()], prefix);
        let content = &normalized.text[..];
        let origin = |from| Origin { map: &normalized.map, from, base: segment.start };
        let mut from = 0;
        while let Some(found) = policy.normalized.find(content, from) {
            let part = from..found.span.start;
            if !part.is_empty() {
                visit(Part::Text { text: &content[part], origin: origin(from) })?;
            }
            let span = origin(0).span(found.span.clone());
            self.check_allowed(text, policy, span.start, found.id)?;
            visit(Part::Token { id: found.id, span })?;
            from = found.span.end;
        }
        if from < content.len() {
            visit(Part::Text { text: &content[from..], origin: origin(from) })?;
        }
        Ok(())
    }

    fn check_allowed(&self, text: &[u8], policy: &SpecialPolicy, at: usize, id: TokenId) -> Result<()> {
        let denied = match &policy.denied {
            Denied::All => self.is_special(id),
            Denied::None => false,
            Denied::These(denied) => denied.contains(&id),
        };
        if denied { Err(self.denied_error(text, at, id)) } else { Ok(()) }
    }

    pub(crate) fn merge_table(&self) -> &MergeTable {
        &self.compiled.merges
    }

    pub(crate) fn whole_tokens(&self) -> Option<&WholeTokens> {
        self.compiled.whole_tokens.as_ref()
    }

    pub(crate) fn cache(&self) -> &Cache {
        &self.cache
    }

    /// Ids that `add_special_tokens` puts before and after a text.
    ///
    /// # Errors
    /// [`Error::SpecialToken`] where the tokenizer has neither `bos` nor `eos`.
    pub fn frame(&self) -> Result<(Option<TokenId>, Option<TokenId>)> {
        let special = &self.compiled.spec.special;
        if special.bos.is_none() && special.eos.is_none() {
            return Err(Error::SpecialToken(
                "add_special_tokens=True needs a bos or eos token, and this tokenizer has neither; name one with \
                 with_special_tokens(bos=…, eos=…)"
                    .to_owned(),
            ));
        }
        Ok((special.bos, special.eos))
    }

    // Decoding.

    /// The bytes of a token, special or not; `None` for an id that stands for nothing.
    #[inline]
    pub fn token_bytes(&self, id: TokenId) -> Option<&[u8]> {
        self.compiled.tokens.get(id)
    }

    /// Whether `id` is a special token.
    #[inline]
    pub fn is_special(&self, id: TokenId) -> bool {
        self.compiled.tokens.is_special(id)
    }

    /// Appends the bytes of `ids` to `bytes`.
    ///
    /// # Errors
    /// [`Error::UnknownToken`] with the position of an id that stands for nothing.
    pub fn decode_into(&self, ids: &[TokenId], skip_special: bool, bytes: &mut Vec<u8>) -> Result<()> {
        let mut start = self.decode_start();
        let plain = !skip_special && !start.strip_space;
        let mut from = 0;
        for ids in ids.chunks(DECODE_BLOCK) {
            // Whatever is not plain copying, and an unknown id, goes the careful way.
            if !(plain && self.compiled.tokens.copy(ids, bytes)) {
                for (position, &id) in (from..).zip(ids) {
                    let piece = self.decode_token(id, skip_special, &mut start);
                    bytes.extend_from_slice(piece.ok_or_else(|| Error::unknown_token(id, position))?);
                }
            }
            from += ids.len();
        }
        Ok(())
    }

    /// What decoding knows before the first id.
    pub(crate) fn decode_start(&self) -> DecodeStart {
        DecodeStart { strip_space: self.compiled.spec.normalizer.prefix == Prefix::Text }
    }

    /// What `id` decodes to; `None` for an id that stands for nothing.
    #[inline]
    pub(crate) fn decode_token(
        &self,
        id: TokenId,
        skip_special: bool,
        start: &mut DecodeStart,
    ) -> Option<&[u8]> {
        let piece = self.token_bytes(id)?;
        if self.is_special(id) {
            return Some(if skip_special { &[] } else { piece });
        }
        if !std::mem::take(&mut start.strip_space) {
            return Some(piece);
        }
        // A byte token is a byte of the text, never the space that encoding put there.
        let byte_ids = match &self.compiled.spec.alphabet {
            Alphabet::CharactersAndBytes(ids) => Some(ids),
            Alphabet::Bytes | Alphabet::CharactersOr(_) => None,
        };
        let is_byte = byte_ids.is_some_and(|ids| ids[usize::from(b' ')] == id);
        Some(if is_byte { piece } else { piece.strip_prefix(b" ").unwrap_or(piece) })
    }
}

/// Whether the space that encoding put before the text is still to be taken away.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DecodeStart {
    strip_space: bool,
}
