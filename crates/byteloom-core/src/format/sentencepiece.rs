//! SentencePiece models (`tokenizer.model`): byte-pair encoding over characters, with bytes for unknown ones.
//!
//! Only what can be honoured exactly is read: BPE with byte fallback and no normalization but the space sign. What
//! makes ids differ is refused by name.
//!
//! A piece has its space signs (U+2581) replaced by spaces, so that the vocabulary is real text; the normalizer does
//! the same to the input, as SentencePiece does it the other way round. Merges follow from the scores.

use std::collections::HashMap;

use serde_json::json;

use super::check_size;
use super::protobuf::{Field, Message};
use super::recover::{LastMerge, Symbols};
use crate::error::{Error, Result, excerpt};
use crate::normalize::{Normalizer, Prefix, SPACE_SIGN};
use crate::pretokenize::PreTokenizer;
use crate::spec::{Alphabet, SpecialPosition, TokenizerSpec};
use crate::special::{SpecialToken, SpecialTokens, TokenFlags};
use crate::token::{MAX_TOKEN_BYTES, MAX_TOKEN_ID, Rank, TokenId};
use crate::vocab::Vocabulary;

/// Fields with higher numbers are extensions, which anyone may add.
const EXTENSIONS: u32 = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Normal,
    Unknown,
    Control,
    UserDefined,
    Byte,
}

struct Piece<'d> {
    text: &'d str,
    score: f32,
    kind: Kind,
}

/// What a trainer wrote down, as far as ids depend on it.
#[derive(Default)]
struct Trainer<'d> {
    model_type: Option<i64>,
    vocab_size: Option<i64>,
    byte_fallback: Option<bool>,
    whitespace_as_suffix: Option<bool>,
    /// Ids and names of `unk`, `bos`, `eos`, `pad`.
    ids: [Option<i64>; 4],
    names: [Option<&'d str>; 4],
}

const ROLES: [(&str, &str); 4] = [("unk", "<unk>"), ("bos", "<s>"), ("eos", "</s>"), ("pad", "<pad>")];

#[derive(Default)]
struct NormalizerSpec<'d> {
    name: Option<&'d str>,
    charsmap: Option<&'d [u8]>,
    add_dummy_prefix: Option<bool>,
    remove_extra_whitespaces: Option<bool>,
    escape_whitespaces: Option<bool>,
    rules: Option<&'d str>,
}

/// Reads a model.
///
/// # Errors
/// [`Error::Format`] with a byte offset or a piece for a damaged file, and for a model that could not be honoured
/// exactly: another model type, no byte fallback, a normalizer that changes text.
pub fn read(data: &[u8]) -> Result<TokenizerSpec> {
    check_size(data)?;
    let mut pieces = Vec::new();
    let (mut trainer, mut normalizer) = (None, None);
    let mut message = Message::new(data);
    while let Some(field) = message.next()? {
        match field.number {
            1 => pieces.push(read_piece(&field, pieces.len())?),
            2 => once(&field, &mut trainer, read_trainer(field.message()?)?)?,
            3 => once(&field, &mut normalizer, read_normalizer(field.message()?)?)?,
            // Sentences with which SentencePiece tests itself.
            4 => drop(field.message()?),
            5 => check_denormalizer(field.message()?)?,
            EXTENSIONS.. => {}
            other => {
                return Err(field.fault(format!("a SentencePiece model has no field {other}")));
            }
        }
    }
    let missing = |part: &str| {
        Error::format(part, "is missing; this is no whole SentencePiece model, or a file that was cut short")
    };
    let trainer = trainer.ok_or_else(|| missing("trainer_spec"))?;
    let normalizer = normalizer.ok_or_else(|| missing("normalizer_spec"))?;
    if pieces.is_empty() {
        return Err(missing("pieces"));
    }
    check_trainer(&trainer, pieces.len())?;
    let normalizer = check_normalizer(&normalizer)?;
    build(&pieces, &trainer, normalizer)
}

/// Keeps the value of a field that may be there once.
fn once<T>(field: &Field<'_>, slot: &mut Option<T>, value: T) -> Result<()> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(field.fault(format!("field {} is given twice", field.number))),
    }
}

fn read_piece<'d>(field: &Field<'d>, index: usize) -> Result<Piece<'d>> {
    let within = |error: Error| match error {
        Error::Format { place, message } => {
            Error::format(format!("pieces[{index}]"), format!("{place}: {message}"))
        }
        other => other,
    };
    let fault = |message: String| Error::format(format!("pieces[{index}]"), message);
    if index > MAX_TOKEN_ID as usize {
        return Err(fault(format!("is one too many; the largest id is {MAX_TOKEN_ID}")));
    }
    let (mut text, mut score, mut kind) = (None, None, None);
    let mut message = field.message()?;
    while let Some(part) = message.next().map_err(within)? {
        match part.number {
            1 => once(&part, &mut text, part.text().map_err(within)?),
            2 => once(&part, &mut score, part.float().map_err(within)?),
            3 => once(&part, &mut kind, part.int().map_err(within)?),
            EXTENSIONS.. => Ok(()),
            other => Err(part.fault(format!("a piece has no field {other}"))),
        }
        .map_err(within)?;
    }
    let text = text.filter(|text| !text.is_empty()).ok_or_else(|| fault("has no text".to_owned()))?;
    if text.len() > MAX_TOKEN_BYTES {
        return Err(fault(format!("has {} bytes; the longest allowed is {MAX_TOKEN_BYTES}", text.len())));
    }
    let score = score.unwrap_or(0.0);
    if !score.is_finite() {
        return Err(fault(format!("{} has the score {score}, which is no number", excerpt(text))));
    }
    let kind = match kind.unwrap_or(1) {
        1 => Kind::Normal,
        2 => Kind::Unknown,
        3 => Kind::Control,
        4 => Kind::UserDefined,
        5 => {
            return Err(fault(format!(
                "{} is of type UNUSED, which is not supported: SentencePiece takes such pieces apart again after \
                 merging",
                excerpt(text)
            )));
        }
        6 => Kind::Byte,
        other => return Err(fault(format!("{} is of type {other}; types go from 1 to 6", excerpt(text)))),
    };
    Ok(Piece { text, score, kind })
}

fn read_trainer(mut message: Message<'_>) -> Result<Trainer<'_>> {
    let mut trainer = Trainer::default();
    while let Some(field) = message.next()? {
        match field.number {
            3 => once(&field, &mut trainer.model_type, field.int()?)?,
            4 => once(&field, &mut trainer.vocab_size, field.int()?)?,
            24 => once(&field, &mut trainer.whitespace_as_suffix, field.flag()?)?,
            35 => once(&field, &mut trainer.byte_fallback, field.flag()?)?,
            number @ 40..=43 => once(&field, &mut trainer.ids[number as usize - 40], field.int()?)?,
            number @ 45..=48 => once(&field, &mut trainer.names[number as usize - 45], field.text()?)?,
            // The others say how the model was trained, not what it does.
            _ => {}
        }
    }
    Ok(trainer)
}

fn read_normalizer(mut message: Message<'_>) -> Result<NormalizerSpec<'_>> {
    let mut spec = NormalizerSpec::default();
    while let Some(field) = message.next()? {
        match field.number {
            1 => once(&field, &mut spec.name, field.text()?)?,
            2 => once(&field, &mut spec.charsmap, field.bytes()?)?,
            3 => once(&field, &mut spec.add_dummy_prefix, field.flag()?)?,
            4 => once(&field, &mut spec.remove_extra_whitespaces, field.flag()?)?,
            5 => once(&field, &mut spec.escape_whitespaces, field.flag()?)?,
            6 => once(&field, &mut spec.rules, field.text()?)?,
            EXTENSIONS.. => {}
            other => {
                return Err(Error::format(
                    "normalizer_spec",
                    format!("{}: field {other} is not known, and may change text", field.place()),
                ));
            }
        }
    }
    Ok(spec)
}

fn check_denormalizer(message: Message<'_>) -> Result<()> {
    let spec = read_normalizer(message)?;
    if spec.charsmap.is_some_and(|map| !map.is_empty()) {
        return Err(Error::format("denormalizer_spec", "changes text when decoding, which is not supported"));
    }
    Ok(())
}

fn check_trainer(trainer: &Trainer<'_>, pieces: usize) -> Result<()> {
    match trainer.model_type {
        Some(2) => {}
        other => {
            let name = match other {
                None | Some(1) => "UNIGRAM",
                Some(3) => "WORD",
                Some(4) => "CHAR",
                Some(_) => "of no known type",
            };
            return Err(Error::format(
                "trainer_spec.model_type",
                format!("this model is {name}; only BPE is supported"),
            ));
        }
    }
    // More pieces than that are fine: people add some after training.
    if let Some(size) = trainer.vocab_size
        && i64::try_from(pieces).is_ok_and(|pieces| pieces < size)
    {
        return Err(Error::format(
            "trainer_spec.vocab_size",
            format!("is {size}, but the file holds {pieces} pieces; it is damaged"),
        ));
    }
    if trainer.byte_fallback != Some(true) {
        return Err(Error::format(
            "trainer_spec.byte_fallback",
            "is off, so characters that are no piece would be lost; only models with byte fallback are supported",
        ));
    }
    if trainer.whitespace_as_suffix == Some(true) {
        return Err(Error::format(
            "trainer_spec.treat_whitespace_as_suffix",
            "is on, which is not supported",
        ));
    }
    Ok(())
}

fn check_normalizer(spec: &NormalizerSpec<'_>) -> Result<Normalizer> {
    let part = |name: &str| format!("normalizer_spec.{name}");
    let name = spec.name.unwrap_or("");
    if spec.charsmap.is_some_and(|map| !map.is_empty()) {
        return Err(Error::format(
            part("precompiled_charsmap"),
            format!(
                "the normalizer {} changes text before it is encoded, so text would be lost; only models trained \
                 with normalization_rule_name=identity are supported",
                excerpt(name)
            ),
        ));
    }
    if !matches!(name, "" | "identity") || spec.rules.is_some_and(|rules| !rules.is_empty()) {
        return Err(Error::format(
            part("name"),
            format!(
                "says {}, but the table of that normalizer is missing; the file is damaged",
                excerpt(name)
            ),
        ));
    }
    if spec.remove_extra_whitespaces.unwrap_or(true) {
        return Err(Error::format(
            part("remove_extra_whitespaces"),
            "is on, so runs of spaces would be lost; this is not supported",
        ));
    }
    if !spec.escape_whitespaces.unwrap_or(true) {
        return Err(Error::format(part("escape_whitespaces"), "is off, which is not supported"));
    }
    let prefix = if spec.add_dummy_prefix.unwrap_or(true) { Prefix::Text } else { Prefix::None };
    Ok(Normalizer { nfc: false, space_sign: true, prefix })
}

fn build(pieces: &[Piece<'_>], trainer: &Trainer<'_>, normalizer: Normalizer) -> Result<TokenizerSpec> {
    let mut ids: HashMap<&str, TokenId> = HashMap::with_capacity(pieces.len());
    let mut tokens = Vec::new();
    let mut special = Vec::new();
    let mut bytes = [None; 256];
    let mut unknown = None;
    for (id, piece) in (0..).zip(pieces) {
        let fault = |message: String| Error::format(format!("pieces[{id}]"), message);
        if let Some(other) = ids.insert(piece.text, id) {
            return Err(fault(format!("{} is pieces[{other}] too", excerpt(piece.text))));
        }
        let matched = matches!(piece.kind, Kind::Normal | Kind::UserDefined);
        if matched && piece.text.contains(' ') {
            return Err(fault(format!(
                "{} holds a space, which SentencePiece writes U+2581, so it is never found; this is not supported",
                excerpt(piece.text)
            )));
        }
        let spaced = || piece.text.replace(SPACE_SIGN, " ");
        match piece.kind {
            Kind::Normal => tokens.push((id, spaced())),
            Kind::UserDefined => {
                let flags = TokenFlags { special: false, normalized: true, ..TokenFlags::default() };
                special.push(SpecialToken { flags, ..SpecialToken::new(spaced(), id) });
            }
            Kind::Control => special.push(SpecialToken::new(piece.text, id)),
            Kind::Unknown => {
                if let Some(other) = unknown.replace(id) {
                    return Err(fault(format!("is a second UNKNOWN piece beside pieces[{other}]")));
                }
                special.push(SpecialToken::new(piece.text, id));
            }
            Kind::Byte => {
                let byte = byte_value(piece.text).ok_or_else(|| {
                    fault(format!(
                        "{} is of type BYTE, but not written <0x00> to <0xFF>",
                        excerpt(piece.text)
                    ))
                })?;
                bytes[usize::from(byte)] = Some(id);
            }
        }
    }
    if unknown.is_none() {
        return Err(Error::format("pieces", "none is of type UNKNOWN, which every SentencePiece model has"));
    }
    let mut byte_ids = Box::new([0; 256]);
    for (byte, id) in bytes.into_iter().enumerate() {
        byte_ids[byte] = id.ok_or_else(|| {
            Error::format("pieces", format!("<0x{byte:02X}> is missing; byte fallback needs all 256 bytes"))
        })?;
    }
    let vocab = Vocabulary::new(tokens).map_err(|error| Error::format("pieces", error.to_string()))?;
    let mut special =
        SpecialTokens::new(special).map_err(|error| Error::format("pieces", error.to_string()))?;
    if vocab.id(b" ").is_none() && special.id_of(" ").is_none() {
        return Err(Error::format(
            "pieces",
            "the space sign U+2581 is none of them, so each space would become the bytes of that sign; this is not \
             supported",
        ));
    }
    let roles = roles(pieces, trainer, &ids)?;
    [special.bos, special.eos, special.pad] = [roles[1], roles[2], roles[3]];
    let (merges, shared_ranks) = merges(pieces, &vocab)?;
    // The scanner cuts before each run of spaces. A merge across a cut makes a token with a space behind another
    // character; user-defined pieces are cut out before.
    let inside = |text: &str| text.trim_start_matches(' ').contains(' ');
    let cuts_nothing =
        vocab.iter().all(|(_, bytes)| std::str::from_utf8(bytes).is_ok_and(|text| !inside(text)));
    Ok(TokenizerSpec {
        vocab,
        merges,
        shared_ranks,
        whole_tokens: false,
        normalizer,
        pretokenizer: PreTokenizer::new(if cuts_nothing { "sentencepiece" } else { "none" })?,
        special,
        special_position: SpecialPosition::Last,
        alphabet: Alphabet::CharactersAndBytes(byte_ids),
        metadata: json!({}),
    })
}

/// `0x41` of `<0x41>`.
fn byte_value(text: &str) -> Option<u8> {
    let digits = text.strip_prefix("<0x")?.strip_suffix('>')?;
    let upper = |digit: u8| digit.is_ascii_digit() || (b'A'..=b'F').contains(&digit);
    let valid = digits.len() == 2 && digits.bytes().all(upper);
    u8::from_str_radix(digits, 16).ok().filter(|_| valid)
}

/// The ids of `unk`, `bos`, `eos` and `pad`. SentencePiece goes by the names; an id that says otherwise is damage.
fn roles(
    pieces: &[Piece<'_>],
    trainer: &Trainer<'_>,
    ids: &HashMap<&str, TokenId>,
) -> Result<[Option<TokenId>; 4]> {
    let mut found = [None; 4];
    for (index, (role, default)) in ROLES.into_iter().enumerate() {
        let name = trainer.names[index].unwrap_or(default);
        let kind = if index == 0 { Kind::Unknown } else { Kind::Control };
        found[index] = ids.get(name).copied().filter(|&id| pieces[id as usize].kind == kind);
        if let Some(id) = trainer.ids[index].filter(|&id| id >= 0)
            && found[index].map(i64::from) != Some(id)
        {
            let place = format!("trainer_spec.{role}_id");
            let kind = if index == 0 { "UNKNOWN" } else { "CONTROL" };
            return Err(Error::format(
                place,
                format!("is {id}, but pieces[{id}] is not {} of type {kind}", excerpt(name)),
            ));
        }
    }
    Ok(found)
}

type Merges = (Vec<(TokenId, TokenId)>, Option<Vec<Rank>>);

/// The last merge of each piece encoded by itself, in order of score, the highest first.
fn merges(pieces: &[Piece<'_>], vocab: &Vocabulary) -> Result<Merges> {
    // Zeros of both signs are one score.
    let score = |id: TokenId| pieces[id as usize].score + 0.0;
    let mut scores: Vec<f32> = vocab.iter().map(|(id, _)| score(id)).collect();
    scores.sort_by(|a, b| b.total_cmp(a));
    scores.dedup();
    let class_of = |id: TokenId| scores.partition_point(|other| *other > score(id)) as Rank;
    let classes: Vec<Rank> =
        (0..vocab.id_end()).map(|id| if vocab.bytes(id).is_some() { class_of(id) } else { 0 }).collect();
    let mut found = Vec::with_capacity(vocab.len());
    let mut last_merge = LastMerge::default();
    for (id, bytes) in vocab.iter() {
        let rank = |joined: &[u8]| vocab.id(joined).map(|id| classes[id as usize]);
        let Some((left, right)) = last_merge.find(bytes, Symbols::Characters, rank) else { continue };
        let (Some(left), Some(right)) = (vocab.id(left), vocab.id(right)) else {
            return Err(Error::format(
                format!("pieces[{id}]"),
                format!(
                    "{} is made from a character that is no piece by itself, which is not supported",
                    excerpt(pieces[id as usize].text)
                ),
            ));
        };
        found.push((classes[id as usize], (left, right)));
    }
    found.sort_by_key(|&(class, _)| class);
    // Ranks count the classes that merges have.
    let mut ranks = Vec::with_capacity(found.len());
    for (place, &(class, _)) in found.iter().enumerate() {
        let last = ranks.last().copied();
        ranks.push(match last {
            Some(rank) if found[place - 1].0 == class => rank,
            Some(rank) => rank + 1,
            None => 0,
        });
    }
    let shared = ranks.last().is_some_and(|&last| last as usize + 1 < ranks.len());
    Ok((found.into_iter().map(|(_, pair)| pair).collect(), shared.then_some(ranks)))
}
