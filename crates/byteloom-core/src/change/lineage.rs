//! What each token of a vocabulary is made of.

use crate::error::{Error, Result};
use crate::merge::MergeScratch;
use crate::spec::Alphabet;
use crate::token::TokenId;
use crate::tokenizer::Tokenizer;

/// The tokens of a tokenizer and the merges that make them, by id.
///
/// Whatever merges inside the span of a token is independent of what stands around it, so there is one last merge by
/// which a token is ever made, however many the list holds.
pub(super) struct Lineage {
    /// What each merge of the list makes.
    pub(super) results: Vec<TokenId>,
    /// The two tokens that the last merge of a token joins; `None` for one that merges do not make.
    pub(super) parts: Vec<Option<(TokenId, TokenId)>>,
    /// The place of that merge in the list.
    places: Vec<usize>,
    /// Whether there is a token with this id.
    pub(super) exists: Vec<bool>,
    /// Special tokens, bytes and the token of unknown characters: no vocabulary is without them.
    pub(super) fixed: Vec<bool>,
    /// Characters that merging begins with, where they are no bytes.
    pub(super) characters: Vec<bool>,
}

impl Lineage {
    /// # Errors
    /// [`Error::Vocabulary`] where a merge makes no token, which no compiled tokenizer has.
    pub(super) fn new(tokenizer: &Tokenizer) -> Result<Self> {
        let spec = tokenizer.spec();
        let ids = spec.max_token_id() as usize + 1;
        let mut lineage = Self {
            results: Vec::with_capacity(spec.merges.len()),
            parts: vec![None; ids],
            places: vec![0; ids],
            exists: vec![false; ids],
            fixed: vec![false; ids],
            characters: vec![false; ids],
        };
        lineage.mark(tokenizer)?;
        let mut times = vec![0_u32; ids];
        let mut joined = Vec::new();
        for (place, &(left, right)) in spec.merges.iter().enumerate() {
            joined.clear();
            for id in [left, right] {
                joined.extend_from_slice(spec.vocab.bytes(id).unwrap_or_default());
            }
            let made = spec.vocab.id(&joined).ok_or_else(|| {
                Error::Vocabulary(format!("merge {place} of ids {left} and {right} makes no token"))
            })?;
            lineage.results.push(made);
            times[made as usize] += 1;
            if times[made as usize] == 1 {
                (lineage.parts[made as usize], lineage.places[made as usize]) = (Some((left, right)), place);
            }
        }
        let mut scratch = MergeScratch::default();
        for id in (0..ids).filter(|&id| times[id] > 1) {
            lineage.parts[id] = last_merge(tokenizer, id as TokenId, &mut scratch);
        }
        if times.iter().any(|&times| times > 1) {
            for (place, (pair, &made)) in spec.merges.iter().zip(&lineage.results).enumerate() {
                if lineage.parts[made as usize] == Some(*pair) {
                    lineage.places[made as usize] = place;
                }
            }
        }
        // A base symbol stands on nothing, even where a merge of the list would make its bytes.
        for id in 0..ids {
            if lineage.fixed[id] || lineage.characters[id] {
                lineage.parts[id] = None;
            }
        }
        Ok(lineage)
    }

    fn mark(&mut self, tokenizer: &Tokenizer) -> Result<()> {
        let spec = tokenizer.spec();
        for (id, exists) in (0..).zip(&mut self.exists) {
            *exists = tokenizer.token_bytes(id).is_some();
        }
        for token in spec.special.tokens() {
            self.exists[token.id as usize] = true;
            self.fixed[token.id as usize] = true;
        }
        match &spec.alphabet {
            Alphabet::Bytes => {
                for id in spec.vocab.byte_ids()? {
                    self.fixed[id as usize] = true;
                }
                return Ok(());
            }
            Alphabet::CharactersAndBytes(bytes) => {
                for &id in &bytes[..] {
                    self.exists[id as usize] = true;
                    self.fixed[id as usize] = true;
                }
            }
            Alphabet::CharactersOr(unknown) => self.fixed[*unknown as usize] = true,
        }
        for (id, bytes) in spec.vocab.iter() {
            let mut text = std::str::from_utf8(bytes).unwrap_or_default().chars();
            self.characters[id as usize] = text.next().is_some() && text.next().is_none();
        }
        Ok(())
    }

    /// The tokens of `some`, those after which no other needs them last: the parts of a token stand before it, and
    /// otherwise tokens stand in the order of their merges. One that no merge makes follows the one with the id below.
    pub(super) fn in_order(
        &self,
        some: impl Fn(usize) -> bool,
        length: impl Fn(TokenId) -> usize,
    ) -> Vec<TokenId> {
        let ids = self.exists.len();
        let mut keys = vec![(0, 0); ids];
        let mut by_length: Vec<usize> = (0..ids).filter(|&id| self.parts[id].is_some()).collect();
        by_length.sort_by_key(|&id| length(id as TokenId));
        for id in by_length {
            let Some((left, right)) = self.parts[id] else { continue };
            let (left, right) = (keys[left as usize], keys[right as usize]);
            keys[id] = ((self.places[id] + 1).max(left.0).max(right.0), 1 + left.1.max(right.1));
        }
        let mut before = 0;
        for id in (0..ids).filter(|&id| self.exists[id]) {
            if self.parts[id].is_none() && !self.fixed[id] {
                keys[id] = (before, usize::MAX);
            } else {
                before = keys[id].0;
            }
        }
        let mut chosen: Vec<TokenId> = (0..ids).filter(|&id| some(id)).map(|id| id as TokenId).collect();
        chosen.sort_by_key(|&id| (keys[id as usize], id));
        chosen
    }

    /// Adds to `kept` what its tokens are made of.
    pub(super) fn close(&self, kept: &mut [bool]) {
        let mut open: Vec<usize> = (0..kept.len()).filter(|&id| kept[id]).collect();
        while let Some(id) = open.pop() {
            let Some((left, right)) = self.parts[id] else { continue };
            for part in [left as usize, right as usize] {
                if !std::mem::replace(&mut kept[part], true) {
                    open.push(part);
                }
            }
        }
    }
}

/// The pair by whose merge the bytes of a token, merged by themselves, become that token.
fn last_merge(tokenizer: &Tokenizer, id: TokenId, scratch: &mut MergeScratch) -> Option<(TokenId, TokenId)> {
    let (mut ids, mut last) = (Vec::new(), None);
    let bytes = tokenizer.spec().vocab.bytes(id)?;
    tokenizer.merge_table().merge_observed(bytes, scratch, &mut ids, |step| {
        last = step.symbols.get(step.at).copied().zip(step.symbols.get(step.at + 1).copied());
    });
    last.filter(|_| ids == [id])
}
