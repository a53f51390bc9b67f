//! Tokens that must exist: merges that make them, behind those that the text gave.
//!
//! The text's merges come first and stay as they are. Then the parts of each seed are joined from the left, and what was
//! joined for one serves the next. So seeds cost as few tokens as that order allows, and the tokens before them are the
//! first of those that the text alone would give.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::TrainConfig;
use super::learn::longest;
use super::parallel::Splitter;
use super::symbols::Symbols;
use crate::error::{Error, Result, excerpt};
use crate::pretokenize::Window;

/// Merges for seeds, and how many of the text's merges stand before them.
#[derive(Debug)]
pub(super) struct Planted {
    pub(super) learned: usize,
    pub(super) added: Vec<(u32, u32)>,
}

/// What seeds are planted in.
pub(super) struct Bed<'a> {
    /// How many initial symbols there are.
    pub(super) base: u32,
    /// The merges that the text gave; `base + k` is made by merge `k`.
    pub(super) merges: &'a [(u32, u32)],
    /// The seeds as initial symbols.
    pub(super) seeds: &'a [Vec<u32>],
    /// What no merge may make, as initial symbols.
    pub(super) taken: &'a [Vec<u32>],
}

type Pairs = HashMap<(u32, u32), u32, RandomState>;

impl Bed<'_> {
    /// Merges for all seeds that fit, with as many of the text's as there is room for, into `room`.
    ///
    /// # Errors
    /// [`Error::Training`] where there is not room enough, or a seed could be made of a forbidden string only.
    pub(super) fn plant(&self, room: usize) -> Result<Planted> {
        let known: Pairs = self.merges.iter().copied().zip(self.base..).collect();
        let mut learned = self.merges.len().min(room);
        let mut least = usize::MAX;
        loop {
            let added = self.added(&known, learned)?;
            let total = learned + added.len();
            if total <= room {
                return Ok(Planted { learned, added });
            }
            least = least.min(total);
            if learned == 0 {
                let more = least - room;
                return Err(Error::Training(format!(
                    "the seed tokens need {more} more tokens than vocab_size leaves room for, those that join their \
                     parts included; raise it, or ask for fewer seeds"
                )));
            }
            // With fewer merges of the text, seeds have as many parts or more: nothing in between could fit.
            learned = learned.saturating_sub(total - room);
        }
    }

    /// The merges that join the parts of the seeds, behind the first `learned` of the text.
    fn added(&self, known: &Pairs, learned: usize) -> Result<Vec<(u32, u32)>> {
        let end = self.base + learned as u32;
        let mut added: Vec<(u32, u32)> = Vec::new();
        let mut new = Pairs::default();
        for (index, seed) in self.seeds.iter().enumerate() {
            let made = |new: &Pairs, pair| {
                known.get(&pair).copied().filter(|&made| made < end).or_else(|| new.get(&pair).copied())
            };
            let mut parts = merged(seed.clone(), |pair| made(&new, pair));
            while parts.len() > 1 {
                let pair = parts.windows(2).map(|two| (two[0], two[1])).find(|&pair| {
                    let mut spelled = self.spelled(pair.0, learned, &added);
                    spelled.extend(self.spelled(pair.1, learned, &added));
                    !self.taken.contains(&spelled)
                });
                let Some(pair) = pair else {
                    return Err(Error::Training(format!(
                        "seed_tokens[{index}] cannot be made without making the string of a special token first"
                    )));
                };
                new.insert(pair, end + added.len() as u32);
                added.push(pair);
                parts = merged(parts, |pair| made(&new, pair));
            }
        }
        Ok(added)
    }

    fn spelled(&self, symbol: u32, learned: usize, added: &[(u32, u32)]) -> Vec<u32> {
        let (mut open, mut spelled) = (vec![symbol], Vec::new());
        while let Some(symbol) = open.pop() {
            match symbol.checked_sub(self.base).map(|place| place as usize) {
                None => spelled.push(symbol),
                Some(place) => {
                    let (left, right) =
                        if place < learned { self.merges[place] } else { added[place - learned] };
                    open.extend([right, left]);
                }
            }
        }
        spelled
    }
}

/// Joins neighbours, the pair that makes the lowest symbol first, leftmost among equals.
fn merged(mut symbols: Vec<u32>, made: impl Fn((u32, u32)) -> Option<u32>) -> Vec<u32> {
    const NOTHING: u32 = u32::MAX;
    let value = |left, right| made((left, right)).unwrap_or(NOTHING);
    let mut next: Vec<u32> = symbols.windows(2).map(|two| value(two[0], two[1])).collect();
    while let Some((at, &joined)) = next.iter().enumerate().min_by_key(|&(at, &joined)| (joined, at))
        && joined != NOTHING
    {
        symbols[at] = joined;
        symbols.remove(at + 1);
        next.remove(at);
        if at > 0 {
            next[at - 1] = value(symbols[at - 1], joined);
        }
        if let Some(after) = next.get_mut(at) {
            *after = value(joined, symbols[at + 1]);
        }
    }
    symbols
}

/// That merges can make every seed: each is one pre-token, and neither a special token nor too long.
pub(super) fn check(config: &TrainConfig, splitter: &Splitter) -> Result<()> {
    if config.seeds.is_empty() {
        return Ok(());
    }
    if config.trace.is_some() {
        return Err(Error::Argument(
            "a trace tells how the text chose each merge, and seed tokens have merges that it did not choose; leave one \
             of the two out"
                .into(),
        ));
    }
    for (index, seed) in config.seeds.iter().enumerate() {
        if let Some(fault) = fault_of(seed, config, splitter)? {
            return Err(Error::Training(format!("seed_tokens[{index}] {fault}")));
        }
    }
    Ok(())
}

fn fault_of(seed: &[u8], config: &TrainConfig, splitter: &Splitter) -> Result<Option<String>> {
    let shown = |bytes: &[u8]| excerpt(&String::from_utf8_lossy(bytes));
    if seed.is_empty() {
        return Ok(Some("is empty".to_owned()));
    }
    let special = splitter.specials.find(seed, 0).map(|found| found.span);
    if special.as_ref().is_some_and(|span| *span == (0..seed.len()))
        || config.taken.iter().any(|name| name.as_bytes() == seed)
    {
        return Ok(Some(format!("{} is a special token, which no merge makes", shown(seed))));
    }
    if let Some(span) = special {
        return Ok(Some(format!(
            "{} holds the special token {}, and no token crosses one",
            shown(seed),
            shown(&seed[span])
        )));
    }
    let pieces = pieces(splitter, seed)?;
    if pieces.len() > 1 {
        let named: Vec<String> = pieces.iter().take(8).map(|piece| shown(piece)).collect();
        let more = if pieces.len() > named.len() { ", …" } else { "" };
        return Ok(Some(format!(
            "{} is {} pre-tokens ({}{more}), and no token crosses them; ask for these, or choose another pattern",
            shown(seed),
            pieces.len(),
            named.join(", ")
        )));
    }
    let length = match config.symbols {
        Symbols::Bytes => seed.len(),
        Symbols::Characters => String::from_utf8_lossy(seed).chars().count(),
    };
    let longest = longest(config);
    let too_long =
        || format!("{} has a length of {length}; the longest token allowed has {longest}", shown(seed));
    Ok((length > longest).then(too_long))
}

/// The pre-tokens of a seed that stands alone.
fn pieces<'s>(splitter: &Splitter, seed: &'s [u8]) -> Result<Vec<&'s [u8]>> {
    let (mut blocks, mut window) = (splitter.pretokenizer.blocks(seed), Window::default());
    let (mut pieces, mut start) = (Vec::new(), 0);
    while blocks.next_window(&mut window)? {
        let ends = window.ends.iter().map(|&end| window.start + end as usize);
        let whole = window.ends.is_empty().then_some(window.end);
        for end in ends.chain(whole) {
            pieces.push(&seed[start..end]);
            start = end;
        }
    }
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plant(merges: &[(u32, u32)], seeds: &[&[u32]], taken: &[&[u32]], room: usize) -> Result<Planted> {
        let own = |all: &[&[u32]]| all.iter().map(|one| one.to_vec()).collect::<Vec<_>>();
        Bed { base: 4, merges, seeds: &own(seeds), taken: &own(taken) }.plant(room)
    }

    #[test]
    fn parts_are_joined_from_the_left_and_serve_again() {
        // 4 = 0 1 by the text; 0 1 2 3 takes two more tokens, 0 1 2 0 one beside them.
        let planted = plant(&[(0, 1)], &[&[0, 1, 2, 3], &[0, 1, 2, 0]], &[], 9).unwrap();
        assert_eq!((planted.learned, planted.added), (1, vec![(4, 2), (5, 3), (5, 0)]));
        let planted = plant(&[(0, 1)], &[&[0, 1], &[3]], &[], 1).unwrap();
        assert_eq!((planted.learned, planted.added), (1, vec![]), "nothing is missing");
    }

    #[test]
    fn a_repeated_part_is_merged_wherever_it_stands() {
        let planted = plant(&[], &[&[0, 1, 0, 1, 0]], &[], 9).unwrap();
        assert_eq!(planted.added, [(0, 1), (4, 4), (5, 0)]);
    }

    #[test]
    fn merges_of_the_text_make_room() {
        let text = [(2, 3), (3, 3), (2, 2)];
        let planted = plant(&text, &[&[0, 1, 0]], &[], 4).unwrap();
        assert_eq!((planted.learned, planted.added), (2, vec![(0, 1), (6, 0)]));
        assert!(plant(&text, &[&[0, 1, 0]], &[], 2).is_ok());
        let error = plant(&text, &[&[0, 1, 0], &[1, 1]], &[], 2).unwrap_err().to_string();
        assert!(error.contains("need 1 more tokens"), "{error}");
    }

    #[test]
    fn one_merge_more_may_take_more_room_than_it_is() {
        // With 4 = 0 1 alone, 0 1 2 and 0 1 3 share it; with 5 = 1 2 as a merge before it, nothing is shared.
        let text = [(1, 2), (0, 1)];
        let planted = plant(&text, &[&[0, 1, 2], &[0, 1, 3]], &[], 3).unwrap();
        assert_eq!((planted.learned, planted.added.len()), (0, 3));
    }

    #[test]
    fn forbidden_strings_are_made_around() {
        let planted = plant(&[], &[&[0, 1, 2]], &[&[0, 1]], 9).unwrap();
        assert_eq!(planted.added, [(1, 2), (0, 4)]);
        let error = plant(&[], &[&[0, 1, 2]], &[&[0, 1], &[1, 2]], 9).unwrap_err().to_string();
        assert!(error.contains("seed_tokens[0]"), "{error}");
    }
}
