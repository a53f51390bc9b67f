//! Writing `tokenizer.json` and `tokenizer_config.json`.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::super::{Written, check_byte_level, common_losses, merges_by_rank};
use super::{METADATA, dialect};
use crate::error::{Error, Result, excerpt};
use crate::letters;
use crate::normalize::Prefix;
use crate::spec::TokenizerSpec;
use crate::special::SpecialToken;
use crate::token::TokenId;

/// The loss of a `pad` role, which `tokenizer_config.json` holds.
pub const PAD_LOSS: &str = "role pad: it is in tokenizer_config.json only";

/// The `tokenizer.json` of `spec`, on one line. Merges as `"a b"` are what tokenizers before 0.20 read.
///
/// # Errors
/// [`Error::Format`] for what cannot be left out: characters as symbols, a pattern that Oniguruma cannot be told, a
/// special token that is spelled like an ordinary one.
pub fn write(spec: &TokenizerSpec, merges_as_strings: bool) -> Result<Written> {
    check_byte_level(spec, "tokenizer.json")?;
    check_spelled_alike(spec)?;
    let mut losses = common_losses(spec);
    let normalizer = &spec.normalizer;
    if normalizer.space_sign {
        losses.push("normalizer: U+2581 no longer becomes a space".to_owned());
    }
    if normalizer.prefix == Prefix::Text {
        losses.push("normalizer: no space is put before the text any more".to_owned());
    }
    let byte_level = |prefix: bool, regex: bool| json!({"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": true, "use_regex": regex});
    let mut splits = Vec::new();
    let members = spec.pretokenizer.members();
    let built_in = members.last().is_some_and(|member| member.name() == Some("gpt2"));
    for member in &members[..members.len() - usize::from(built_in)] {
        let regex = dialect::write(member).map_err(|fault| {
            Error::format(
                "pattern",
                format!("tokenizer.json cannot hold it: it {fault} ({})", excerpt(member.regex())),
            )
        })?;
        if let Some(regex) = regex {
            let pattern = json!({"Regex": regex});
            splits
                .push(json!({"type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": false}));
        }
    }
    let mut prefix = normalizer.prefix == Prefix::Segment;
    if prefix && !splits.is_empty() {
        losses.push("normalizer: no space is put before text any more".to_owned());
        prefix = false;
    }
    splits.push(byte_level(prefix, built_in));
    let pretokenizer = match splits.len() {
        1 => splits.swap_remove(0),
        _ => json!({"type": "Sequence", "pretokenizers": splits}),
    };
    if spec.special.pad.is_some() {
        losses.push(PAD_LOSS.to_owned());
    }
    let file = json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": spec.special.tokens().iter().map(added_token).collect::<Vec<_>>(),
        "normalizer": if normalizer.nfc { json!({"type": "NFC"}) } else { Value::Null },
        "pre_tokenizer": pretokenizer,
        "post_processor": template(spec),
        "decoder": byte_level(true, true),
        "model": model(spec, merges_as_strings),
    });
    let mut data = file.to_string();
    data.push('\n');
    Ok(Written { data: data.into_bytes(), losses })
}

/// Refuses special tokens whose content is how an ordinary token is written: a vocabulary of letters holds one.
pub(in crate::format) fn check_spelled_alike(spec: &TokenizerSpec) -> Result<()> {
    for token in spec.special.tokens() {
        let alike = letters::unspell(&token.content).and_then(|bytes| spec.vocab.id(&bytes));
        if let Some(id) = alike {
            return Err(Error::format(
                "special tokens",
                format!(
                    "{} (id {}) is how the file would spell the ordinary token with id {id}; it cannot hold both",
                    excerpt(&token.content),
                    token.id
                ),
            ));
        }
    }
    Ok(())
}

fn added_token(token: &SpecialToken) -> Value {
    let flags = &token.flags;
    json!({
        "id": token.id,
        "content": token.content,
        "single_word": flags.single_word,
        "lstrip": flags.lstrip,
        "rstrip": flags.rstrip,
        "normalized": flags.normalized,
        "special": flags.special,
    })
}

fn model(spec: &TokenizerSpec, merges_as_strings: bool) -> Value {
    let mut tokens: Vec<(TokenId, String)> =
        spec.vocab.iter().map(|(id, bytes)| (id, letters::spell(bytes))).collect();
    if !numbered_alike(spec) {
        tokens.extend(spec.special.tokens().iter().map(|token| (token.id, token.content.clone())));
        tokens.sort_by_key(|(id, _)| *id);
    }
    let vocab: Map<String, Value> = tokens.into_iter().map(|(id, token)| (token, Value::from(id))).collect();
    let spelled = |id| letters::spell(spec.vocab.bytes(id).unwrap_or_default());
    let merges: Vec<Value> = merges_by_rank(spec)
        .into_iter()
        .map(|(left, right)| {
            if merges_as_strings {
                Value::from(format!("{} {}", spelled(left), spelled(right)))
            } else {
                json!([spelled(left), spelled(right)])
            }
        })
        .collect();
    json!({
        "type": "BPE",
        "dropout": null,
        "unk_token": null,
        "continuing_subword_prefix": null,
        "end_of_word_suffix": null,
        "fuse_unk": false,
        "byte_fallback": false,
        "ignore_merges": spec.whole_tokens,
        "vocab": vocab,
        "merges": merges,
    })
}

/// Whether tokenizers gives the added tokens the ids that they have. It does not go by the ids in the file: a token
/// that the model does not hold gets the next one, counted from the size of the vocabulary (0.23).
fn numbered_alike(spec: &TokenizerSpec) -> bool {
    (spec.vocab.len()..).zip(spec.special.tokens()).all(|(next, token)| next == token.id as usize)
}

/// The post-processor that adds `bos` and `eos`.
fn template(spec: &TokenizerSpec) -> Value {
    let special = &spec.special;
    let piece = |id: TokenId, type_id: u32| {
        let content = special.by_id(id).map_or("", |token| token.content.as_str());
        json!({"SpecialToken": {"id": content, "type_id": type_id}})
    };
    if special.bos.is_none() && special.eos.is_none() {
        return Value::Null;
    }
    let mut single: Vec<Value> = special.bos.map(|id| piece(id, 0)).into_iter().collect();
    single.push(json!({"Sequence": {"id": "A", "type_id": 0}}));
    single.extend(special.eos.map(|id| piece(id, 0)));
    let mut pair = single.clone();
    pair.extend(special.bos.map(|id| piece(id, 1)));
    pair.push(json!({"Sequence": {"id": "B", "type_id": 1}}));
    pair.extend(special.eos.map(|id| piece(id, 1)));
    let mut tokens = Map::new();
    let mut seen = HashSet::new();
    for id in [special.bos, special.eos].into_iter().flatten().filter(|id| seen.insert(*id)) {
        let content = special.by_id(id).map_or("", |token| token.content.as_str());
        tokens.insert(content.to_owned(), json!({"id": content, "ids": [id], "tokens": [content]}));
    }
    json!({"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": tokens})
}

/// The `tokenizer_config.json` of `spec`, for a folder that `transformers` reads. Newer versions keep the chat
/// template in a file of its own; give it here for older ones.
pub fn write_config(spec: &TokenizerSpec, chat_template: Option<&str>) -> Vec<u8> {
    let special = &spec.special;
    let decoder: Map<String, Value> = special
        .tokens()
        .iter()
        .map(|token| {
            let mut value = added_token(token);
            if let Some(fields) = value.as_object_mut() {
                fields.shift_remove("id");
            }
            (token.id.to_string(), value)
        })
        .collect();
    let mut config = json!({
        "added_tokens_decoder": decoder,
        "clean_up_tokenization_spaces": false,
        "tokenizer_class": "PreTrainedTokenizerFast",
    });
    for (role, id) in [("bos", special.bos), ("eos", special.eos), ("pad", special.pad)] {
        let key = format!("{role}_token");
        // A name that the config of a file gave, without the file's template adding the token.
        let named = spec.metadata.get(METADATA).and_then(|names| names.get(&key)).and_then(Value::as_str);
        let named = named.filter(|name| special.id_of(name).is_some());
        let content = id.and_then(|id| special.by_id(id)).map(|token| token.content.as_str());
        if let Some(content) = named.or(content) {
            config[key] = json!(content);
        }
    }
    if let Some(template) = chat_template {
        config["chat_template"] = json!(template);
    }
    let mut data = format!("{config:#}").into_bytes();
    data.push(b'\n');
    data
}
