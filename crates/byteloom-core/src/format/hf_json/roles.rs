//! Which tokens have a role: the template of `tokenizer.json`, and `tokenizer_config.json`.

use serde_json::{Value, json};

use super::super::json::{Json, get, parse};
use super::METADATA;
use super::read::{Entries, Frame, flag, list, object, only_keys, read_flags, typed, unsupported};
use crate::error::{Error, Result, excerpt};
use crate::normalize::Prefix;
use crate::spec::TokenizerSpec;
use crate::special::SpecialTokens;
use crate::token::TokenId;

/// What is put before and after a text.
pub(super) fn read_post_processor(value: &Json<'_>, place: &str, special: &SpecialTokens) -> Result<Frame> {
    if value.is_null() {
        return Ok((None, None));
    }
    let (kind, entries) = typed(value, place)?;
    match kind {
        // It moves offsets only.
        "ByteLevel" => only_keys(entries, place, &["type", "add_prefix_space", "trim_offsets", "use_regex"])
            .map(|()| (None, None)),
        "TemplateProcessing" => read_template(entries, place, special),
        "RobertaProcessing" => {
            only_keys(entries, place, &["type", "sep", "cls", "trim_offsets", "add_prefix_space"])?;
            let role = |key: &str| -> Result<TokenId> {
                let place = format!("{place}.{key}");
                match list(entries, key, "post_processor")? {
                    [Json::String(content), id] => role_of(content, id.id_at(&place)?, &place, special),
                    _ => Err(Error::format(place, "must be a pair of content and id")),
                }
            };
            Ok((Some(role("cls")?), Some(role("sep")?)))
        }
        "Sequence" => {
            only_keys(entries, place, &["type", "processors"])?;
            let mut frame = (None, None);
            for (index, part) in list(entries, "processors", place)?.iter().enumerate() {
                let place = format!("{place}.processors[{index}]");
                if typed(part, &place)?.0 == "Sequence" {
                    return Err(unsupported(&place, "Sequence", "a Sequence must not hold another"));
                }
                let found = read_post_processor(part, &place, special)?;
                if found != (None, None) && frame != (None, None) {
                    return Err(Error::format(place, "is a second template; one is supported"));
                }
                if found != (None, None) {
                    frame = found;
                }
            }
            Ok(frame)
        }
        other => Err(unsupported(place, other, "ByteLevel, TemplateProcessing and RobertaProcessing are")),
    }
}

fn read_template(entries: Entries<'_, '_>, place: &str, special: &SpecialTokens) -> Result<Frame> {
    only_keys(entries, place, &["type", "single", "pair", "special_tokens"])?;
    let declared = match get(entries, "special_tokens") {
        Json::Null => &[][..],
        other => object(other, &format!("{place}.special_tokens"))?,
    };
    let (mut before, mut after, mut text_seen) = (None, None, false);
    for (index, piece) in list(entries, "single", place)?.iter().enumerate() {
        let place = format!("{place}.single[{index}]");
        let [(kind, value)] = object(piece, &place)? else {
            return Err(Error::format(place, "must hold one of \"SpecialToken\" and \"Sequence\""));
        };
        let value = object(value, &place)?;
        only_keys(value, &place, &["id", "type_id"])?;
        let name = get(value, "id").str_at(&format!("{place}.id"))?;
        match (&**kind, name, text_seen) {
            ("Sequence", "A", false) => text_seen = true,
            ("SpecialToken", _, _) => {
                let slot = if text_seen { &mut after } else { &mut before };
                if slot.is_some() {
                    return Err(Error::format(
                        place,
                        "only one special token before a text and one after is supported",
                    ));
                }
                let declared = object(get(declared, name), &format!("{place}.id"))?;
                let [id] = list(declared, "ids", &place)? else {
                    return Err(Error::format(place, "must stand for exactly one id"));
                };
                *slot = Some(role_of(name, id.id_at(&place)?, &place, special)?);
            }
            _ => return Err(Error::format(place, "a text must come once, as \"Sequence\" \"A\"")),
        }
    }
    if text_seen {
        Ok((before, after))
    } else {
        Err(Error::format(format!("{place}.single"), "has no place for the text"))
    }
}

fn role_of(content: &str, id: TokenId, place: &str, special: &SpecialTokens) -> Result<TokenId> {
    match special.by_id(id) {
        Some(token) if token.content == content => Ok(id),
        _ => Err(Error::format(place, format!("{} with id {id} is no added token", excerpt(content)))),
    }
}

/// Takes the roles of a `tokenizer_config.json`, and refuses what contradicts the tokenizer.
pub(super) fn read_config(data: &[u8], spec: &mut TokenizerSpec) -> Result<()> {
    let config = parse(data, "tokenizer_config.json")?;
    let Json::Object(entries) = &config else {
        return Err(Error::format("tokenizer_config.json", "is JSON but no object"));
    };
    if let Json::Object(tokens) = get(entries, "added_tokens_decoder") {
        for (key, value) in tokens {
            let place = format!("tokenizer_config.json: added_tokens_decoder[{}]", excerpt(key));
            let fields = object(value, &place)?;
            let content = get(fields, "content").str_at(&place)?;
            let mut flags = read_flags(fields, &place)?;
            let known = key.parse().ok().and_then(|id: TokenId| spec.special.by_id(id));
            let Some(known) = known.filter(|known| known.content == content) else {
                return Err(Error::format(
                    place,
                    format!("{} with this id is not among added_tokens of tokenizer.json", excerpt(content)),
                ));
            };
            if spec.normalizer.is_identity() || spec.normalizer.prefix == Prefix::Segment {
                flags.normalized = known.flags.normalized;
            }
            if flags != known.flags {
                return Err(Error::format(place, "has other flags than in tokenizer.json"));
            }
        }
    }
    let mut names = serde_json::Map::new();
    for role in ["bos", "eos", "pad"] {
        let key = format!("{role}_token");
        let place = format!("tokenizer_config.json: {key}");
        let content = match get(entries, &key) {
            Json::Null => continue,
            Json::String(content) => content,
            Json::Object(fields) => get(fields, "content").str_at(&place)?,
            other => return Err(Error::format(place, format!("must be a string, not {}", other.kind()))),
        };
        let Some(id) = spec.special.id_of(content) else {
            return Err(Error::format(
                place,
                format!("names {}, which is not among added_tokens of tokenizer.json", excerpt(content)),
            ));
        };
        if role == "pad" {
            spec.special.pad = Some(id);
        }
        names.insert(key, json!(content));
    }
    match get(entries, "chat_template") {
        Json::Null => {}
        Json::String(template) => drop(names.insert("chat_template".to_owned(), json!(template))),
        other => {
            return Err(Error::format(
                "tokenizer_config.json: chat_template",
                format!("must be one template as a string, not {}", other.kind()),
            ));
        }
    }
    for (key, added) in [("add_bos_token", spec.special.bos), ("add_eos_token", spec.special.eos)] {
        if let Some(wanted) = flag(entries, key, "tokenizer_config.json")?
            && wanted != added.is_some()
        {
            return Err(Error::format(
                format!("tokenizer_config.json: {key}"),
                format!(
                    "is {wanted}, but the post_processor of tokenizer.json says otherwise; make the two agree"
                ),
            ));
        }
    }
    if !names.is_empty() {
        spec.metadata[METADATA] = Value::Object(names);
    }
    Ok(())
}
