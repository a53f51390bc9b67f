//! Where a training goes on: the tokens that are there as symbols, and text as these tokens.
//!
//! Pre-tokens are merged as the tokenizer merges them. What is learned then comes behind all of its merges, so that the
//! old ones still happen first and the new ones find what they were learned from.

use std::collections::HashMap;

use aho_corasick::AhoCorasick;
use foldhash::fast::RandomState;

use super::counts::PretokenCounts;
use super::progress::{Pacer, Progress, Stage};
use super::tie::TieBreak;
use super::words::{Made, Words};
use crate::error::{Error, Result};
use crate::merge::{MergeScratch, MergeTable};
use crate::spec::{Alphabet, TokenizerSpec};
use crate::token::TokenId;

/// No symbol: a byte that stands in for a character, an unknown character, a token that merges do not make.
const NONE: u32 = u32::MAX;

/// The vocabulary that a training goes on from, its tokens numbered as a training would have numbered them.
#[derive(Debug)]
pub(super) struct Start {
    spec: TokenizerSpec,
    table: MergeTable,
    /// The token of each symbol: initial ones, then those of merges in the order of their ranks.
    ids: Vec<TokenId>,
    symbols: Vec<u32>,
    base: u32,
    made: Made,
}

impl Start {
    /// # Errors
    /// [`Error::Vocabulary`] where the parts of the spec do not fit together.
    pub(super) fn new(spec: &TokenizerSpec, tie_break: TieBreak) -> Result<Self> {
        let mut ids: Vec<TokenId> = match &spec.alphabet {
            Alphabet::Bytes => {
                let by_byte = spec.vocab.byte_ids()?;
                tie_break.byte_of_symbol().iter().map(|&byte| by_byte[usize::from(byte)]).collect()
            }
            Alphabet::CharactersAndBytes(_) | Alphabet::CharactersOr(_) => {
                let mut characters: Vec<(char, TokenId)> = spec.vocab.iter().filter_map(character).collect();
                characters.sort_unstable();
                characters.into_iter().map(|(_, id)| id).collect()
            }
        };
        let base = ids.len() as u32;
        let mut symbols = vec![NONE; spec.max_token_id() as usize + 1];
        for (symbol, &id) in (0..).zip(&ids) {
            symbols[id as usize] = symbol;
        }
        let mut joined = Vec::new();
        let mut results = Vec::with_capacity(spec.merges.len());
        for &(left, right) in &spec.merges {
            joined.clear();
            for id in [left, right] {
                joined.extend_from_slice(spec.vocab.bytes(id).unwrap_or_default());
            }
            let made = spec.vocab.id(&joined);
            results.push(made);
            if let Some(made) = made
                && symbols[made as usize] == NONE
            {
                symbols[made as usize] = ids.len() as u32;
                ids.push(made);
            }
        }
        // Any merge that can happen spells the token. One of a token that nothing makes cannot.
        let mut parts = vec![None; ids.len() - base as usize];
        for (&(left, right), made) in spec.merges.iter().zip(results) {
            let symbol = |id: TokenId| symbols.get(id as usize).copied().unwrap_or(NONE);
            let place = made.and_then(|made| symbol(made).checked_sub(base));
            if let Some(place) = place
                && symbol(left) != NONE
                && symbol(right) != NONE
            {
                parts[place as usize].get_or_insert((symbol(left), symbol(right)));
            }
        }
        let mut start = Self {
            table: MergeTable::new(spec)?,
            spec: spec.clone(),
            ids,
            symbols,
            base,
            made: Made {
                parts: parts.into_iter().map(Option::unwrap_or_default).collect(),
                lengths: Vec::new(),
            },
        };
        start.made.lengths =
            start.ids[base as usize..].iter().map(|&id| start.covered(start.bytes(id)) as u32).collect();
        Ok(start)
    }

    fn symbol(&self, id: TokenId) -> u32 {
        self.symbols.get(id as usize).copied().unwrap_or(NONE)
    }

    fn bytes(&self, id: TokenId) -> &[u8] {
        self.spec.vocab.bytes(id).unwrap_or_default()
    }

    fn covered(&self, bytes: &[u8]) -> usize {
        match self.spec.alphabet {
            Alphabet::Bytes => bytes.len(),
            _ => std::str::from_utf8(bytes).map_or(bytes.len(), |text| text.chars().count()),
        }
    }

    /// The token of a symbol; what merges of this training make have ids from `first_new` on.
    pub(super) fn id(&self, symbol: u32, first_new: TokenId) -> TokenId {
        let known = self.ids.len() as u32;
        self.ids.get(symbol as usize).copied().unwrap_or_else(|| first_new + (symbol - known))
    }

    fn merge(&self, bytes: &[u8], scratch: &mut MergeScratch, ids: &mut Vec<TokenId>) {
        ids.clear();
        self.table.merge(bytes, |id| self.bytes(id).len(), scratch, ids);
    }

    /// The distinct pre-tokens as words of tokens. What no merge can join ends a word and begins the next.
    pub(super) fn words(
        &self,
        counts: &PretokenCounts,
        merges: usize,
        pacer: &mut Pacer<'_>,
    ) -> Result<Words> {
        let mut words =
            Words::continuing(self.base, self.made.clone(), merges, counts.len(), counts.distinct_bytes())?;
        let start = Progress { stage: Stage::Merge, done: 0, total: Some(merges as u64) };
        let mut scratch = MergeScratch::default();
        let mut ids = Vec::new();
        // Words must be distinct, and parts of different pre-tokens may be equal.
        let mut parts = Parts::default();
        for (pretoken, count) in counts.iter() {
            pacer.spend(pretoken.len(), || start)?;
            if self.spec.whole_tokens && self.spec.vocab.id(pretoken).is_some() {
                continue;
            }
            self.merge(pretoken, &mut scratch, &mut ids);
            let symbols = ids.iter().map(|&id| self.symbol(id));
            if self.spec.alphabet == Alphabet::Bytes {
                words.push(symbols, count)?;
            } else {
                let symbols: Vec<u32> = symbols.collect();
                for part in symbols.split(|&symbol| symbol == NONE).filter(|part| part.len() > 1) {
                    parts.add(part, count)?;
                }
            }
        }
        for (part, count) in parts.all {
            words.push(part.iter().copied(), count)?;
        }
        Ok(words)
    }

    /// What no merge may make, as initial symbols: the `strings`, and tokens of this vocabulary that merges do not make
    /// and that would get a second id. Only what stands in some pre-token could be made.
    pub(super) fn taken(&self, strings: &[String], counts: &PretokenCounts) -> Result<Vec<Vec<u32>>> {
        let mut scratch = MergeScratch::default();
        let mut ids = Vec::new();
        let mut all: Vec<&[u8]> = strings.iter().map(String::as_bytes).collect();
        for (id, bytes) in self.spec.vocab.iter() {
            self.merge(bytes, &mut scratch, &mut ids);
            if ids != [id] {
                all.push(bytes);
            }
        }
        if all.is_empty() {
            return Ok(Vec::new());
        }
        let found = AhoCorasick::new(&all)
            .map_err(|error| Error::Training(format!("tokens that may not be made do not fit: {error}")))?;
        let mut stands = vec![false; all.len()];
        for (pretoken, _) in counts.iter() {
            for at in found.find_overlapping_iter(pretoken) {
                stands[at.pattern().as_usize()] = true;
            }
        }
        let spell = |bytes: &[u8]| -> Option<Vec<u32>> {
            let symbol = |bytes: &[u8]| self.spec.vocab.id(bytes).map(|id| self.symbol(id));
            if self.spec.alphabet == Alphabet::Bytes {
                return bytes.chunks(1).map(symbol).collect();
            }
            let text = std::str::from_utf8(bytes).ok()?;
            text.chars().map(|c| symbol(c.encode_utf8(&mut [0; 4]).as_bytes())).collect()
        };
        Ok(all
            .into_iter()
            .zip(stands)
            .filter(|(_, stands)| *stands)
            .filter_map(|(bytes, _)| spell(bytes))
            .collect())
    }
}

/// Distinct parts of words with their counts, in order of first appearance.
#[derive(Default)]
struct Parts {
    all: Vec<(Box<[u32]>, u64)>,
    places: HashMap<Box<[u32]>, usize, RandomState>,
}

impl Parts {
    fn add(&mut self, part: &[u32], count: u64) -> Result<()> {
        if let Some(&place) = self.places.get(part) {
            self.all[place].1 = super::counts::sum_of_counts(self.all[place].1, count)?;
        } else {
            self.places.insert(part.into(), self.all.len());
            self.all.push((part.into(), count));
        }
        Ok(())
    }
}

fn character((id, bytes): (TokenId, &[u8])) -> Option<(char, TokenId)> {
    let mut characters = std::str::from_utf8(bytes).ok()?.chars();
    characters.next().filter(|_| characters.next().is_none()).map(|character| (character, id))
}
