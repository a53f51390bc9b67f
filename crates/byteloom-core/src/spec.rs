//! The spec: a tokenizer as plain data.
//!
//! Trainers and loaders make a spec, savers read it, and [`crate::tokenizer::Tokenizer`] compiles it once. No format
//! knows the encoder, and the encoder knows no file.

use std::collections::HashMap;

use serde_json::Value;

use crate::error::{Error, Result, excerpt};
use crate::normalize::{Normalizer, Prefix};
use crate::pretokenize::PreTokenizer;
use crate::special::{SpecialToken, SpecialTokens};
use crate::token::{MAX_TOKEN_BYTES, MAX_VOCABULARY_BYTES, Rank, TokenId};
use crate::vocab::Vocabulary;

/// What the base symbols of a vocabulary are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Alphabet {
    /// The 256 bytes, all of them always present.
    #[default]
    Bytes,
    /// Characters; what has no token becomes the tokens of its bytes, which are no part of the vocabulary and take
    /// no part in merges (SentencePiece's byte fallback).
    CharactersAndBytes(Box<[TokenId; 256]>),
    /// Characters; each one that has no token becomes this one, and is lost.
    CharactersOr(TokenId),
}

impl Alphabet {
    /// Its name in files.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::CharactersAndBytes(_) => "characters and bytes",
            Self::CharactersOr(_) => "characters",
        }
    }
}

/// Where the special tokens of a trained vocabulary stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SpecialPosition {
    /// From id 0 on.
    First,
    /// After all other tokens.
    #[default]
    Last,
}

impl SpecialPosition {
    /// Its name in files and options.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Last => "last",
        }
    }

    /// The position named `name`.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "first" => Ok(Self::First),
            "last" => Ok(Self::Last),
            _ => Err(Error::Argument(format!(
                "special_position must be \"first\" or \"last\", not {}",
                excerpt(name)
            ))),
        }
    }
}

/// A tokenizer as plain data.
#[derive(Clone, Debug)]
pub struct TokenizerSpec {
    /// Ordinary tokens.
    pub vocab: Vocabulary,
    /// Pairs of ids in the order in which they apply; the result of each is the token with the joined bytes.
    pub merges: Vec<(TokenId, TokenId)>,
    /// Ranks of the merges where some share one; otherwise the rank of a merge is its place in the list.
    pub shared_ranks: Option<Vec<Rank>>,
    /// Whether a pre-token that is a token as a whole is that token, whatever its merges say.
    pub whole_tokens: bool,
    /// What happens to text first.
    pub normalizer: Normalizer,
    /// The pre-tokenizer.
    pub pretokenizer: PreTokenizer,
    /// Special tokens and roles.
    pub special: SpecialTokens,
    /// Where training put the special tokens; resizing keeps to it.
    pub special_position: SpecialPosition,
    /// What the base symbols are.
    pub alphabet: Alphabet,
    /// Facts about how the tokenizer came to be; no part of what it does.
    pub metadata: Value,
}

impl TokenizerSpec {
    /// A byte-level vocabulary from merges over byte values: `256 + k` stands for the result of merge `k`.
    ///
    /// Special tokens get the ids before or after; `special_names` keep their order.
    pub fn from_merges(
        merges: &[(u32, u32)],
        pretokenizer: PreTokenizer,
        special_names: &[String],
        special_position: SpecialPosition,
    ) -> Result<Self> {
        let bytes = (0..=255u8).map(|byte| vec![byte]).collect();
        Self::assemble(bytes, merges, pretokenizer, special_names, special_position)
    }

    /// A vocabulary of characters from merges over their places in `characters`: `characters.len() + k` stands for
    /// the result of merge `k`. `unknown` is the special token that every other character becomes.
    pub fn from_character_merges(
        characters: &[char],
        unknown: &str,
        merges: &[(u32, u32)],
        pretokenizer: PreTokenizer,
        special_names: &[String],
        special_position: SpecialPosition,
    ) -> Result<Self> {
        let symbols = characters.iter().map(|character| character.to_string().into_bytes()).collect();
        let mut spec = Self::assemble(symbols, merges, pretokenizer, special_names, special_position)?;
        let id = spec.special.id_of(unknown).ok_or_else(|| {
            Error::SpecialToken(format!(
                "unk names {}, which is not a special token; declare it among the special tokens",
                excerpt(unknown)
            ))
        })?;
        spec.alphabet = Alphabet::CharactersOr(id);
        Ok(spec)
    }

    /// The vocabulary of these symbols and of what the merges make of them.
    fn assemble(
        mut pieces: Vec<Vec<u8>>,
        merges: &[(u32, u32)],
        pretokenizer: PreTokenizer,
        special_names: &[String],
        special_position: SpecialPosition,
    ) -> Result<Self> {
        let symbols = pieces.len();
        let specials = special_names.len() as TokenId;
        let base = match special_position {
            SpecialPosition::First => specials,
            SpecialPosition::Last => 0,
        };
        let mut total = 0;
        for (index, &(left, right)) in merges.iter().enumerate() {
            let part = |symbol: u32| {
                pieces.get(symbol as usize).ok_or_else(|| {
                    Error::format(
                        format!("merges[{index}]"),
                        format!(
                            "id {} does not exist yet; only ids below {} do",
                            u64::from(symbol) + u64::from(base),
                            symbols + index + base as usize
                        ),
                    )
                })
            };
            let (left, right) = (part(left)?, part(right)?);
            total += left.len() + right.len();
            // Checked before joining: a few dozen merges of a crafted file could ask for terabytes.
            if left.len() + right.len() > MAX_TOKEN_BYTES || total > MAX_VOCABULARY_BYTES {
                return Err(Error::format(
                    format!("merges[{index}]"),
                    format!("makes a token of more than {MAX_TOKEN_BYTES} bytes, or too many long ones"),
                ));
            }
            let joined = [left.as_slice(), right].concat();
            pieces.push(joined);
        }
        let first_special =
            if special_position == SpecialPosition::Last { pieces.len() as TokenId } else { 0 };
        let special = SpecialTokens::new(
            special_names
                .iter()
                .zip(first_special..)
                .map(|(content, id)| SpecialToken::new(content.clone(), id))
                .collect(),
        )?;
        Ok(Self {
            vocab: Vocabulary::new((base..).zip(&pieces))
                .map_err(|error| repeated_piece(&pieces, symbols, base).unwrap_or(error))?,
            merges: merges.iter().map(|&(left, right)| (left + base, right + base)).collect(),
            shared_ranks: None,
            whole_tokens: false,
            normalizer: Normalizer::default(),
            pretokenizer,
            special,
            special_position,
            alphabet: Alphabet::Bytes,
            metadata: Value::Object(serde_json::Map::new()),
        })
    }

    /// The id offset of a vocabulary that its merges determine: byte `b` is `offset + b` and merge `k` makes
    /// `offset + 256 + k`. `None` where ids follow another order.
    pub fn regular_base(&self) -> Option<TokenId> {
        if self.alphabet != Alphabet::Bytes {
            return None;
        }
        let base = self.vocab.id(&[0])?;
        if self.vocab.len() != 256 + self.merges.len()
            || self.vocab.id_end() as usize != base as usize + self.vocab.len()
        {
            return None;
        }
        let bytes_in_order = (0..=255u8).zip(base..).all(|(byte, id)| self.vocab.bytes(id) == Some(&[byte]));
        let merges_in_order = self.merges.iter().zip(base + 256..).all(|(&(left, right), id)| {
            match (self.vocab.bytes(left), self.vocab.bytes(right), self.vocab.bytes(id)) {
                (Some(left), Some(right), Some(joined)) => {
                    joined.strip_prefix(left).is_some_and(|rest| rest == right)
                }
                _ => false,
            }
        });
        (bytes_in_order && merges_in_order).then_some(base)
    }

    /// The number of tokens, special ones included.
    pub fn vocab_size(&self) -> usize {
        let fallback = if matches!(self.alphabet, Alphabet::CharactersAndBytes(_)) { 256 } else { 0 };
        self.vocab.len() + self.special.tokens().len() + fallback
    }

    /// The largest id of all.
    pub fn max_token_id(&self) -> TokenId {
        let special = self.special.tokens().last().map_or(0, |token| token.id);
        let fallback = match &self.alphabet {
            Alphabet::CharactersAndBytes(ids) => ids.iter().copied().max().unwrap_or(0),
            Alphabet::Bytes | Alphabet::CharactersOr(_) => 0,
        };
        special.max(self.vocab.id_end().saturating_sub(1)).max(fallback)
    }

    /// Whether decoding what was encoded gives every text back, byte for byte.
    pub fn is_lossless(&self) -> bool {
        let normalizer = &self.normalizer;
        !normalizer.nfc
            && !normalizer.space_sign
            && normalizer.prefix != Prefix::Segment
            && !matches!(self.alphabet, Alphabet::CharactersOr(_))
            && !self.special.tokens().iter().any(|token| token.flags.loses_text())
    }

    /// A copy with more special tokens and other roles; `None` as an id means the next free one.
    ///
    /// # Errors
    /// [`Error::SpecialToken`] for an id in use, or a role that names no special token.
    pub fn with_special_tokens(&self, added: &[(String, Option<TokenId>)], roles: Roles<'_>) -> Result<Self> {
        let mut tokens = self.special.tokens().to_vec();
        let mut next = self.max_token_id() + 1;
        for (content, id) in added {
            let known = tokens.iter().find(|token| token.content == *content).map(|token| token.id);
            match (known, id) {
                (Some(old), Some(id)) if old != *id => {
                    return Err(Error::SpecialToken(format!(
                        "special token {} has the id {old} already; ids never move, so it cannot become {id}",
                        excerpt(content)
                    )));
                }
                (Some(_), _) => {}
                (None, _) => {
                    let id = id.unwrap_or(next);
                    next = next.max(id.saturating_add(1));
                    tokens.push(SpecialToken::new(content.as_str(), id));
                }
            }
        }
        let mut special = SpecialTokens::new(tokens)?;
        (special.bos, special.eos, special.pad) = (self.special.bos, self.special.eos, self.special.pad);
        roles.assign(&mut special)?;
        let spec = Self { special, ..self.clone() };
        spec.check_ids()?;
        Ok(spec)
    }

    /// That no two tokens share an id.
    pub(crate) fn check_ids(&self) -> Result<()> {
        let fallback: &[TokenId] = match &self.alphabet {
            Alphabet::CharactersAndBytes(ids) => &ids[..],
            Alphabet::Bytes | Alphabet::CharactersOr(_) => &[],
        };
        if let Alphabet::CharactersOr(unknown) = self.alphabet
            && self.vocab.bytes(unknown).is_none()
            && self.special.by_id(unknown).is_none()
        {
            return Err(Error::Vocabulary(format!("the id {unknown} of unknown characters is no token")));
        }
        for (byte, &id) in fallback.iter().enumerate() {
            if self.vocab.bytes(id).is_some() || fallback[..byte].contains(&id) {
                return Err(Error::Vocabulary(format!(
                    "the byte 0x{byte:02X} shares its id {id} with a token"
                )));
            }
        }
        for token in self.special.tokens() {
            if fallback.contains(&token.id) {
                return Err(Error::SpecialToken(format!(
                    "special token {} cannot have id {}: that is a byte",
                    excerpt(&token.content),
                    token.id
                )));
            }
            if let Some(bytes) = self.vocab.bytes(token.id) {
                return Err(Error::SpecialToken(format!(
                    "special token {} cannot have id {}: that is the token \"{}\"",
                    excerpt(&token.content),
                    token.id,
                    bytes.escape_ascii()
                )));
            }
        }
        Ok(())
    }
}

/// The first piece that stands for the same bytes as one before it.
fn repeated_piece(pieces: &[Vec<u8>], symbols: usize, base: TokenId) -> Option<Error> {
    let mut seen = HashMap::new();
    for (index, piece) in pieces.iter().enumerate() {
        let Some(first) = seen.insert(piece, index) else { continue };
        let shown = String::from_utf8_lossy(piece);
        return Some(Error::Vocabulary(match index.checked_sub(symbols) {
            None => format!("characters[{index}]: is {shown:?} again"),
            Some(merge) => {
                let known = base as usize + first;
                format!("merges[{merge}]: makes {shown:?}, which is the token {known} already")
            }
        }));
    }
    None
}

/// Special tokens named for the roles; `None` leaves a role as it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Roles<'a> {
    /// Begins a sequence.
    pub bos: Option<&'a str>,
    /// Ends a sequence.
    pub eos: Option<&'a str>,
    /// Fills up padded rows.
    pub pad: Option<&'a str>,
}

impl Roles<'_> {
    /// Gives the named tokens of `special` their roles.
    pub fn assign(self, special: &mut SpecialTokens) -> Result<()> {
        let find = |role: &str, name: &str, special: &SpecialTokens| {
            special.id_of(name).ok_or_else(|| {
                Error::SpecialToken(format!(
                    "{role} names {}, which is not a special token; declare it among the special tokens",
                    excerpt(name)
                ))
            })
        };
        if let Some(name) = self.bos {
            special.bos = Some(find("bos", name, special)?);
        }
        if let Some(name) = self.eos {
            special.eos = Some(find("eos", name, special)?);
        }
        if let Some(name) = self.pad {
            special.pad = Some(find("pad", name, special)?);
        }
        Ok(())
    }
}
