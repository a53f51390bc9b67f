//! The quick way through a `tokenizer.json`, almost all of which is its vocabulary and its merges.
//!
//! These two are read here, one look at each byte and nothing allocated for a token; what is around them goes to the
//! ordinary reader with a number in the place of each. Whatever is unusual or faulty is left to the ordinary reader
//! altogether: it says what is wrong, and where.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use memchr::{memmem, memrchr};

use super::super::json::{Json, parse};
use super::merges::MergeList;
use super::read::{Model, Tables, assemble};
use crate::error::{Error, Result};
use crate::format::MAX_FILE_BYTES;
use crate::letters;
use crate::spec::TokenizerSpec;
use crate::special::SpecialToken;
use crate::token::{MAX_TOKEN_ID, TokenId};
use crate::vocab::Vocabulary;

/// Numbers that stand in the places of the vocabulary and of the merges. No file has a use for them.
const VOCAB: i128 = -7_340_033;
const MERGES: i128 = -7_340_034;

/// Reads a `tokenizer.json`; `None` where the ordinary reader must be asked.
pub(super) fn read(data: &[u8]) -> Option<TokenizerSpec> {
    if data.len() > MAX_FILE_BYTES {
        return None;
    }
    let mut cursor = Cursor { data, at: 0 };
    cursor.after_key("\"vocab\"")?;
    let vocab_start = cursor.at;
    let entries = cursor.entries()?;
    let vocab_end = cursor.at;
    cursor.after_key("\"merges\"")?;
    let merges_start = cursor.at;
    // Nothing that holds a list comes after the merges.
    let merges_end = memrchr(b']', data)? + 1;
    let around = [data.get(..vocab_start)?, data.get(vocab_end..merges_start)?, data.get(merges_end..)?];
    let (vocab, merges) = (format!("{{\"\":{VOCAB}}}"), format!("[{MERGES}]"));
    // Both keys end where a string ends and have a value behind them, so `rest` is JSON exactly if the file is.
    let rest = [around[0], vocab.as_bytes(), around[1], merges.as_bytes(), around[2]].concat();
    if [VOCAB, MERGES].iter().any(|number| memmem::find_iter(&rest, &number.to_string()).count() != 1) {
        return None;
    }
    let Json::Object(parts) = parse(&rest, "").ok()? else { return None };
    let unusual = || Error::format("file", "takes the ordinary reader");
    let tables = |model: &Model<'_, '_>, tokens: &[SpecialToken]| -> Result<Tables> {
        let is_model = matches!(model.vocab, [(_, Json::Integer(VOCAB))])
            && matches!(model.merges, [Json::Integer(MERGES)]);
        if !is_model {
            return Err(unusual());
        }
        let vocab = entries.vocabulary(tokens).ok_or_else(unusual)?;
        let mut cursor = Cursor { data, at: merges_start };
        let merges = cursor.merges(&vocab).filter(|_| cursor.at == merges_end).ok_or_else(unusual)?;
        Ok((vocab, merges))
    };
    assemble(&parts, tables).ok()
}

/// The vocabulary as it stands in the file.
#[derive(Default)]
struct Entries {
    /// The bytes of the tokens that are spelled in letters, one after another.
    bytes: Vec<u8>,
    /// The ids of these, and where each ends.
    tokens: Vec<(TokenId, usize)>,
    /// Those that are not.
    others: Vec<(String, TokenId)>,
}

impl Entries {
    /// The ordinary tokens: all that are no added ones. `None` where the two do not fit together.
    fn vocabulary(&self, added: &[SpecialToken]) -> Option<Vocabulary> {
        // Each may be there once, as any key of an object.
        let mut spelled: HashMap<Vec<u8>, Option<TokenId>, RandomState> = HashMap::default();
        let mut others: HashMap<&str, TokenId, RandomState> = HashMap::default();
        let mut begins = [false; 256];
        for SpecialToken { content, id, .. } in added {
            match letters::unspell(content) {
                Some(bytes) => {
                    *begins.get_mut(usize::from(*bytes.first()?))? = true;
                    spelled.insert(bytes, Some(*id));
                }
                None => drop(others.insert(content, *id)),
            }
        }
        if !self.others.iter().all(|(token, id)| others.remove(&**token) == Some(*id)) {
            return None;
        }
        let mut ordinary = Vec::with_capacity(self.tokens.len());
        let mut start = 0;
        for &(id, end) in &self.tokens {
            let bytes = &self.bytes[start..end];
            start = end;
            let declared = if begins[usize::from(*bytes.first()?)] { spelled.get_mut(bytes) } else { None };
            match declared.map(Option::take) {
                None => ordinary.push((id, bytes)),
                Some(declared) if declared == Some(id) => {}
                Some(_) => return None,
            }
        }
        let vocab = Vocabulary::new(ordinary).ok()?;
        vocab.byte_ids().ok()?;
        Some(vocab)
    }
}

struct Cursor<'a> {
    data: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    /// Goes to the value of the next key that ends in `key`.
    fn after_key(&mut self, key: &str) -> Option<()> {
        self.at += memmem::find(self.data.get(self.at..)?, key.as_bytes())? + key.len();
        self.expect(b':')?;
        self.skip_space();
        Some(())
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.data.get(self.at).copied()
    }

    #[inline]
    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> Option<()> {
        self.skip_space();
        (self.next()? == byte).then_some(())
    }

    #[inline]
    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    /// Goes over the comma between two items, or over what closes them.
    #[inline]
    fn goes_on(&mut self, close: u8) -> Option<bool> {
        self.skip_space();
        match self.next()? {
            b',' => {
                self.skip_space();
                Some(true)
            }
            byte => (byte == close).then_some(false),
        }
    }

    /// An object of tokens and ids.
    fn entries(&mut self) -> Option<Entries> {
        let mut entries = Entries::default();
        self.expect(b'{')?;
        self.skip_space();
        loop {
            let start = self.at;
            self.expect(b'"')?;
            let len = entries.bytes.len();
            let other = if self.letters(&mut entries.bytes) == Some(b'"') {
                None
            } else {
                entries.bytes.truncate(len);
                self.at = start;
                Some(self.string()?)
            };
            self.expect(b':')?;
            self.skip_space();
            let id = self.id()?;
            match other {
                Some(token) => entries.others.push((token, id)),
                None => entries.tokens.push((id, entries.bytes.len())),
            }
            if !self.goes_on(b'}')? {
                return Some(entries);
            }
        }
    }

    /// A list of merges, each a pair of strings or a string with a space in it.
    fn merges(&mut self, vocab: &Vocabulary) -> Option<Vec<(TokenId, TokenId)>> {
        let mut merges = MergeList::new(vocab);
        let mut joined = Vec::new();
        self.expect(b'[')?;
        self.skip_space();
        loop {
            joined.clear();
            let is_pair = match self.next()? {
                b'[' => true,
                b'"' => false,
                _ => return None,
            };
            if is_pair {
                self.expect(b'"')?;
            }
            let ended = self.letters(&mut joined)?;
            let left = joined.len();
            if is_pair {
                self.expect(b',')?;
                self.expect(b'"')?;
            }
            let between = if is_pair { b'"' } else { b' ' };
            if ended != between || self.letters(&mut joined)? != b'"' {
                return None;
            }
            if is_pair {
                self.expect(b']')?;
            }
            let (left, right) = joined.split_at(left);
            let pair = (vocab.id(left)?, vocab.id(right)?);
            if !merges.push(pair, &joined)? {
                return None;
            }
            if !self.goes_on(b']')? {
                return Some(merges.into_pairs());
            }
        }
    }

    /// A number as JSON writes ids.
    #[inline]
    fn id(&mut self) -> Option<TokenId> {
        let start = self.at;
        let mut id: TokenId = 0;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            id = 10 * id + TokenId::from(digit - b'0');
            self.at += 1;
            if id > MAX_TOKEN_ID {
                return None;
            }
        }
        let digits = self.data.get(start..self.at)?;
        let is_number = !digits.is_empty() && (digits.len() == 1 || digits[0] != b'0');
        is_number.then_some(id)
    }

    /// Any string.
    fn string(&mut self) -> Option<String> {
        let start = self.at;
        self.expect(b'"')?;
        loop {
            match self.next()? {
                b'"' => return serde_json::from_slice(self.data.get(start..self.at)?).ok(),
                b'\\' => drop(self.next()?),
                _ => {}
            }
        }
    }

    /// Appends the bytes that letters spell up to the end of the string, or to a space, and says which it was.
    /// `None` where other characters come before that.
    #[inline]
    fn letters(&mut self, bytes: &mut Vec<u8>) -> Option<u8> {
        loop {
            let rest = self.data.get(self.at..)?;
            if let Some(eight) = rest.first_chunk() {
                let plain = plain_letters(*eight);
                bytes.extend_from_slice(eight);
                bytes.truncate(bytes.len() - (8 - plain));
                self.at += plain;
                if plain == 8 {
                    continue;
                }
            }
            let letter = match self.next()? {
                end @ (b'"' | b' ') => return Some(end),
                b'\\' => self.escaped()?,
                lead @ 0xC2..=0xC5 => {
                    let next = self.next().filter(|next| next & 0xC0 == 0x80)?;
                    u32::from(lead & 0x1F) << 6 | u32::from(next & 0x3F)
                }
                ascii @ ..0x80 => u32::from(ascii),
                _ => return None,
            };
            bytes.push(letters::byte_of(char::from_u32(letter)?)?);
        }
    }

    /// What stands behind a backslash. Only printable characters are letters.
    fn escaped(&mut self) -> Option<u32> {
        match self.next()? {
            plain @ (b'"' | b'\\' | b'/') => Some(plain.into()),
            b'u' => (0..4).try_fold(0, |code, _| Some(code << 4 | char::from(self.next()?).to_digit(16)?)),
            _ => None,
        }
    }
}

/// How many bytes at the beginning are letters that stand for themselves and need no escape.
#[inline]
fn plain_letters(eight: [u8; 8]) -> usize {
    const ONES: u64 = u64::MAX / 0xFF;
    const HIGH: u64 = ONES * 0x80;
    let word = u64::from_le_bytes(eight);
    // The lowest byte that is marked is right; those above it need not be.
    let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word;
    let is = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    let other = (word | below(word, 0x21) | is(b'"') | is(b'\\') | is(0x7F)) & HIGH;
    (other.trailing_zeros() / 8) as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::super::read::read_carefully;
    use super::super::write;
    use super::*;
    use crate::format::native;
    use crate::pretokenize::PreTokenizer;
    use crate::spec::SpecialPosition;

    /// A file with tokens of every kind: letters that need escapes, added tokens inside and outside of the vocabulary,
    /// spelled in letters or not, and a token that two merges make.
    fn file() -> Value {
        let merges =
            [(b'"', b'\\'), (b' ', b'a'), (0xC3, 0xA9), (b'a', b'a')].map(|(l, r)| (l.into(), r.into()));
        let merges: Vec<_> = merges.into_iter().chain([(257, 97), (32, 259)]).collect();
        let names = ["<|a|>", "<é 日>", "Ġa<"].map(str::to_owned);
        let pretokenizer = PreTokenizer::new("cl100k").unwrap();
        let one =
            TokenizerSpec::from_merges(&merges[..5], pretokenizer, &names, SpecialPosition::Last).unwrap();
        let mut value: Value = serde_json::from_slice(&write(&one, false).unwrap().data).unwrap();
        value["model"]["merges"].as_array_mut().unwrap().push(serde_json::json!(["Ġ", "aa"]));
        for (at, name) in names.iter().take(2).enumerate() {
            value["model"]["vocab"][name] = value["added_tokens"][at]["id"].clone();
        }
        value
    }

    /// The same with each merge as one string.
    fn lines(mut value: Value) -> Value {
        for merge in value["model"]["merges"].as_array_mut().unwrap() {
            *merge = format!("{} {}", merge[0].as_str().unwrap(), merge[1].as_str().unwrap()).into();
        }
        value
    }

    fn same(one: &TokenizerSpec, other: &TokenizerSpec) -> bool {
        native::write(one) == native::write(other)
    }

    fn escaped(text: &str) -> String {
        let unit = |unit: u16| match char::from_u32(unit.into()).filter(char::is_ascii) {
            Some(letter) => letter.to_string(),
            None => format!("\\u{unit:04X}"),
        };
        text.encode_utf16().map(unit).collect()
    }

    #[test]
    fn usual_files_are_read_in_every_spelling() {
        let value = file();
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        let pairs = value.to_string();
        let value = lines(value);
        let expected = read_carefully(pairs.as_bytes()).unwrap();
        assert_eq!(expected.merges.len(), 6);
        for text in [&pairs, &pretty, &value.to_string(), &escaped(&pairs), &format!("\u{FEFF}{pairs}")] {
            assert!(same(&read(text.as_bytes()).unwrap(), &expected), "{text:.40}");
        }
    }

    #[test]
    fn what_is_faulty_or_unusual_is_left_alone() {
        let good = file().to_string();
        for (from, to) in [
            (r#""b":98"#, r#""b":98.0"#),
            (r#""b":98"#, r#""b":098"#),
            (r#""b":98"#, r#""b":98,"b":98"#),
            (r#""b":98"#, r#""b":98,"\u0062":98"#),
            (r#""b":98"#, r#""b":97"#),
            (r#""b":98"#, r#""日":98"#),
            (r#""b":98"#, r#""b\q":98"#),
            (r#""<|a|>":261"#, r#""<|a|>":263"#),
            (r#""<|a|>":261"#, r#""<|a|>":261,"<|a|>":261"#),
            (r#"["Ġ","aa"]"#, r#"["Ġa","a"]"#),
            (r#"["Ġ","aa"]"#, r#"["Ġ","ab"]"#),
            (r#"["Ġ","aa"]"#, r#"["Ġ","aa","b"]"#),
            (r#"["Ġ","aa"]"#, r#""Ġ aa ""#),
            (r#"["Ġ","aa"]"#, r#"["","aa"]"#),
            (r#"["Ġ","aa"]"#, r#"["Ġ","aa"],"#),
            (r#""version":"1.0""#, r#""version":-7340033"#),
            (r#""type":"BPE""#, r#""type":"BPE","more":1"#),
            ("]}}", "]}},"),
        ] {
            let bad = good.replacen(from, to, 1);
            assert!(bad != good && read(bad.as_bytes()).is_none(), "{from} to {to}");
        }
        // What stands where a line begins must be its quote.
        let good_lines = lines(file()).to_string();
        for quote in ["x", "7", "]", "{", "}", ",", "\0", " ", ""] {
            let bad = good_lines.replacen(",\"Ġ aa", &format!(",{quote}Ġ aa"), 1);
            assert!(bad != good_lines && read(bad.as_bytes()).is_none(), "{quote:?}");
        }
        // A vocabulary that is elsewhere is none.
        let decoy = r#"{"version":{"vocab":{"a":0},"merges":[["a","a"]]},"model":{"vocab":{"":-7340033},"merges":[-7340034]}}"#;
        assert!(read(decoy.as_bytes()).is_none());
        for end in 0..good.len() {
            assert!(read(&good.as_bytes()[..end]).is_none());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn what_is_read_is_what_the_ordinary_reader_reads(
            places in prop::collection::vec((any::<prop::sample::Index>(), 0..3_usize), 1..4),
            // Most of it near the merges and the added tokens.
            late in any::<bool>(),
            as_lines in any::<bool>(),
            with in prop::sample::select(vec!["\"", "\\", ",", ":", "0", "1", " ", "[", "]", "{", "}", "a", "Ġ", "\\u0120", "\\n", "\u{80}", ""]),
        ) {
            let file = if as_lines { lines(file()) } else { file() };
            let mut data = file.to_string().into_bytes();
            for (place, cut) in places {
                let from = if late { data.len() - 300 } else { 0 };
                let at = from + place.index(data.len() - from);
                let end = (at + cut).min(data.len());
                data.splice(at..end, with.bytes());
            }
            if let Some(spec) = read(&data) {
                prop_assert!(same(&spec, &read_carefully(&data).unwrap()));
            }
        }
    }
}
