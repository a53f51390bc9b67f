//! Reading `tokenizer.json` and `tokenizer_config.json`.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Value;
use unicode_normalization::is_nfc;

use super::super::check_size;
use super::super::json::{Json, get, parse};
use super::merges::MergeList;
use super::roles::{read_config, read_post_processor};
use super::{dialect, quick};
use crate::error::{Error, Result, excerpt};
use crate::letters;
use crate::normalize::{Normalizer, Prefix};
use crate::pretokenize::PreTokenizer;
use crate::spec::{Alphabet, SpecialPosition, TokenizerSpec};
use crate::special::{SpecialToken, SpecialTokens, TokenFlags};
use crate::token::TokenId;
use crate::vocab::Vocabulary;

pub(super) type Entries<'j, 'a> = &'j [(Cow<'a, str>, Json<'a>)];

/// Reads a `tokenizer.json`, and the `tokenizer_config.json` beside it where one is given.
///
/// `bos` and `eos` are what the file's template adds; `pad` is that of the config. The names that the config gives
/// to tokens are kept in the metadata.
///
/// # Errors
/// [`Error::Format`] naming the part that is faulty or cannot be honoured.
pub fn read(data: &[u8], config: Option<&[u8]>) -> Result<TokenizerSpec> {
    check_size(data)?;
    let spec = match read_plain(data) {
        Some(spec) => spec,
        None => read_carefully(data)?,
    };
    with_config(spec, config)
}

/// Reads a `tokenizer.json` that is nothing but usual; `None` of any other file, faulty or not.
pub fn read_plain(data: &[u8]) -> Option<TokenizerSpec> {
    quick::read(data)
}

/// Adds what the `tokenizer_config.json` says.
///
/// # Errors
/// [`Error::Format`] naming the part of it that is faulty, or that contradicts the tokenizer.
pub fn with_config(mut spec: TokenizerSpec, config: Option<&[u8]>) -> Result<TokenizerSpec> {
    if let Some(config) = config {
        check_size(config)?;
        read_config(config, &mut spec)?;
    }
    Ok(spec)
}

/// Reads any `tokenizer.json`.
pub(super) fn read_carefully(data: &[u8]) -> Result<TokenizerSpec> {
    let file = parse(data, "tokenizer.json")?;
    let Json::Object(parts) = &file else {
        return Err(Error::format("file", "is JSON but no object, so it is no tokenizer.json"));
    };
    assemble(parts, build)
}

/// The ordinary vocabulary, and the merges.
pub(super) type Tables = (Vocabulary, Vec<(TokenId, TokenId)>);

/// What the parts of a file give; `tables` are made of the model, without its added tokens.
pub(super) fn assemble(
    parts: Entries<'_, '_>,
    tables: impl FnOnce(&Model<'_, '_>, &[SpecialToken]) -> Result<Tables>,
) -> Result<TokenizerSpec> {
    let known = [
        "version",
        "truncation",
        "padding",
        "added_tokens",
        "normalizer",
        "pre_tokenizer",
        "post_processor",
        "decoder",
        "model",
    ];
    only_keys(parts, "", &known)?;
    for (name, python) in [("truncation", "no_truncation()"), ("padding", "no_padding()")] {
        if !get(parts, name).is_null() {
            return Err(Error::format(
                name,
                format!(
                    "is an option of calls kept in the file, and would change ids; set it to null, or save the file \
                     after tokenizer.{python}"
                ),
            ));
        }
    }
    let model = read_model(object(get(parts, "model"), "model")?)?;
    let (pretokenizer, prefix) = read_pretokenizer(get(parts, "pre_tokenizer"))?;
    let nfc = read_normalizer(get(parts, "normalizer"), "normalizer")?;
    let mut tokens = read_added_tokens(get(parts, "added_tokens"), nfc)?;
    if prefix {
        flatten_normalized(&mut tokens, nfc)?;
    }
    let (vocab, merges) = tables(&model, &tokens)?;
    let mut special =
        SpecialTokens::new(tokens).map_err(|error| Error::format("added_tokens", error.to_string()))?;
    read_decoder(get(parts, "decoder"), "decoder")?;
    (special.bos, special.eos) =
        read_post_processor(get(parts, "post_processor"), "post_processor", &special)?;
    Ok(TokenizerSpec {
        vocab,
        merges,
        shared_ranks: None,
        whole_tokens: model.whole_tokens,
        normalizer: Normalizer {
            nfc,
            space_sign: false,
            prefix: if prefix { Prefix::Segment } else { Prefix::None },
        },
        pretokenizer,
        special,
        special_position: SpecialPosition::Last,
        alphabet: Alphabet::Bytes,
        metadata: Value::Object(serde_json::Map::new()),
    })
}

pub(super) fn object<'j, 'a>(value: &'j Json<'a>, place: &str) -> Result<Entries<'j, 'a>> {
    match value {
        Json::Object(entries) => Ok(entries),
        Json::Null => Err(Error::format(place, "is missing")),
        other => Err(Error::format(place, format!("must be an object, not {}", other.kind()))),
    }
}

pub(super) fn only_keys(entries: Entries<'_, '_>, place: &str, known: &[&str]) -> Result<()> {
    match entries.iter().find(|(key, _)| !known.contains(&&**key)) {
        None => Ok(()),
        Some((key, _)) => {
            let place = if place.is_empty() { key.to_string() } else { format!("{place}.{key}") };
            Err(Error::format(
                place,
                "is not known to byteloom, and could change ids; remove it if it does nothing",
            ))
        }
    }
}

/// A flag; `None` where it is absent, which the caller decides about.
pub(super) fn flag(entries: Entries<'_, '_>, key: &str, place: &str) -> Result<Option<bool>> {
    match get(entries, key) {
        Json::Null => Ok(None),
        Json::Bool(value) => Ok(Some(*value)),
        other => Err(Error::format(
            format!("{place}.{key}"),
            format!("must be true or false, not {}", other.kind()),
        )),
    }
}

pub(super) fn needed_flag(entries: Entries<'_, '_>, key: &str, place: &str) -> Result<bool> {
    flag(entries, key, place)?.ok_or_else(|| Error::format(format!("{place}.{key}"), "is missing"))
}

/// The type of a part, and its entries.
pub(super) fn typed<'j, 'a>(value: &'j Json<'a>, place: &str) -> Result<(&'j str, Entries<'j, 'a>)> {
    let entries = object(value, place)?;
    Ok((get(entries, "type").str_at(&format!("{place}.type"))?, entries))
}

pub(super) fn unsupported(place: &str, kind: &str, supported: &str) -> Error {
    Error::format(format!("{place}.type"), format!("{} is not supported; {supported}", excerpt(kind)))
}

pub(super) fn list<'j, 'a>(entries: Entries<'j, 'a>, key: &str, place: &str) -> Result<&'j [Json<'a>]> {
    match get(entries, key) {
        Json::List(list) => Ok(list),
        other => {
            Err(Error::format(format!("{place}.{key}"), format!("must be a list, not {}", other.kind())))
        }
    }
}

/// The model as it stands in the file.
pub(super) struct Model<'j, 'a> {
    pub(super) vocab: Entries<'j, 'a>,
    pub(super) merges: &'j [Json<'a>],
    whole_tokens: bool,
}

fn read_model<'j, 'a>(entries: Entries<'j, 'a>) -> Result<Model<'j, 'a>> {
    match get(entries, "type") {
        Json::Null => {}
        kind => match kind.str_at("model.type")? {
            "BPE" => {}
            other => return Err(unsupported("model", other, "only \"BPE\" is")),
        },
    }
    let known = [
        "type",
        "dropout",
        "unk_token",
        "continuing_subword_prefix",
        "end_of_word_suffix",
        "fuse_unk",
        "byte_fallback",
        "ignore_merges",
        "vocab",
        "merges",
    ];
    only_keys(entries, "model", &known)?;
    let refuse = |key: &str, why: &str| Error::format(format!("model.{key}"), why.to_owned());
    match get(entries, "dropout") {
        Json::Null | Json::Integer(0) => {}
        Json::Float(dropout) if *dropout == 0.0 => {}
        _ => return Err(refuse("dropout", "makes ids random; set it to null")),
    }
    for key in ["continuing_subword_prefix", "end_of_word_suffix"] {
        match get(entries, key) {
            Json::Null => {}
            Json::String(affix) if affix.is_empty() => {}
            _ => return Err(refuse(key, "is not supported: byte-level BPE marks words by their spaces")),
        }
    }
    // With all bytes present, which is checked, nothing is ever unknown.
    match get(entries, "unk_token") {
        Json::Null | Json::String(_) => {}
        _ => return Err(refuse("unk_token", "must be a string or null")),
    }
    flag(entries, "fuse_unk", "model")?;
    if flag(entries, "byte_fallback", "model")? == Some(true) {
        return Err(refuse(
            "byte_fallback",
            "is not supported in tokenizer.json: the vocabulary must hold bytes",
        ));
    }
    Ok(Model {
        vocab: object(get(entries, "vocab"), "model.vocab")?,
        merges: list(entries, "merges", "model")?,
        whole_tokens: flag(entries, "ignore_merges", "model")?.unwrap_or(false),
    })
}

/// The ordinary vocabulary and the merges. An added token that the model holds too is taken out of it.
fn build(model: &Model<'_, '_>, tokens: &[SpecialToken]) -> Result<Tables> {
    let added: HashMap<&str, TokenId> = tokens.iter().map(|token| (&*token.content, token.id)).collect();
    let vocab = read_vocab(model.vocab, "model.vocab", &added)?;
    let pairs = model.merges.iter().map(|merge| match merge {
        Json::String(line) => match line.split_once(' ') {
            Some((left, right)) if !right.contains(' ') => Ok((left, right)),
            _ => Err(format!("{} is not two tokens with a space between", excerpt(line))),
        },
        Json::List(pair) => match pair.as_slice() {
            [Json::String(left), Json::String(right)] => Ok((&**left, &**right)),
            _ => Err("must be a pair of strings".to_owned()),
        },
        other => Err(format!("must be a string or a pair, not {}", other.kind())),
    });
    let merges = find_merges(&vocab, &added, pairs)
        .map_err(|(index, message)| Error::format(format!("model.merges[{index}]"), message))?;
    Ok((vocab, merges))
}

/// The ordinary tokens of a vocabulary in letters.
pub(in crate::format) fn read_vocab(
    entries: Entries<'_, '_>,
    place: &str,
    added: &HashMap<&str, TokenId>,
) -> Result<Vocabulary> {
    let mut ordinary = Vec::with_capacity(entries.len());
    for (token, id) in entries {
        let place = || format!("{place}[{}]", excerpt(token));
        // The place costs an allocation, so it is made for faults alone.
        let id = id.id_at("").or_else(|_| id.id_at(&place()))?;
        match added.get(&**token) {
            Some(&declared) if declared == id => continue,
            Some(declared) => {
                return Err(Error::format(
                    place(),
                    format!("has id {id}, but as an added token it has {declared}; only one can be right"),
                ));
            }
            None => {}
        }
        let bytes = letters::unspell(token).ok_or_else(|| {
            Error::format(
                place(),
                "is not spelled in byte letters (a space is Ġ) and is no added token; only byte-level BPE is \
                 supported",
            )
        })?;
        ordinary.push((id, bytes));
    }
    let of_vocab = |error: Error| Error::format(place, error.to_string());
    let vocab = Vocabulary::new(ordinary).map_err(of_vocab)?;
    vocab.byte_ids().map_err(of_vocab)?;
    Ok(vocab)
}

/// The ids of merges, or the place and the fault of the first that does not fit the vocabulary.
pub(in crate::format) fn find_merges<'m>(
    vocab: &Vocabulary,
    added: &HashMap<&str, TokenId>,
    pairs: impl Iterator<Item = std::result::Result<(&'m str, &'m str), String>>,
) -> std::result::Result<Vec<(TokenId, TokenId)>, (usize, String)> {
    let mut merges = MergeList::new(vocab);
    let mut joined = Vec::new();
    for (index, pair) in pairs.enumerate() {
        let (left, right) = pair.map_err(|message| (index, message))?;
        joined.clear();
        let mut part = |token: &str| {
            let start = joined.len();
            for letter in token.chars() {
                joined.push(letters::byte_of(letter)?);
            }
            vocab.id(&joined[start..])
        };
        let missing = |token: &str| {
            let shown = excerpt(token);
            let message = if added.contains_key(token) {
                format!("makes use of {shown}, which is an added token as well; that is not supported")
            } else {
                format!("names or makes {shown}, which is not in the vocabulary")
            };
            (index, message)
        };
        let pair = (part(left).ok_or_else(|| missing(left))?, part(right).ok_or_else(|| missing(right))?);
        let is_new = merges.push(pair, &joined).ok_or_else(|| missing(&format!("{left}{right}")))?;
        if !is_new {
            return Err((index, format!("{} {} is there twice", excerpt(left), excerpt(right))));
        }
    }
    Ok(merges.into_pairs())
}

/// The pre-tokenizer, and whether a space is put before text.
fn read_pretokenizer(value: &Json<'_>) -> Result<(PreTokenizer, bool)> {
    let place = "pre_tokenizer";
    if value.is_null() {
        return Err(Error::format(place, "is missing; byte-level BPE needs ByteLevel there"));
    }
    let (kind, entries) = typed(value, place)?;
    let mut parts: Vec<(String, &Json<'_>)> = Vec::new();
    if kind == "Sequence" {
        only_keys(entries, place, &["type", "pretokenizers"])?;
        for (index, part) in list(entries, "pretokenizers", place)?.iter().enumerate() {
            parts.push((format!("{place}.pretokenizers[{index}]"), part));
        }
    } else {
        parts.push((place.to_owned(), value));
    }
    let mut members = Vec::new();
    let mut prefix = false;
    let last = parts.len().wrapping_sub(1);
    let byte_level_last = || Error::format(place, "must end in ByteLevel; without it tokens are not bytes");
    if parts.is_empty() {
        return Err(byte_level_last());
    }
    for (index, (place, part)) in parts.iter().enumerate() {
        let (kind, entries) = typed(part, place)?;
        if kind != "ByteLevel" {
            members.push(read_splitter(kind, entries, place)?);
            if index == last {
                return Err(byte_level_last());
            }
            continue;
        }
        if index != last {
            return Err(Error::format(
                place.as_str(),
                "ByteLevel must be the last: what follows it would see letters instead of text",
            ));
        }
        only_keys(entries, place, &["type", "add_prefix_space", "trim_offsets", "use_regex"])?;
        prefix = needed_flag(entries, "add_prefix_space", place)?;
        flag(entries, "trim_offsets", place)?;
        if prefix && index > 0 {
            return Err(Error::format(
                format!("{place}.add_prefix_space"),
                "puts a space before every piece that the parts before it cut, which is not supported; it must be \
                 false here",
            ));
        }
        if flag(entries, "use_regex", place)?.unwrap_or(true) {
            members.push(PreTokenizer::new("gpt2")?);
        }
    }
    let pretokenizer =
        PreTokenizer::sequence(members).map_err(|error| Error::format(place, error.to_string()))?;
    Ok((pretokenizer, prefix))
}

fn read_splitter(kind: &str, entries: Entries<'_, '_>, place: &str) -> Result<PreTokenizer> {
    match kind {
        "Digits" => {
            only_keys(entries, place, &["type", "individual_digits"])?;
            let single = needed_flag(entries, "individual_digits", place)?;
            PreTokenizer::new(if single { r"\p{N}" } else { r"\p{N}+" })
        }
        "Split" => {
            only_keys(entries, place, &["type", "pattern", "behavior", "invert"])?;
            let invert = flag(entries, "invert", place)?.unwrap_or(false);
            match (get(entries, "behavior").as_str(), invert) {
                (Some("Isolated"), false) => {}
                (Some("Removed"), true) => {
                    return Err(Error::format(
                        format!("{place}.behavior"),
                        "\"Removed\" with invert drops all text that the regex does not match; if it matches every \
                         text as a whole, write \"Isolated\" with invert false, which is then the same",
                    ));
                }
                _ => {
                    return Err(Error::format(
                        format!("{place}.behavior"),
                        "only \"Isolated\" with invert false is supported",
                    ));
                }
            }
            let pattern = object(get(entries, "pattern"), &format!("{place}.pattern"))?;
            match pattern {
                [(key, Json::String(text))] if key == "String" && !text.is_empty() => {
                    PreTokenizer::new(&format!("(?:{})", dialect::literal(text)))
                }
                [(key, Json::String(regex))] if key == "Regex" => dialect::read(regex).map_err(|fault| {
                    Error::format(
                        format!("{place}.pattern.Regex"),
                        format!("{fault} (in the regex {})", excerpt(regex)),
                    )
                }),
                _ => Err(Error::format(
                    format!("{place}.pattern"),
                    "must hold a \"Regex\", or a \"String\" that is not empty",
                )),
            }
        }
        _ => Err(unsupported(place, kind, "Split, Digits, ByteLevel and a Sequence of these are")),
    }
    .map_err(|error| match error {
        Error::Format { .. } => error,
        other => Error::format(place, other.to_string()),
    })
}

/// Whether text is put into normalization form C.
fn read_normalizer(value: &Json<'_>, place: &str) -> Result<bool> {
    if value.is_null() {
        return Ok(false);
    }
    let (kind, entries) = typed(value, place)?;
    match kind {
        "NFC" => only_keys(entries, place, &["type"]).map(|()| true),
        "Sequence" => {
            only_keys(entries, place, &["type", "normalizers"])?;
            let mut nfc = false;
            for (index, part) in list(entries, "normalizers", place)?.iter().enumerate() {
                let place = format!("{place}.normalizers[{index}]");
                if typed(part, &place)?.0 == "Sequence" {
                    return Err(unsupported(&place, "Sequence", "a Sequence must not hold another"));
                }
                nfc |= read_normalizer(part, &place)?;
            }
            Ok(nfc)
        }
        other => Err(unsupported(place, other, "only NFC is, and only that loses nothing but composition")),
    }
}

fn read_added_tokens(value: &Json<'_>, nfc: bool) -> Result<Vec<SpecialToken>> {
    let list = match value {
        Json::Null => return Ok(Vec::new()),
        Json::List(list) => list,
        other => {
            return Err(Error::format("added_tokens", format!("must be a list, not {}", other.kind())));
        }
    };
    let known = ["id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"];
    let mut tokens: Vec<SpecialToken> = Vec::with_capacity(list.len());
    for (index, value) in list.iter().enumerate() {
        let place = format!("added_tokens[{index}]");
        let entries = object(value, &place)?;
        only_keys(entries, &place, &known)?;
        let id = get(entries, "id").id_at(&format!("{place}.id"))?;
        let content = get(entries, "content").str_at(&format!("{place}.content"))?;
        let flags = read_flags(entries, &place)?;
        if flags.normalized && nfc && !is_nfc(content) {
            return Err(Error::format(
                format!("{place}.content"),
                "is looked for in normalized text but is not in form NFC itself; that is not supported",
            ));
        }
        tokens.push(SpecialToken { flags, ..SpecialToken::new(content, id) });
    }
    Ok(tokens)
}

pub(super) fn read_flags(entries: Entries<'_, '_>, place: &str) -> Result<TokenFlags> {
    let special = flag(entries, "special", place)?.unwrap_or(false);
    let read = |key: &str| Ok(flag(entries, key, place)?.unwrap_or(false));
    Ok(TokenFlags {
        special,
        lstrip: read("lstrip")?,
        rstrip: read("rstrip")?,
        single_word: read("single_word")?,
        normalized: flag(entries, "normalized", place)?.unwrap_or(!special),
    })
}

/// Here a prefix comes before the search for `normalized` tokens, there after it. Without a normalizer the two kinds
/// of tokens are the same as long as there is only one of them.
fn flatten_normalized(tokens: &mut [SpecialToken], nfc: bool) -> Result<()> {
    let normalized = tokens.iter().filter(|token| token.flags.normalized).count();
    if normalized == 0 {
        return Ok(());
    }
    if nfc || normalized < tokens.len() {
        return Err(Error::format(
            "added_tokens",
            "some are \"normalized\" while add_prefix_space is true; that is supported only without a normalizer, \
             and where all of them are",
        ));
    }
    for token in tokens {
        token.flags.normalized = false;
    }
    Ok(())
}

fn read_decoder(value: &Json<'_>, place: &str) -> Result<()> {
    if value.is_null() {
        return Ok(());
    }
    let (kind, entries) = typed(value, place)?;
    match kind {
        "ByteLevel" => only_keys(entries, place, &["type", "add_prefix_space", "trim_offsets", "use_regex"]),
        "Sequence" => match list(entries, "decoders", place)? {
            [only] => {
                let place = format!("{place}.decoders[0]");
                match typed(only, &place)?.0 {
                    "Sequence" => Err(unsupported(&place, "Sequence", "a Sequence must not hold another")),
                    _ => read_decoder(only, &place),
                }
            }
            _ => Err(Error::format(place, "a Sequence of decoders must hold ByteLevel alone")),
        },
        other => Err(unsupported(place, other, "only ByteLevel is")),
    }
}

pub(super) type Frame = (Option<TokenId>, Option<TokenId>);
