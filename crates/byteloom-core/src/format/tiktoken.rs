//! tiktoken's rank files: lines of base64, a space, a rank that is also the id.
//!
//! Such a file holds no pattern, no special tokens and no merges. The published files are known by their SHA-256.
//! A merge list that gives the same ids is recovered.

use std::collections::HashSet;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use foldhash::fast::RandomState;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::recover::{LastMerge, Symbols};
use super::{Written, check_byte_level, check_size, common_losses, first_unreachable};
use crate::error::{Error, Result, excerpt};
use crate::normalize::Normalizer;
use crate::pretokenize::PreTokenizer;
use crate::spec::{Alphabet, SpecialPosition, TokenizerSpec};
use crate::special::{SpecialToken, SpecialTokens};
use crate::token::TokenId;
use crate::vocab::Vocabulary;

/// A published rank file: SHA-256, pattern, special tokens (as in tiktoken 0.14).
struct Known {
    sha256: &'static str,
    pattern: &'static str,
    special: &'static [(&'static str, TokenId)],
}

const KNOWN: [Known; 4] = [
    Known {
        sha256: "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
        pattern: "gpt2",
        special: &[("<|endoftext|>", 50_256)],
    },
    Known {
        sha256: "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
        pattern: "gpt2",
        special: &[("<|endoftext|>", 50_256)],
    },
    Known {
        sha256: "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        pattern: "cl100k",
        special: &[
            ("<|endoftext|>", 100_257),
            ("<|fim_prefix|>", 100_258),
            ("<|fim_middle|>", 100_259),
            ("<|fim_suffix|>", 100_260),
            ("<|endofprompt|>", 100_276),
        ],
    },
    Known {
        sha256: "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        pattern: "o200k",
        special: &[("<|endoftext|>", 199_999), ("<|endofprompt|>", 200_018)],
    },
];

/// Reads a rank file. `pattern` and `special` replace what is known of a published file.
///
/// # Errors
/// [`Error::Format`] with the line, or where an unknown file comes without a pattern.
pub fn read(data: &[u8], pattern: Option<&str>, special: Option<Vec<SpecialToken>>) -> Result<TokenizerSpec> {
    check_size(data)?;
    let mut ranks = Vec::new();
    for (line, number) in data.split(|&byte| byte == b'\n').zip(1..) {
        let line = line.trim_ascii();
        if !line.is_empty() {
            ranks.push(read_line(line).map_err(|message| Error::format(format!("line {number}"), message))?);
        }
    }
    let digest = Sha256::digest(data);
    let known = KNOWN.iter().find(|known| {
        let bytes = digest.as_slice().iter().map(|byte| format!("{byte:02x}"));
        bytes.collect::<String>() == known.sha256
    });
    let pattern = match (pattern, known) {
        (Some(pattern), _) => pattern,
        (None, Some(known)) => known.pattern,
        (None, None) => {
            return Err(Error::format(
                "file",
                "is a rank file, which holds no pattern, and none of the published ones; say which pattern it was \
                 made with (pattern=\"cl100k\", for instance), and its special tokens (special_tokens={…})",
            ));
        }
    };
    let special = special.unwrap_or_else(|| {
        let known = known.map_or(&[][..], |known| known.special);
        known.iter().map(|&(content, id)| SpecialToken::new(content, id)).collect()
    });
    from_ranks(ranks, pattern, special)
}

fn read_line(line: &[u8]) -> std::result::Result<(TokenId, Vec<u8>), String> {
    let shown = || excerpt(&String::from_utf8_lossy(line));
    let mut parts = line.split(|&byte| byte == b' ');
    let (Some(token), Some(rank), None) = (parts.next(), parts.next(), parts.next()) else {
        return Err(format!("expected base64, a space and a rank, found {}", shown()));
    };
    let token = STANDARD.decode(token).map_err(|error| format!("{} is not base64: {error}", shown()))?;
    let rank = std::str::from_utf8(rank).ok().filter(|rank| rank.bytes().all(|byte| byte.is_ascii_digit()));
    let rank = rank.and_then(|rank| rank.parse().ok());
    Ok((rank.ok_or_else(|| format!("the rank in {} is no number below 2^32", shown()))?, token))
}

/// A spec from ranks: ids are ranks, and a pre-token that is a token is that token.
pub fn from_ranks(
    ranks: Vec<(TokenId, Vec<u8>)>,
    pattern: &str,
    special: Vec<SpecialToken>,
) -> Result<TokenizerSpec> {
    let vocab = Vocabulary::new(ranks)?;
    let merges = recover_merges(&vocab);
    Ok(TokenizerSpec {
        vocab,
        merges,
        shared_ranks: None,
        whole_tokens: true,
        normalizer: Normalizer::default(),
        pretokenizer: PreTokenizer::new(pattern)?,
        special: SpecialTokens::new(special)?,
        special_position: SpecialPosition::Last,
        alphabet: Alphabet::Bytes,
        metadata: Value::Object(serde_json::Map::new()),
    })
}

/// The rank file of `spec`. The pattern is always a loss: the file does not hold it.
///
/// # Errors
/// [`Error::Format`] where ranks would give other ids than the merges do; it names the token.
pub fn write(spec: &TokenizerSpec) -> Result<Written> {
    check_byte_level(spec, "a rank file")?;
    let mut losses = common_losses(spec);
    check_ranks(spec)?;
    losses.push(format!(
        "pattern: {} (name it when the file is read)",
        excerpt(spec.pretokenizer.name().unwrap_or(spec.pretokenizer.regex()))
    ));
    if !spec.special.is_empty() {
        losses.push(format!("special tokens: all {} of them, and their roles", spec.special.tokens().len()));
    }
    if !spec.normalizer.is_identity() {
        losses.push(format!("normalizer: {}", spec.normalizer.names().join(", ")));
    }
    let mut data = String::new();
    for (id, bytes) in spec.vocab.iter() {
        STANDARD.encode_string(bytes, &mut data);
        let _ = writeln!(data, " {id}");
    }
    Ok(Written { data: data.into_bytes(), losses })
}

/// That ids as ranks give what the merges give.
///
/// By ranks, only the last merge of each token is ever made (see the head of this file). So it is enough that the
/// merges hold all of these, and that all merges stand in the order of the ids that they make.
fn check_ranks(spec: &TokenizerSpec) -> Result<()> {
    let fault = |id: TokenId, why: &str| {
        let token = spec.vocab.bytes(id).unwrap_or_default().escape_ascii();
        Error::format(
            "merges",
            format!(
                "a rank file cannot hold this tokenizer: the token \"{token}\" (id {id}) {why}; use tokenizer.json or \
                 byteloom's own format"
            ),
        )
    };
    let held: HashSet<(TokenId, TokenId), RandomState> = spec.merges.iter().copied().collect();
    let mut joined = Vec::new();
    let mut highest = 0;
    for &(left, right) in &spec.merges {
        joined.clear();
        for id in [left, right] {
            joined.extend_from_slice(spec.vocab.bytes(id).unwrap_or_default());
        }
        let made = spec.vocab.id(&joined).unwrap_or(0);
        if made < highest {
            return Err(fault(made, "is merged after tokens with higher ids"));
        }
        highest = made;
    }
    for (left, right) in recover_merges(&spec.vocab) {
        if !held.contains(&(left, right)) {
            let bytes = [left, right].map(|id| spec.vocab.bytes(id).unwrap_or_default()).concat();
            return Err(fault(spec.vocab.id(&bytes).unwrap_or(0), "would be made by another merge"));
        }
    }
    if !spec.whole_tokens
        && let Some(id) = first_unreachable(spec)?
    {
        return Err(fault(id, "is never made by merges, but tiktoken would find it as a whole"));
    }
    Ok(())
}

/// The last merge of each token when it is encoded by itself, in order of rank. A token that merging never makes
/// has none; it is found as a whole pre-token only.
fn recover_merges(vocab: &Vocabulary) -> Vec<(TokenId, TokenId)> {
    let mut merges = Vec::with_capacity(vocab.len());
    let mut last_merge = LastMerge::default();
    for (_, bytes) in vocab.iter() {
        if let Some((left, right)) = last_merge.find(bytes, Symbols::Bytes, |joined| vocab.id(joined))
            && let (Some(left), Some(right)) = (vocab.id(left), vocab.id(right))
        {
            merges.push((left, right));
        }
    }
    merges
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes_and(tokens: &[&[u8]]) -> Vec<(TokenId, Vec<u8>)> {
        (0..)
            .zip((0..=255u8).map(|byte| vec![byte]).chain(tokens.iter().map(|token| token.to_vec())))
            .collect()
    }

    #[test]
    fn merges_are_recovered_and_unreachable_tokens_have_none() {
        let spec = from_ranks(bytes_and(&[b"bc", b"ab", b"abc", b"xyz"]), "gpt2", vec![]).unwrap();
        let pair = |left: &[u8], right: &[u8]| (spec.vocab.id(left).unwrap(), spec.vocab.id(right).unwrap());
        assert_eq!(spec.merges, [pair(b"b", b"c"), pair(b"a", b"b"), pair(b"a", b"bc")]);
    }

    #[test]
    fn faults_name_their_line() {
        let good = "YQ== 0\n\nYg== 1\n";
        for (bad, what) in [
            ("YQ= 2", "base64"),
            ("YWE=", "expected"),
            ("YWE= 1 2", "expected"),
            ("YWE= -1", "number"),
            ("YWE= +1", "number"),
            ("YWE= 99999999999", "number"),
            ("YWE= x", "number"),
        ] {
            let error =
                read(format!("{good}{bad}\n").as_bytes(), Some("gpt2"), None).unwrap_err().to_string();
            assert!(error.starts_with("line 4: ") && error.contains(what), "{bad}: {error}");
        }
        let error = read(good.as_bytes(), None, None).unwrap_err().to_string();
        assert!(error.contains("pattern="), "{error}");
    }
}
