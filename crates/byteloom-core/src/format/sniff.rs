//! Which format a file has, by its content; names of files do not matter.

use serde::de::IgnoredAny;
use std::collections::HashMap;

/// A format that can be told from its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// byteloom's own, or the course's `{"merges": …}`.
    Native,
    /// Hugging Face's `tokenizer.json`.
    HuggingFace,
    /// A rank file of tiktoken.
    Tiktoken,
    /// GPT-2's `vocab.json`: an object of ids.
    Gpt2Vocab,
    /// GPT-2's `merges.txt`, with its version line.
    Gpt2Merges,
    /// A model of minbpe.
    Minbpe,
    /// A model of SentencePiece.
    SentencePiece,
    /// None of these.
    Unknown,
}

impl Kind {
    /// Its name for callers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Native => "byteloom",
            Self::HuggingFace => "huggingface",
            Self::Tiktoken => "tiktoken",
            Self::Gpt2Vocab => "gpt2-vocab",
            Self::Gpt2Merges => "gpt2-merges",
            Self::Minbpe => "minbpe",
            Self::SentencePiece => "sentencepiece",
            Self::Unknown => "unknown",
        }
    }
}

/// The format of `data`. A damaged file is told by what is left of it, so that its reader can say what is wrong.
pub fn sniff(data: &[u8]) -> Kind {
    if data.starts_with(b"minbpe") {
        return Kind::Minbpe;
    }
    if data.starts_with(b"#version") {
        return Kind::Gpt2Merges;
    }
    // Readers of JSON take a mark of the order of bytes for what it is.
    let text = data.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(data).trim_ascii_start();
    if text.starts_with(b"{") {
        return sniff_json(data);
    }
    let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default().trim_ascii_end();
    let mut fields = line.split(|&byte| byte == b' ');
    let is_base64 = |field: &[u8]| {
        !field.is_empty() && field.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(byte))
    };
    if let (Some(token), Some(rank), None) = (fields.next(), fields.next(), fields.next())
        && is_base64(token)
        && rank.iter().all(u8::is_ascii_digit)
    {
        return Kind::Tiktoken;
    }
    // A SentencePiece model begins with a piece: field 1, a length, and in it field 1, the text.
    match data {
        [0x0A, _, 0x0A, ..] => Kind::SentencePiece,
        _ => Kind::Unknown,
    }
}

#[expect(clippy::zero_sized_map_values, reason = "only a map can be read from an object")]
fn sniff_json(data: &[u8]) -> Kind {
    let Ok(keys) = serde_json::from_slice::<HashMap<String, IgnoredAny>>(data) else {
        // Not whole JSON: the reader of the likelier format names the place.
        let is_ours = memchr::memmem::find(&data[..data.len().min(4096)], b"\"byteloom\"").is_some();
        return if is_ours || memchr::memmem::find(data, b"\"model\"").is_none() {
            Kind::Native
        } else {
            Kind::HuggingFace
        };
    };
    // First of all: a vocabulary may well hold the words "format" and "model".
    if !keys.is_empty() && serde_json::from_slice::<HashMap<String, u64>>(data).is_ok() {
        return Kind::Gpt2Vocab;
    }
    let has = |name: &str| keys.contains_key(name);
    if has("model") && !has("format") { Kind::HuggingFace } else { Kind::Native }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_their_content() {
        for (data, kind) in [
            (&br#"{"format": "byteloom", "version": 1}"#[..], Kind::Native),
            (br#" {"merges": [[1, 2]]}"#, Kind::Native),
            (br#"{"format": "byteloom", "#, Kind::Native),
            (br#"{"version": "1.0", "model": {"type": "BPE"}}"#, Kind::HuggingFace),
            (br#"{"version": "1.0", "model": {"ty"#, Kind::HuggingFace),
            (br#"{"a": 0, "format": 1, "model": 2, "merges": 3}"#, Kind::Gpt2Vocab),
            (b"#version: 0.2\na b\n", Kind::Gpt2Merges),
            (b"minbpe v1\n\n0\n", Kind::Minbpe),
            (b"\nYQ== 0\nYg== 1\n", Kind::Tiktoken),
            (b"YQ== 0\r\n", Kind::Tiktoken),
            (b"\x0a\x0e\x0a\x05<unk>\x15\0\0\0\0", Kind::SentencePiece),
            (b"{}", Kind::Native),
            (b"", Kind::Unknown),
            (b"hello world", Kind::Unknown),
        ] {
            assert_eq!(sniff(data), kind, "{}", data.escape_ascii());
        }
    }
}
