//! minbpe's `.model` files, version 1: a pattern, special tokens, and merges whose ids follow from their order.

use std::str::Lines;

use super::check_size;
use crate::error::{Error, Result, excerpt};
use crate::pretokenize::PreTokenizer;
use crate::spec::{SpecialPosition, TokenizerSpec};
use crate::special::{SpecialToken, SpecialTokens};
use crate::token::{MAX_TOKEN_ID, TokenId};

const FIRST_LINE: &str = "minbpe v1";

/// Lines with their numbers, from 1.
struct Numbered<'t> {
    lines: Lines<'t>,
    number: usize,
}

impl<'t> Numbered<'t> {
    fn next(&mut self) -> Option<&'t str> {
        self.number += 1;
        self.lines.next()
    }

    fn fault(&self, message: impl Into<String>) -> Error {
        Error::format(format!("line {}", self.number), message)
    }

    fn expect(&mut self, what: &str) -> Result<&'t str> {
        self.next().ok_or_else(|| self.fault(format!("the file ends where {what} should stand")))
    }
}

/// Reads a model. A special token may hold spaces: the last field of its line is the id.
///
/// # Errors
/// [`Error::Format`] with the line; [`Error::Pattern`] where the pattern does not compile.
pub fn read(data: &[u8]) -> Result<TokenizerSpec> {
    check_size(data)?;
    let text = std::str::from_utf8(data).map_err(|error| {
        Error::format(format!("byte {}", error.valid_up_to()), "not UTF-8, so this is no minbpe model")
    })?;
    let mut lines = Numbered { lines: text.lines(), number: 0 };
    if lines.next() != Some(FIRST_LINE) {
        return Err(lines.fault(format!("must be {FIRST_LINE:?}")));
    }
    let pattern = lines.expect("the pattern")?;
    let count = lines.expect("the number of special tokens")?;
    let count: usize = number(count)
        .ok_or_else(|| lines.fault(format!("{} is no number of special tokens", excerpt(count))))?;
    let mut specials = Vec::new();
    for _ in 0..count {
        let line = lines.expect("a special token")?;
        let parsed = line.rsplit_once(' ').and_then(|(content, id)| Some((content, number(id)?)));
        let Some((content, id)) = parsed.filter(|(content, _)| !content.is_empty()) else {
            return Err(lines.fault(format!("expected a special token and its id, found {}", excerpt(line))));
        };
        specials.push((lines.number, SpecialToken::new(content, id)));
    }
    let first_merge_line = lines.number + 1;
    let mut merges: Vec<(u32, u32)> = Vec::new();
    while let Some(line) = lines.next() {
        let ids = line.split_once(' ').and_then(|(left, right)| Some((number(left)?, number(right)?)));
        let pair = ids.ok_or_else(|| lines.fault(format!("expected two ids, found {}", excerpt(line))))?;
        let end = 256 + merges.len() as TokenId;
        if pair.0 >= end || pair.1 >= end {
            return Err(lines
                .fault(format!("merges {} and {}, but only ids below {end} exist by then", pair.0, pair.1)));
        }
        merges.push(pair);
    }
    let end = 256 + merges.len() as TokenId;
    if let Some((line, token)) = specials.iter().find(|(_, token)| token.id < end) {
        return Err(Error::format(
            format!("line {line}"),
            format!(
                "the special token {} has id {}, which is a merge or a byte",
                excerpt(&token.content),
                token.id
            ),
        ));
    }
    let pretokenizer = PreTokenizer::new(if pattern.is_empty() { "none" } else { pattern })?;
    let mut spec =
        TokenizerSpec::from_merges(&merges, pretokenizer, &[], SpecialPosition::Last).map_err(|error| {
            // Two merges may make the same bytes in minbpe; here an id has bytes of its own.
            Error::format(format!("line {first_merge_line} and on"), error.to_string())
        })?;
    let last_special_line = first_merge_line - 1;
    spec.special = SpecialTokens::new(specials.into_iter().map(|(_, token)| token).collect())
        .map_err(|error| Error::format(format!("lines 4 to {last_special_line}"), error.to_string()))?;
    Ok(spec)
}

/// An id or a count: digits alone, not above the largest id.
fn number<T: TryFrom<u32>>(text: &str) -> Option<T> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let number: u32 = text.parse().ok().filter(|&number| digits && number <= MAX_TOKEN_ID)?;
    T::try_from(number).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenizer::Tokenizer;

    fn ids(model: &str, text: &str) -> Vec<TokenId> {
        let tokenizer = Tokenizer::new(read(model.as_bytes()).unwrap(), 0).unwrap();
        let mut ids = Vec::new();
        tokenizer.encode_into(text.as_bytes(), tokenizer.ordinary(), &mut ids, &mut || Ok(())).unwrap();
        ids
    }

    #[test]
    fn merges_apply_in_order_and_no_pre_token_is_looked_up_whole() {
        // `aab` is a token, but the pair that makes it, `aa` and `b`, comes after `ab`.
        let model = "minbpe v1\n\n0\n97 98\n97 97\n257 98\n";
        assert_eq!(ids(model, "aab"), [97, 256]);
        // minbpe's own example.
        assert_eq!(ids("minbpe v1\n\n0\n97 97\n256 97\n257 98\n", "aaabdaaabac"), [258, 100, 258, 97, 99]);
    }

    #[test]
    fn patterns_and_special_tokens_are_kept() {
        let gpt4 = concat!(
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*",
            r"|\s*[\r\n]|\s+(?!\S)|\s+"
        );
        let spec = read(format!("minbpe v1\r\n{gpt4}\r\n2\r\n<|a b|> 300\r\n c 999\r\n32 97\r\n").as_bytes())
            .unwrap();
        assert_eq!(spec.pretokenizer.engine(), "scanner");
        assert_eq!((spec.special.id_of("<|a b|>"), spec.special.id_of(" c")), (Some(300), Some(999)));
        assert_eq!(spec.vocab.bytes(256), Some(&b" a"[..]));
        let custom = read(b"minbpe v1\n[ab]+\n0\n").unwrap();
        assert_eq!((custom.pretokenizer.regex(), custom.pretokenizer.engine()), ("[ab]+", "regex"));
        assert_eq!(read(b"minbpe v1\n\n0").unwrap().pretokenizer.name(), Some("none"));
    }

    #[test]
    fn faults_name_their_line() {
        for (model, place) in [
            ("minbpe v2\n\n0\n", "line 1: "),
            ("", "line 1: "),
            ("minbpe v1", "line 2: "),
            ("minbpe v1\n", "line 2: "),
            ("minbpe v1\n\n-1\n", "line 3: "),
            ("minbpe v1\n\n99999999999\n", "line 3: "),
            ("minbpe v1\n\n1\n", "line 4: "),
            ("minbpe v1\n\n1\n300\n", "line 4: "),
            ("minbpe v1\n\n1\n 300\n", "line 4: "),
            ("minbpe v1\n\n1\na 256\n1 2\n", "line 4: "),
            ("minbpe v1\n\n2\na 256\na 257\n", "lines 4 to 5: "),
            ("minbpe v1\n\n0\n1 2\n3\n", "line 5: "),
            ("minbpe v1\n\n0\n1 2\n\n", "line 5: "),
            ("minbpe v1\n\n0\n1 +2\n", "line 4: "),
            ("minbpe v1\n\n0\n1 2 3\n", "line 4: "),
            ("minbpe v1\n\n0\n1 256\n", "line 4: "),
            ("minbpe v1\n\n0\n1 2\n1 2\n", "line 4 and on: "),
            ("minbpe v1\n(\n0\n1 2\n", "pattern "),
        ] {
            let error = read(model.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with(place), "{model:?}: {error}");
        }
        assert!(read(b"minbpe v1\n\n0\n\xff").is_err());
    }
}
