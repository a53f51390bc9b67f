//! GPT-2's pair of files: `vocab.json`, tokens in byte letters to ids, and `merges.txt`, a merge a line.
//!
//! They hold no pattern and do not say which tokens are special.

use std::collections::HashMap;
use std::fmt::Write as _;

use serde_json::Value;

use super::hf_json::{check_spelled_alike, find_merges, read_vocab};
use super::json::{Json, parse};
use super::{check_byte_level, check_size, common_losses, first_unreachable, merges_by_rank};
use crate::error::{Error, Result, excerpt};
use crate::letters;
use crate::normalize::Normalizer;
use crate::pretokenize::PreTokenizer;
use crate::spec::{Alphabet, SpecialPosition, TokenizerSpec};
use crate::special::{SpecialToken, SpecialTokens};
use crate::token::TokenId;

/// The two files, and what they could not hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gpt2Files {
    /// `vocab.json`.
    pub vocab: Vec<u8>,
    /// `merges.txt`.
    pub merges: Vec<u8>,
    /// What of the tokenizer is in neither, in words.
    pub losses: Vec<String>,
}

/// Reads the two files. `special` names special tokens: one without an id must be in the vocabulary.
///
/// Other tokens that no merge makes, such as an undeclared `<|endoftext|>`, are ordinary tokens that no text becomes.
///
/// # Errors
/// [`Error::Format`] with the token or the line.
pub fn read(
    vocab: &[u8],
    merges: &[u8],
    pattern: &str,
    special: &[(String, Option<TokenId>)],
) -> Result<TokenizerSpec> {
    check_size(vocab)?;
    check_size(merges)?;
    let file = parse(vocab, "vocab.json")?;
    let Json::Object(entries) = &file else {
        return Err(Error::format("vocab.json", "is JSON but no object of tokens and ids"));
    };
    let mut tokens = Vec::with_capacity(special.len());
    for (content, id) in special {
        let held = entries.iter().find(|(token, _)| token == content);
        let held = held.map(|(_, id)| id.id_at("vocab.json")).transpose()?;
        match (held, *id) {
            (Some(held), Some(id)) if held != id => {
                return Err(Error::SpecialToken(format!(
                    "special token {} has the id {held} in vocab.json, not {id}",
                    excerpt(content)
                )));
            }
            (Some(id), _) | (None, Some(id)) => tokens.push(SpecialToken::new(content.as_str(), id)),
            (None, None) => {
                return Err(Error::SpecialToken(format!(
                    "special token {} is not in vocab.json; give it an id",
                    excerpt(content)
                )));
            }
        }
    }
    let added: HashMap<&str, TokenId> = tokens.iter().map(|token| (&*token.content, token.id)).collect();
    let vocab = read_vocab(entries, "vocab.json", &added)?;
    let lines = read_lines(merges)?;
    let pairs = lines.iter().map(|&(_, line)| match line.split_once(' ') {
        Some((left, right)) if !left.is_empty() && !right.is_empty() && !right.contains(' ') => {
            Ok((left, right))
        }
        _ => Err(format!("expected two tokens with a space between, found {}", excerpt(line))),
    });
    let merges = find_merges(&vocab, &added, pairs)
        .map_err(|(index, message)| Error::format(format!("merges.txt: line {}", lines[index].0), message))?;
    let spec = TokenizerSpec {
        vocab,
        merges,
        shared_ranks: None,
        whole_tokens: false,
        normalizer: Normalizer::default(),
        pretokenizer: PreTokenizer::new(pattern)?,
        special: SpecialTokens::new(tokens)?,
        special_position: SpecialPosition::Last,
        alphabet: Alphabet::Bytes,
        metadata: Value::Object(serde_json::Map::new()),
    };
    spec.check_ids()?;
    Ok(spec)
}

/// The lines that hold merges, with their numbers. A last line counts with or without its newline.
fn read_lines(data: &[u8]) -> Result<Vec<(usize, &str)>> {
    let data = data.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(data);
    let mut lines = Vec::new();
    for (line, number) in data.split(|&byte| byte == b'\n').zip(1..) {
        let line = std::str::from_utf8(line.strip_suffix(b"\r").unwrap_or(line))
            .map_err(|_| Error::format(format!("merges.txt: line {number}"), "is not UTF-8"))?;
        if number > 1 || !line.starts_with("#version") {
            lines.push((number, line));
        }
    }
    while lines.last().is_some_and(|(_, line)| line.is_empty()) {
        lines.pop();
    }
    Ok(lines)
}

/// The two files of `spec`. Special tokens stand in `vocab.json` as they are spelled.
///
/// # Errors
/// [`Error::Format`] for a tokenizer over characters, and for a special token that is spelled like an ordinary one.
pub fn write(spec: &TokenizerSpec) -> Result<Gpt2Files> {
    check_byte_level(spec, "vocab.json")?;
    check_spelled_alike(spec)?;
    let mut losses = common_losses(spec);
    if spec.pretokenizer.name() != Some("gpt2") {
        losses.push(format!(
            "pattern: {} (these files mean gpt2)",
            excerpt(spec.pretokenizer.name().unwrap_or(spec.pretokenizer.regex()))
        ));
    }
    if !spec.special.is_empty() {
        losses.push(format!(
            "special tokens: which {} of the entries they are, their flags and roles",
            spec.special.tokens().len()
        ));
    }
    if !spec.normalizer.is_identity() {
        losses.push(format!("normalizer: {}", spec.normalizer.names().join(", ")));
    }
    if spec.whole_tokens
        && let Some(id) = first_unreachable(spec)?
    {
        losses.push(format!(
            "whole tokens: tokens that no merges make, such as id {id}, are not found any more"
        ));
    }
    let mut tokens: Vec<(TokenId, String)> =
        spec.vocab.iter().map(|(id, bytes)| (id, letters::spell(bytes))).collect();
    tokens.extend(spec.special.tokens().iter().map(|token| (token.id, token.content.clone())));
    tokens.sort_by_key(|(id, _)| *id);
    let object: serde_json::Map<String, Value> =
        tokens.into_iter().map(|(id, token)| (token, Value::from(id))).collect();
    let mut merges = "#version: 0.2\n".to_owned();
    for (left, right) in merges_by_rank(spec) {
        let spelled = |id| letters::spell(spec.vocab.bytes(id).unwrap_or_default());
        let _ = writeln!(merges, "{} {}", spelled(left), spelled(right));
    }
    Ok(Gpt2Files {
        vocab: Value::Object(object).to_string().into_bytes(),
        merges: merges.into_bytes(),
        losses,
    })
}
