//! What merging begins with: bytes or characters, and their numbers in training.

use memchr::memmem;

use super::counts::PretokenCounts;
use super::progress::{Pacer, Progress, Stage};
use super::tie::TieBreak;
use super::words::Words;
use crate::error::{Error, Result, excerpt};

/// The initial symbols of a training.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Symbols {
    /// The 256 bytes.
    #[default]
    Bytes,
    /// The distinct characters of the text, in the order of their code points.
    Characters,
}

impl Symbols {
    /// Its name in options and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Characters => "characters",
        }
    }

    /// The symbols named `name`.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "bytes" => Ok(Self::Bytes),
            "characters" => Ok(Self::Characters),
            _ => Err(Error::Argument(format!(
                "alphabet must be \"bytes\" or \"characters\", not {}",
                excerpt(name)
            ))),
        }
    }
}

/// The numbers of the symbols of one training.
#[derive(Debug)]
pub(super) enum Numbers {
    /// By byte.
    Bytes(Box<[u8; 256]>),
    /// The place in this list, which ascends.
    Characters(Vec<char>),
}

impl Numbers {
    pub(super) fn new(symbols: Symbols, tie_break: TieBreak, counts: &PretokenCounts) -> Result<Self> {
        match symbols {
            Symbols::Bytes => Ok(Self::Bytes(Box::new(tie_break.symbol_of_byte()))),
            Symbols::Characters => distinct_characters(counts).map(Self::Characters),
        }
    }

    fn base(&self) -> u32 {
        match self {
            Self::Bytes(_) => 256,
            Self::Characters(characters) => characters.len() as u32,
        }
    }

    /// The distinct pre-tokens as words of symbols.
    pub(super) fn words(
        &self,
        counts: &PretokenCounts,
        merges: usize,
        pacer: &mut Pacer<'_>,
    ) -> Result<Words> {
        let mut words = Words::with_capacity(self.base(), merges, counts.len(), counts.distinct_bytes())?;
        let start = Progress { stage: Stage::Merge, done: 0, total: Some(merges as u64) };
        for (pretoken, count) in counts.iter() {
            match self {
                Self::Bytes(numbers) => {
                    words.push(pretoken.iter().map(|&byte| u32::from(numbers[usize::from(byte)])), count)?;
                }
                Self::Characters(characters) => {
                    words.push(text(pretoken)?.chars().filter_map(|c| number(characters, c)), count)?;
                }
            }
            pacer.spend(pretoken.len(), || start)?;
        }
        Ok(words)
    }

    /// Those of `strings` that stand in some pre-token, as symbols: no merge could make the others.
    pub(super) fn taken(&self, strings: &[String], counts: &PretokenCounts) -> Vec<Vec<u32>> {
        let stands_in_text = |string: &&String| {
            let finder = memmem::Finder::new(string.as_bytes());
            counts.iter().any(|(pretoken, _)| finder.find(pretoken).is_some())
        };
        let spell = |string: &String| match self {
            Self::Bytes(numbers) => string.bytes().map(|byte| numbers[usize::from(byte)].into()).collect(),
            Self::Characters(characters) => string.chars().filter_map(|c| number(characters, c)).collect(),
        };
        strings.iter().filter(stands_in_text).map(spell).collect()
    }
}

impl Numbers {
    /// A string as initial symbols under their names: bytes by their values, characters by their places.
    ///
    /// # Errors
    /// The first character that the alphabet lacks; `None` where the string is no text at all.
    pub(super) fn spell_bytes(&self, string: &[u8]) -> std::result::Result<Vec<u32>, Option<char>> {
        match self {
            Self::Bytes(_) => Ok(string.iter().map(|&byte| byte.into()).collect()),
            Self::Characters(characters) => {
                let text = std::str::from_utf8(string).map_err(|_| None)?;
                text.chars().map(|c| number(characters, c).ok_or(Some(c))).collect()
            }
        }
    }

    /// A seed as initial symbols, named as by [`Self::spell_bytes`].
    pub(super) fn spell_seed(&self, index: usize, seed: &[u8]) -> Result<Vec<u32>> {
        self.spell_bytes(seed).map_err(|missing| {
            let what = match missing {
                Some(character) => format!("holds {character:?}, which is no character of the training text"),
                None => "is not UTF-8, and an alphabet of characters needs text".to_owned(),
            };
            Error::Training(format!("seed_tokens[{index}] {what}"))
        })
    }
}

/// The distinct characters of all pre-tokens, ascending.
pub(super) fn distinct_characters(counts: &PretokenCounts) -> Result<Vec<char>> {
    let mut ascii = [false; 128];
    let mut others = std::collections::BTreeSet::new();
    for (pretoken, _) in counts.iter() {
        for character in text(pretoken)?.chars() {
            match ascii.get_mut(character as usize) {
                Some(seen) => *seen = true,
                None => {
                    others.insert(character);
                }
            }
        }
    }
    let ascii = (0u8..128).zip(ascii).filter(|(_, seen)| *seen).map(|(byte, _)| char::from(byte));
    Ok(ascii.chain(others).collect())
}

fn number(characters: &[char], character: char) -> Option<u32> {
    characters.binary_search(&character).ok().map(|place| place as u32)
}

fn text(pretoken: &[u8]) -> Result<&str> {
    std::str::from_utf8(pretoken).map_err(|_| {
        Error::Text(format!(
            "the pre-token \"{}\" is not UTF-8, and an alphabet of characters needs text",
            pretoken.escape_ascii()
        ))
    })
}
