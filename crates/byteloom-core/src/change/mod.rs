//! Another vocabulary from one that is there: fewer tokens, or more, and where each id goes.
//!
//! What is kept keeps all that it is made of. So it is made as before: the merges inside the span of a token depend on
//! nothing outside it, and those that are gone were none of those that happened there. Text of whose tokens all are
//! kept has the same tokens.

mod lineage;
#[cfg(test)]
mod tests;
mod uses;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde_json::Value;

use crate::error::{Error, Result};
use crate::spec::{Alphabet, TokenizerSpec};
use crate::special::{SpecialToken, SpecialTokens};
use crate::token::{MAX_TOKEN_ID, TokenId};
use crate::tokenizer::Tokenizer;
use crate::vocab::Vocabulary;
use lineage::Lineage;
pub use uses::UseCounter;

/// A vocabulary made of another, and where its tokens went.
#[derive(Clone, Debug)]
pub struct Change {
    /// The new vocabulary. Its ids go from 0 on without holes, and tokens stand in the order that they had.
    pub spec: TokenizerSpec,
    /// The new id of each old one; `None` for a token that is gone, and for an id that was none.
    pub new_ids: Vec<Option<TokenId>>,
    /// Tokens that were not asked for and stay because one that stays is made of them.
    pub builders: usize,
    /// How many of the merges of the old list, from the first on, are all that is left of it; `None` where others are.
    pub first_merges: Option<usize>,
}

impl Tokenizer {
    /// The vocabulary of `size` tokens that the first merges make. Of a trained one: that of a training to this size.
    ///
    /// ```
    /// use byteloom_core::{pretokenize::PreTokenizer, spec::{SpecialPosition, TokenizerSpec}, tokenizer::Tokenizer};
    ///
    /// let merges = [(97, 98), (256, 99)];
    /// let end = ["<end>".to_owned()];
    /// let spec = TokenizerSpec::from_merges(&merges, PreTokenizer::new("gpt2")?, &end, SpecialPosition::Last)?;
    /// let change = Tokenizer::new(spec, 0)?.resized(258)?;
    /// assert_eq!(change.spec.merges, [(97, 98)]);
    /// assert_eq!(change.new_ids[256..], [Some(256), None, Some(257)]);
    /// # Ok::<(), byteloom_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Vocabulary`] for a size below that of what stays in any case, or above the present one.
    pub fn resized(&self, size: usize) -> Result<Change> {
        let lineage = Lineage::new(self)?;
        let stays = |id: usize| lineage.fixed[id] || lineage.characters[id];
        let rest = |id: usize| lineage.exists[id] && !stays(id);
        let room = self.room(size, (0..lineage.exists.len()).filter(|&id| stays(id)).count())?;
        let length = |id| self.token_bytes(id).map_or(0, <[u8]>::len);
        let mut kept: Vec<bool> = (0..lineage.exists.len()).map(stays).collect();
        for id in lineage.in_order(rest, length).into_iter().take(room) {
            kept[id as usize] = true;
        }
        self.keeping(&lineage, &kept, 0)
    }

    /// The vocabulary of the tokens that are `wanted`, by id, and of what they are made of. Special tokens, bytes, and
    /// characters that no bytes stand in for, stay in any case.
    ///
    /// # Errors
    /// [`Error::Argument`] where there are not as many marks as ids.
    pub fn pruned(&self, wanted: &[bool]) -> Result<Change> {
        let lineage = Lineage::new(self)?;
        lineage.check_ids("wanted", wanted.len())?;
        let stays = self.staying(&lineage);
        let mut kept: Vec<bool> =
            (0..wanted.len()).map(|id| stays[id] || (wanted[id] && lineage.exists[id])).collect();
        let asked_for = kept.clone();
        lineage.close(&mut kept);
        let builders = kept.iter().zip(&asked_for).filter(|(kept, asked_for)| **kept && !**asked_for).count();
        self.keeping(&lineage, &kept, builders)
    }

    /// The vocabulary of `size` tokens that remains when the least used tokens go, one after the other.
    ///
    /// Only a token that no other is made of can go. Its uses then count as uses of the two that it was made of. Of
    /// equally used ones the one that was learned last goes first.
    ///
    /// # Errors
    /// [`Error::Vocabulary`] as for [`Self::resized`]; [`Error::Argument`] where there are not as many uses as ids.
    pub fn pruned_to(&self, uses: &[u64], size: usize) -> Result<Change> {
        let lineage = Lineage::new(self)?;
        lineage.check_ids("uses", uses.len())?;
        let stays = self.staying(&lineage);
        let room = self.room(size, stays.iter().filter(|&&stays| stays).count())?;
        let length = |id| self.token_bytes(id).map_or(0, <[u8]>::len);
        let order = lineage.in_order(|id| lineage.exists[id] && !stays[id], length);
        let mut place = vec![0; uses.len()];
        let mut needed = vec![0_u32; uses.len()];
        for (number, &id) in order.iter().enumerate() {
            place[id as usize] = number;
            for part in lineage.parts_of(id) {
                needed[part] += 1;
            }
        }
        let mut kept = lineage.exists.clone();
        let mut now = uses.to_vec();
        let entry = |id: usize, now: &[u64]| Reverse((now[id], Reverse(place[id]), id));
        let mut free: BinaryHeap<_> = (order.iter().map(|&id| id as usize))
            .filter(|&id| needed[id] == 0)
            .map(|id| entry(id, &now))
            .collect();
        for _ in room..order.len() {
            // A token is free only once it is used by none: its uses do not change while it waits here.
            let Some(Reverse((count, _, id))) = free.pop() else { break };
            kept[id] = false;
            for part in lineage.parts_of(id as TokenId) {
                now[part] = now[part].saturating_add(count);
                needed[part] -= 1;
                if needed[part] == 0 && !stays[part] {
                    free.push(entry(part, &now));
                }
            }
        }
        let idle = |id: usize| kept[id] && !stays[id] && uses[id] == 0 && needed[id] > 0;
        let builders = (0..uses.len()).filter(|&id| idle(id)).count();
        self.keeping(&lineage, &kept, builders)
    }

    /// What no pruning takes away. A character that has no bytes to become would be lost.
    fn staying(&self, lineage: &Lineage) -> Vec<bool> {
        let all_characters = matches!(self.spec().alphabet, Alphabet::CharactersOr(_));
        let characters = lineage.characters.iter().map(|&is_character| is_character && all_characters);
        lineage.fixed.iter().zip(characters).map(|(&fixed, character)| fixed || character).collect()
    }

    /// How many tokens there may be beside the `least` that stay.
    fn room(&self, size: usize, least: usize) -> Result<usize> {
        let most = self.vocab_size();
        if (least..=most).contains(&size) {
            return Ok(size - least);
        }
        let what = match self.spec().alphabet {
            Alphabet::Bytes => "bytes and special tokens",
            Alphabet::CharactersAndBytes(_) | Alphabet::CharactersOr(_) => {
                "characters, bytes and special tokens"
            }
        };
        let advice = if size > most { "; extend learns more tokens from text" } else { "" };
        Err(Error::Vocabulary(format!(
            "vocab_size must be from {least} (the {what}) to {most} (all there are), not {size}{advice}"
        )))
    }

    /// The vocabulary of the tokens that are kept, which hold all that they are made of.
    fn keeping(&self, lineage: &Lineage, kept: &[bool], builders: usize) -> Result<Change> {
        let old = self.spec();
        let mut next = 0;
        let new_ids: Vec<Option<TokenId>> = kept
            .iter()
            .zip(&lineage.exists)
            .map(|(&kept, &exists)| {
                (kept && exists).then(|| {
                    next += 1;
                    next - 1
                })
            })
            .collect();
        let new_id = |id: TokenId| new_ids.get(id as usize).copied().flatten();
        let fixed = |id: TokenId| new_id(id).unwrap_or_default(); // what is fixed is always kept
        let mut merges = Vec::new();
        let mut places = Vec::new();
        for (place, (&(left, right), &made)) in old.merges.iter().zip(&lineage.results).enumerate() {
            if let (Some(left), Some(right), Some(_)) = (new_id(left), new_id(right), new_id(made)) {
                merges.push((left, right));
                places.push(place);
            }
        }
        let tokens =
            old.special.tokens().iter().map(|token| SpecialToken { id: fixed(token.id), ..token.clone() });
        let mut special = SpecialTokens::new(tokens.collect())?;
        special.bos = old.special.bos.map(fixed);
        special.eos = old.special.eos.map(fixed);
        special.pad = old.special.pad.map(fixed);
        let alphabet = match &old.alphabet {
            Alphabet::Bytes => Alphabet::Bytes,
            Alphabet::CharactersAndBytes(ids) => {
                Alphabet::CharactersAndBytes(Box::new(std::array::from_fn(|byte| fixed(ids[byte]))))
            }
            Alphabet::CharactersOr(unknown) => Alphabet::CharactersOr(fixed(*unknown)),
        };
        let first = places.last().is_none_or(|&last| last + 1 == places.len());
        let spec = TokenizerSpec {
            vocab: Vocabulary::new(old.vocab.iter().filter_map(|(id, bytes)| Some((new_id(id)?, bytes))))?,
            shared_ranks: (old.shared_ranks.as_ref())
                .map(|ranks| places.iter().map(|&place| ranks[place]).collect()),
            merges,
            whole_tokens: old.whole_tokens,
            normalizer: old.normalizer.clone(),
            pretokenizer: old.pretokenizer.clone(),
            special,
            special_position: old.special_position,
            alphabet,
            metadata: Value::Null,
        };
        let first_merges = first.then_some(places.len());
        let spec = TokenizerSpec { metadata: facts_after(old, &spec, first_merges), ..spec };
        Ok(Change { spec, new_ids, builders, first_merges })
    }
}

/// The facts about the old vocabulary that hold for the new one as well. What training reports is cut where the first
/// merges are left, and goes with the last of its merges. Where others are left its ids are gone; what it says of the
/// training stays true.
fn facts_after(old: &TokenizerSpec, new: &TokenizerSpec, first_merges: Option<usize>) -> Value {
    let mut facts = old.metadata.clone();
    let Some(report) = facts.get_mut("training").and_then(Value::as_object_mut) else { return facts };
    let merges = report.get("merges").and_then(Value::as_u64).and_then(|merges| usize::try_from(merges).ok());
    let dropped = first_merges.map(|first| old.merges.len() - first);
    let left = merges.zip(dropped).and_then(|(merges, dropped)| merges.checked_sub(dropped));
    match left {
        Some(_) if dropped == Some(0) => {}
        Some(left) => {
            report.insert("vocab_size".to_owned(), new.vocab_size().into());
            report.insert("vocab_size_asked".to_owned(), new.vocab_size().into());
            report.insert("merges".to_owned(), left.into());
            report.insert("stopped".to_owned(), "vocab_size".into());
            // Only the text and the merges themselves could tell.
            report.insert("coverage".to_owned(), Value::Null);
            report.insert("ties".to_owned(), Value::Null);
            if let Some(steps) = report.get_mut("trace").and_then(Value::as_array_mut) {
                steps.truncate(left);
            }
            report.remove("seed_tokens");
        }
        None if dropped.is_some() => {
            if let Some(facts) = facts.as_object_mut() {
                facts.remove("training");
            }
        }
        None => {
            report.insert("vocab_size".to_owned(), new.vocab_size().into());
            report.insert("coverage".to_owned(), Value::Null);
            report.insert("ties".to_owned(), Value::Null);
            report.remove("trace");
            report.remove("seed_tokens");
        }
    }
    facts
}

impl Lineage {
    /// That what is told by id tells of every one.
    fn check_ids(&self, what: &str, told: usize) -> Result<()> {
        let ids = self.exists.len();
        if told == ids {
            return Ok(());
        }
        Err(Error::Argument(format!("{what} tells of {told} ids; this tokenizer has {ids}")))
    }

    fn parts_of(&self, id: TokenId) -> impl Iterator<Item = usize> + use<> {
        self.parts[id as usize].into_iter().flat_map(|(left, right)| [left as usize, right as usize])
    }
}

impl TokenizerSpec {
    /// A copy with more merges behind all others. Merge `k` makes the id `max_token_id() + 1 + k`; no id moves.
    ///
    /// # Errors
    /// [`Error::Vocabulary`] for a merge of ids that are no tokens, or that makes bytes which are a token.
    pub fn extended(&self, merges: &[(TokenId, TokenId)]) -> Result<Self> {
        let first = self.max_token_id() + 1;
        if merges.len() as u64 + u64::from(first) > u64::from(MAX_TOKEN_ID) + 1 {
            return Err(Error::Vocabulary(format!(
                "{} more tokens pass the largest id, {MAX_TOKEN_ID}",
                merges.len()
            )));
        }
        let mut made: Vec<Vec<u8>> = Vec::with_capacity(merges.len());
        for &(left, right) in merges {
            let bytes = |id: TokenId| match id.checked_sub(first) {
                None => self.vocab.bytes(id),
                Some(place) => made.get(place as usize).map(Vec::as_slice),
            };
            let (Some(left), Some(right)) = (bytes(left), bytes(right)) else {
                return Err(Error::Vocabulary(format!(
                    "ids {left} and {right} are no two tokens that a merge joins"
                )));
            };
            made.push([left, right].concat());
        }
        let old = self.vocab.iter();
        let vocab = Vocabulary::new(old.chain((first..).zip(made.iter().map(Vec::as_slice))))?;
        let shared_ranks = self.shared_ranks.clone().map(|mut ranks| {
            let next = ranks.iter().max().map_or(0, |&last| last + 1);
            ranks.extend((next..).take(merges.len()));
            ranks
        });
        let merges = [self.merges.as_slice(), merges].concat();
        Ok(Self { vocab, merges, shared_ranks, ..self.clone() })
    }
}
