//! byteloom's own file: JSON, one section a line so that two versions of a file compare line by line.
//!
//! `sha256` covers the other sections as this module writes them, whatever white space the file has. `vocab` is
//! there only where merges do not determine it; `byte_offset` is then absent.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::check_size;
use crate::error::{Error, Result};
use crate::letters;
use crate::normalize::{Normalizer, Prefix};
use crate::pretokenize::PreTokenizer;
use crate::spec::{Alphabet, SpecialPosition, TokenizerSpec};
use crate::special::{SpecialToken, SpecialTokens, TokenFlags};
use crate::token::{MAX_TOKEN_ID, TokenId};
use crate::vocab::Vocabulary;

/// The version that this module writes, and the newest that it reads.
pub const VERSION: u64 = 1;

/// What a file of merges alone, as the first course saves it, leaves out.
const COURSE_PATTERN: &str = "course-words";
const COURSE_SPECIALS: [&str; 5] = ["<pad>", "<bos>", "<eos>", "<user>", "<assistant>"];

const SECTIONS: [&str; 15] = [
    "format",
    "version",
    "pattern",
    "unicode",
    "normalizer",
    "alphabet",
    "special_tokens",
    "roles",
    "special_position",
    "whole_tokens",
    "byte_offset",
    "vocab",
    "merges",
    "ranks",
    "metadata",
];

/// The file of `spec`.
pub fn write(spec: &TokenizerSpec) -> Vec<u8> {
    let body = body(spec);
    let digest = hex(&Sha256::digest(body.as_bytes()));
    format!("{{\n{body},\n\"sha256\": \"{digest}\"\n}}\n").into_bytes()
}

/// Everything that ids depend on, for the fingerprint.
pub(crate) fn identity(spec: &TokenizerSpec) -> String {
    sections(spec)
        .into_iter()
        .filter(|(name, _)| !matches!(*name, "unicode" | "special_position" | "metadata"))
        .fold(String::new(), |mut text, (name, value)| {
            let _ = writeln!(text, "{name} {value}");
            text
        })
}

fn body(spec: &TokenizerSpec) -> String {
    let lines: Vec<String> =
        sections(spec).into_iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
    lines.join(",\n")
}

fn sections(spec: &TokenizerSpec) -> Vec<(&'static str, String)> {
    let special: Vec<Value> = spec.special.tokens().iter().map(special_value).collect();
    let roles = json!({"bos": spec.special.bos, "eos": spec.special.eos, "pad": spec.special.pad});
    let pretokenizer = &spec.pretokenizer;
    let mut sections = vec![
        ("format", json!("byteloom").to_string()),
        ("version", json!(VERSION).to_string()),
        ("pattern", pattern_value(pretokenizer).to_string()),
        ("unicode", json!(pretokenizer.unicode_version()).to_string()),
        ("normalizer", normalizer_value(&spec.normalizer).to_string()),
        ("alphabet", alphabet_value(&spec.alphabet).to_string()),
        ("special_tokens", Value::Array(special).to_string()),
        ("roles", roles.to_string()),
        ("special_position", json!(spec.special_position.as_str()).to_string()),
        ("whole_tokens", spec.whole_tokens.to_string()),
    ];
    match spec.regular_base() {
        Some(base) => sections.push(("byte_offset", base.to_string())),
        None => sections.push(("vocab", vocab_text(&spec.vocab))),
    }
    sections.push(("merges", merges_text(&spec.merges)));
    if let Some(ranks) = &spec.shared_ranks {
        sections.push(("ranks", json!(ranks).to_string()));
    }
    sections.push(("metadata", spec.metadata.to_string()));
    sections
}

/// Only what is not the default is written, so that the common case stays short.
fn special_value(token: &SpecialToken) -> Value {
    let mut value = json!({"id": token.id, "content": token.content});
    let default = TokenFlags::default();
    for (name, get) in FLAGS {
        if get(&token.flags) != get(&default) {
            value[name] = json!(get(&token.flags));
        }
    }
    value
}

type FlagOf = fn(&TokenFlags) -> bool;
const FLAGS: [(&str, FlagOf); 5] = [
    ("special", |flags| flags.special),
    ("lstrip", |flags| flags.lstrip),
    ("rstrip", |flags| flags.rstrip),
    ("single_word", |flags| flags.single_word),
    ("normalized", |flags| flags.normalized),
];

/// An object; of a sequence, a list of them.
fn pattern_value(pretokenizer: &PreTokenizer) -> Value {
    let single = |member: &PreTokenizer| json!({"name": member.name(), "regex": member.regex()});
    match pretokenizer.members() {
        [one] => single(one),
        members => members.iter().map(single).collect(),
    }
}

fn normalizer_value(normalizer: &Normalizer) -> Value {
    if normalizer.is_identity() {
        return Value::Null;
    }
    json!({
        "nfc": normalizer.nfc,
        "space_sign": normalizer.space_sign,
        "prefix": normalizer.prefix.as_str(),
    })
}

fn alphabet_value(alphabet: &Alphabet) -> Value {
    match alphabet {
        Alphabet::Bytes => json!({"symbols": "bytes"}),
        Alphabet::CharactersAndBytes(ids) => json!({"symbols": "characters", "byte_ids": &ids[..]}),
        Alphabet::CharactersOr(unknown) => json!({"symbols": "characters", "unknown": unknown}),
    }
}

fn vocab_text(vocab: &Vocabulary) -> String {
    let tokens: Vec<Option<String>> =
        (0..vocab.id_end()).map(|id| vocab.bytes(id).map(letters::spell)).collect();
    json!(tokens).to_string()
}

fn merges_text(merges: &[(TokenId, TokenId)]) -> String {
    let mut text = String::with_capacity(merges.len() * 14);
    text.push('[');
    for (index, (left, right)) in merges.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        let _ = write!(text, "{comma}[{left},{right}]");
    }
    text.push(']');
    text
}

fn hex(digest: &[u8]) -> String {
    digest.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Reads a native file, or the first course's `{"merges": [[a, b], …]}`.
///
/// # Errors
/// [`Error::Format`] with a line or a section for anything that is not as this module writes it; other errors
/// where the parts do not fit together.
pub fn read(data: &[u8]) -> Result<TokenizerSpec> {
    check_size(data)?;
    let value: Value = serde_json::from_slice(data).map_err(|error| {
        Error::format(
            format!("line {} column {}", error.line(), error.column()),
            format!("not JSON: {error}"),
        )
    })?;
    let Value::Object(sections) = value else {
        return Err(Error::format("file", "is JSON but no object, so it is no tokenizer"));
    };
    if sections.len() == 1 && sections.contains_key("merges") {
        let merges = read_merges(&sections)?;
        let names = COURSE_SPECIALS.map(str::to_owned);
        let pretokenizer = PreTokenizer::new(COURSE_PATTERN)?;
        return TokenizerSpec::from_merges(&merges, pretokenizer, &names, SpecialPosition::Last);
    }
    match sections.get("format").and_then(Value::as_str) {
        Some("byteloom") => {}
        _ => {
            return Err(Error::format(
                "file",
                "is JSON, but not a byteloom tokenizer (it has no \"format\": \"byteloom\")",
            ));
        }
    }
    match sections.get("version").and_then(Value::as_u64) {
        Some(VERSION) => {}
        Some(newer) if newer > VERSION => {
            return Err(Error::format(
                "version",
                format!("is {newer}, but this byteloom reads up to {VERSION}; a newer one wrote this file"),
            ));
        }
        _ => return Err(Error::format("version", format!("must be {VERSION}"))),
    }
    if let Some(unknown) =
        sections.keys().find(|name| *name != "sha256" && !SECTIONS.contains(&name.as_str()))
    {
        return Err(Error::format(unknown.clone(), "is no section of a byteloom tokenizer"));
    }
    let expected = string(&sections, "sha256")?;
    let spec = read_sections(&sections)?;
    let found = hex(&Sha256::digest(body(&spec).as_bytes()));
    if *expected != found {
        return Err(Error::format(
            "sha256",
            format!(
                "does not match: the file says {expected}, its contents give {found}; it is damaged, or was edited \
                 by hand"
            ),
        ));
    }
    Ok(spec)
}

fn read_sections(sections: &Map<String, Value>) -> Result<TokenizerSpec> {
    let pretokenizer = read_pattern(sections)?;
    let merges = read_merges(sections)?;
    let special_position = SpecialPosition::parse(string(sections, "special_position")?)
        .map_err(|error| Error::format("special_position", error.to_string()))?;
    let whole_tokens = section(sections, "whole_tokens")?
        .as_bool()
        .ok_or_else(|| Error::format("whole_tokens", "must be true or false"))?;
    let vocab = match (sections.get("byte_offset"), sections.get("vocab")) {
        (Some(base), None) => regular_vocab(id(base, || "byte_offset".to_owned())?, &merges)?,
        (None, Some(tokens)) => read_vocab(tokens)?,
        _ => {
            return Err(Error::format("vocab", "exactly one of \"vocab\" and \"byte_offset\" must be there"));
        }
    };
    let shared_ranks = sections.get("ranks").map(|_| list(sections, "ranks")).transpose()?;
    Ok(TokenizerSpec {
        vocab,
        merges,
        shared_ranks: shared_ranks.map(|ranks| numbers(ranks, "ranks")).transpose()?,
        whole_tokens,
        normalizer: read_normalizer(section(sections, "normalizer")?)?,
        pretokenizer,
        special: read_special(sections)?,
        special_position,
        alphabet: read_alphabet(section(sections, "alphabet")?)?,
        metadata: read_metadata(section(sections, "metadata")?)?,
    })
}

/// Facts that byteloom itself reads must be objects; what is in them is for people.
fn read_metadata(value: &Value) -> Result<Value> {
    let facts = value.as_object().ok_or_else(|| Error::format("metadata", "must be an object"))?;
    for name in ["training", "huggingface"] {
        if facts.get(name).is_some_and(|fact| !fact.is_object()) {
            return Err(Error::format(format!("metadata.{name}"), "must be an object"));
        }
    }
    Ok(value.clone())
}

fn section<'s>(sections: &'s Map<String, Value>, name: &str) -> Result<&'s Value> {
    sections.get(name).ok_or_else(|| Error::format(name, "is missing"))
}

fn string<'s>(sections: &'s Map<String, Value>, name: &str) -> Result<&'s str> {
    section(sections, name)?.as_str().ok_or_else(|| Error::format(name, "must be a string"))
}

fn list<'s>(sections: &'s Map<String, Value>, name: &str) -> Result<&'s Vec<Value>> {
    section(sections, name)?.as_array().ok_or_else(|| Error::format(name, "must be a list"))
}

fn id(value: &Value, place: impl FnOnce() -> String) -> Result<TokenId> {
    match value.as_u64() {
        Some(id) if id <= u64::from(MAX_TOKEN_ID) => Ok(id as TokenId),
        _ => Err(Error::format(place(), format!("{value} is no id: ids go from 0 to {MAX_TOKEN_ID}"))),
    }
}

fn numbers(values: &[Value], name: &str) -> Result<Vec<TokenId>> {
    values.iter().enumerate().map(|(index, value)| id(value, || format!("{name}[{index}]"))).collect()
}

/// An object that has none but these keys.
fn object<'v>(value: &'v Value, name: &str, keys: &[&str]) -> Result<&'v Map<String, Value>> {
    let object = value.as_object().ok_or_else(|| Error::format(name, "must be an object"))?;
    match object.keys().find(|key| !keys.contains(&key.as_str())) {
        Some(unknown) => Err(Error::format(name, format!("has an unknown part {unknown:?}"))),
        None => Ok(object),
    }
}

fn flag(object: &Map<String, Value>, name: &str, place: &str, default: bool) -> Result<bool> {
    match object.get(name) {
        None => Ok(default),
        Some(Value::Bool(value)) => Ok(*value),
        Some(_) => Err(Error::format(place, format!("{name:?} must be true or false"))),
    }
}

fn read_normalizer(value: &Value) -> Result<Normalizer> {
    if value.is_null() {
        return Ok(Normalizer::default());
    }
    let place = "normalizer";
    let parts = object(value, place, &["nfc", "space_sign", "prefix"])?;
    let prefix = match parts.get("prefix").and_then(Value::as_str) {
        Some("none") => Prefix::None,
        Some("text") => Prefix::Text,
        Some("segment") => Prefix::Segment,
        _ => return Err(Error::format(place, "\"prefix\" must be \"none\", \"text\" or \"segment\"")),
    };
    Ok(Normalizer {
        nfc: flag(parts, "nfc", place, false)?,
        space_sign: flag(parts, "space_sign", place, false)?,
        prefix,
    })
}

fn read_alphabet(value: &Value) -> Result<Alphabet> {
    let parts = object(value, "alphabet", &["symbols", "byte_ids", "unknown"])?;
    let symbols = parts.get("symbols").and_then(Value::as_str);
    match (symbols, parts.get("byte_ids"), parts.get("unknown")) {
        (Some("bytes"), None, None) => Ok(Alphabet::Bytes),
        (Some("characters"), Some(Value::Array(ids)), None) => {
            let ids = numbers(ids, "alphabet.byte_ids")?;
            let ids = ids.try_into().map_err(|_| Error::format("alphabet.byte_ids", "must be 256 ids"))?;
            Ok(Alphabet::CharactersAndBytes(Box::new(ids)))
        }
        (Some("characters"), None, Some(unknown)) => {
            Ok(Alphabet::CharactersOr(id(unknown, || "alphabet.unknown".to_owned())?))
        }
        _ => Err(Error::format(
            "alphabet",
            "\"symbols\" must be \"bytes\", or \"characters\" with either \"byte_ids\" or \"unknown\"",
        )),
    }
}

fn read_pattern(sections: &Map<String, Value>) -> Result<PreTokenizer> {
    match section(sections, "pattern")? {
        Value::Array(members) if members.len() < 2 => {
            Err(Error::format("pattern", "as a list must hold at least two patterns"))
        }
        Value::Array(members) => {
            let members: Result<Vec<PreTokenizer>> = members.iter().map(read_single_pattern).collect();
            PreTokenizer::sequence(members?).map_err(|error| Error::format("pattern", error.to_string()))
        }
        single => read_single_pattern(single),
    }
}

fn read_single_pattern(pattern: &Value) -> Result<PreTokenizer> {
    let regex = pattern.get("regex").and_then(Value::as_str);
    let regex = regex.ok_or_else(|| Error::format("pattern", "must hold a \"regex\""))?;
    let name = pattern.get("name").and_then(Value::as_str);
    let pretokenizer = PreTokenizer::new(name.unwrap_or(regex))
        .map_err(|error| Error::format("pattern", error.to_string()))?;
    if (pretokenizer.name(), pretokenizer.regex()) != (name, regex) {
        return Err(Error::format(
            "pattern",
            format!("name and regex disagree: {name:?} is not the pattern {}", crate::error::excerpt(regex)),
        ));
    }
    Ok(pretokenizer)
}

fn read_merges(sections: &Map<String, Value>) -> Result<Vec<(TokenId, TokenId)>> {
    list(sections, "merges")?
        .iter()
        .enumerate()
        .map(|(index, pair)| {
            let place = || format!("merges[{index}]");
            match pair.as_array().map(Vec::as_slice) {
                Some([left, right]) => Ok((id(left, place)?, id(right, place)?)),
                _ => Err(Error::format(place(), "must be a pair of ids")),
            }
        })
        .collect()
}

fn read_vocab(tokens: &Value) -> Result<Vocabulary> {
    let tokens = tokens.as_array().ok_or_else(|| Error::format("vocab", "must be a list"))?;
    let mut parsed = Vec::with_capacity(tokens.len());
    for (index, token) in tokens.iter().enumerate() {
        match token {
            Value::Null => {}
            Value::String(spelled) => {
                let bytes = letters::unspell(spelled).ok_or_else(|| {
                    Error::format(
                        format!("vocab[{index}]"),
                        format!("{token} is not spelled in GPT-2's byte letters"),
                    )
                })?;
                parsed.push((index as TokenId, bytes));
            }
            _ => {
                return Err(Error::format(format!("vocab[{index}]"), "must be a string, or null for a hole"));
            }
        }
    }
    if tokens.last().is_some_and(Value::is_null) {
        return Err(Error::format("vocab", "must not end in a hole"));
    }
    Vocabulary::new(parsed)
}

/// The vocabulary that merges determine.
fn regular_vocab(base: TokenId, merges: &[(TokenId, TokenId)]) -> Result<Vocabulary> {
    let mut relative = Vec::with_capacity(merges.len());
    for (index, &(left, right)) in merges.iter().enumerate() {
        let (Some(left), Some(right)) = (left.checked_sub(base), right.checked_sub(base)) else {
            return Err(Error::format(
                format!("merges[{index}]"),
                format!("holds an id below byte_offset {base}"),
            ));
        };
        relative.push((left, right));
    }
    let pretokenizer = PreTokenizer::new("none")?;
    let spec = TokenizerSpec::from_merges(&relative, pretokenizer, &[], SpecialPosition::Last)?;
    Vocabulary::new(spec.vocab.iter().map(|(id, bytes)| (id + base, bytes)))
}

fn read_special(sections: &Map<String, Value>) -> Result<SpecialTokens> {
    let mut tokens = Vec::new();
    for (index, token) in list(sections, "special_tokens")?.iter().enumerate() {
        let place = || format!("special_tokens[{index}]");
        let content = token.get("content").and_then(Value::as_str);
        let content = content.ok_or_else(|| Error::format(place(), "must hold a \"content\""))?;
        let id = id(token.get("id").unwrap_or(&Value::Null), place)?;
        let keys = ["id", "content", "special", "lstrip", "rstrip", "single_word", "normalized"];
        let parts = object(token, &place(), &keys)?;
        let flag = |name, default| flag(parts, name, &place(), default);
        let flags = TokenFlags {
            special: flag("special", true)?,
            lstrip: flag("lstrip", false)?,
            rstrip: flag("rstrip", false)?,
            single_word: flag("single_word", false)?,
            normalized: flag("normalized", false)?,
        };
        tokens.push(SpecialToken { flags, ..SpecialToken::new(content, id) });
    }
    let mut special = SpecialTokens::new(tokens)?;
    let roles = section(sections, "roles")?;
    let role = |name: &str| match roles.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            let place = || format!("roles.{name}");
            let id = id(value, place)?;
            match special.by_id(id) {
                Some(_) => Ok(Some(id)),
                None => Err(Error::format(place(), format!("names id {id}, which is no special token"))),
            }
        }
    };
    let (bos, eos, pad) = (role("bos")?, role("eos")?, role("pad")?);
    (special.bos, special.eos, special.pad) = (bos, eos, pad);
    Ok(special)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> TokenizerSpec {
        let merges = [(b't'.into(), b'h'.into()), (256, b'e'.into()), (b' '.into(), 257)];
        let names = ["<|a|>".to_owned(), "<\n\u{0}>".to_owned()];
        let mut spec = TokenizerSpec::from_merges(
            &merges,
            PreTokenizer::new("gpt2").unwrap(),
            &names,
            SpecialPosition::First,
        )
        .unwrap();
        spec.special.eos = Some(1);
        spec.metadata = json!({"training": {"seconds": 0.1, "bytes": 12}});
        spec
    }

    #[test]
    fn what_is_written_is_read() {
        let mut irregular = sample();
        irregular.vocab = Vocabulary::new(
            irregular.vocab.iter().map(|(id, bytes)| (if id == 5 { 900 } else { id }, bytes)),
        )
        .unwrap();
        for spec in [sample(), irregular] {
            let file = write(&spec);
            let again = read(&file).unwrap();
            assert_eq!(write(&again), file);
            assert!(again.vocab == spec.vocab);
            assert_eq!((again.merges, again.special), (spec.merges, spec.special));
        }
    }

    #[test]
    fn every_part_of_a_spec_is_kept() {
        let mut spec = sample();
        let flags = TokenFlags { special: false, lstrip: true, normalized: true, ..TokenFlags::default() };
        let token = SpecialToken { flags, ..SpecialToken::new("<m>", 999) };
        spec.special = SpecialTokens::new(vec![token]).unwrap();
        spec.normalizer = Normalizer { nfc: true, space_sign: false, prefix: Prefix::Segment };
        spec.shared_ranks = Some(vec![0, 0, 1]);
        for alphabet in [
            Alphabet::Bytes,
            Alphabet::CharactersOr(7),
            Alphabet::CharactersAndBytes(Box::new(std::array::from_fn(|byte| 1000 + byte as TokenId))),
        ] {
            spec.alphabet = alphabet;
            let again = read(&write(&spec)).unwrap();
            assert_eq!(write(&again), write(&spec));
            assert_eq!((&again.special, &again.normalizer), (&spec.special, &spec.normalizer));
            assert_eq!((&again.alphabet, &again.shared_ranks), (&spec.alphabet, &spec.shared_ranks));
        }
    }

    #[test]
    fn white_space_does_not_count_and_every_other_change_does() {
        let file = String::from_utf8(write(&sample())).unwrap();
        let pretty = serde_json::to_string_pretty(&serde_json::from_str::<Value>(&file).unwrap()).unwrap();
        assert!(read(pretty.as_bytes()).is_ok());
        for (from, to) in [
            ("\"version\": 1", "\"version\": 2"),
            ("[118,106]", "[119,106]"),
            ("\"eos\":1", "\"eos\":0"),
            ("\"bytes\":12", "\"bytes\":13"),
            ("\"format\"", "\"formal\""),
            ("\"metadata\"", "\"meta\""),
            ("<|a|>", "<|b|>"),
        ] {
            assert!(file.contains(from));
            let damaged = file.replacen(from, to, 1);
            assert!(read(damaged.as_bytes()).is_err(), "{from} to {to}");
        }
    }

    #[test]
    fn a_course_file_is_merges_alone() {
        let spec = read(br#"{"merges": [[116, 104], [256, 101]]}"#).unwrap();
        assert_eq!(spec.vocab.bytes(257), Some(&b"the"[..]));
        assert_eq!(spec.special.id_of("<assistant>"), Some(262));
        let error = read(br#"{"merges": [[116, 256]]}"#).unwrap_err();
        assert!(error.to_string().starts_with("merges[0]"), "{error}");
    }

    #[test]
    fn crafted_files_do_not_explode() {
        let doubling: Vec<[u32; 2]> = (0..60).map(|at| [255 + at, 255 + at]).collect();
        let file = json!({ "merges": doubling }).to_string();
        assert!(read(file.as_bytes()).is_err());
        assert!(read("[".repeat(100_000).as_bytes()).is_err());
        assert!(read(br#"{"merges": [[4000000000, 1]]}"#).is_err());
    }
}
