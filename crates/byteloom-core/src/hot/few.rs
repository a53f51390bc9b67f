//! A few pre-tokens, one after another.

use super::{HotTier, ID_LIMIT, KEY_PART, LENGTH_SHIFT, MAX_LENGTH, NO_SECOND, SECOND, Slot, avx2, place_of};
use crate::cache::Key;
use crate::token::TokenId;

/// What a pre-token of each length keeps of 16 bytes, and the mark of its length; those that are too long get one that
/// no slot has.
static MASKS: [(u128, u128); 17] = {
    let mut masks = [(0, (KEY_PART as u128) << 96); 17];
    let mut length = 1;
    while length <= MAX_LENGTH {
        masks[length] = ((1 << (8 * length)) - 1, (length as u128) << (96 + LENGTH_SHIFT));
        length += 1;
    }
    masks
};

/// All of a slot but what it says of ids.
const KEY_BITS: u128 = (KEY_PART as u128) << 96 | u128::MAX >> 32;

#[inline(always)]
#[expect(clippy::inline_always, reason = "a few instructions of a loop")]
fn number([a, b, c, d]: Slot) -> u128 {
    u128::from(a) | u128::from(b) << 32 | u128::from(c) << 64 | u128::from(d) << 96
}

impl HotTier {
    /// Writes the ids of the pre-tokens of `text` that end at `ends`, from the one numbered `number` on up to the first
    /// that the tier does not hold, into `ids` from `count` on. Returns the number of that one, and where the ids end.
    /// The text must have 16 bytes from the start of each of them on; one that has not is not held.
    pub(crate) fn take_known(
        &self,
        text: &[u8],
        ends: &[u32],
        number: usize,
        ids: &mut [TokenId],
        count: usize,
    ) -> (usize, usize) {
        if self.by_aes {
            avx2::take_known(self, text, ends, number, ids, count)
        } else {
            self.take_by(text, ends, number, ids, count, |kept, mark| plain_hash(kept | mark))
        }
    }

    /// [`Self::take_known`] where places come from `hash`, of what is kept of a pre-token and of the mark of its length.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "becomes part of a function for one kind of processor")]
    pub(super) fn take_by(
        &self,
        text: &[u8],
        ends: &[u32],
        mut number: usize,
        ids: &mut [TokenId],
        mut count: usize,
        hash: impl Fn(u128, u128) -> u32,
    ) -> (usize, usize) {
        let mut start = if number == 0 { 0 } else { ends[number - 1] as usize };
        while let Some(&end) = ends.get(number) {
            let end = end as usize;
            let Some(bytes) = text.get(start..).and_then(|rest| rest.first_chunk()) else { break };
            let (keep, mark) = MASKS[(end - start).min(16)];
            let kept = u128::from_le_bytes(*bytes) & keep;
            let place = place_of(hash(kept, mark));
            let slot = self::number(self.slots[place].0);
            let (true, Some([first, second])) =
                ((slot ^ (kept | mark)) & KEY_BITS == 0, ids.get_mut(count..count + 2))
            else {
                break;
            };
            let word = (slot >> 96) as u32;
            *first = word & (ID_LIMIT - 1);
            count += 1;
            if word & SECOND != 0 {
                *second = self.seconds[place];
                count += 1;
            }
            (number, start) = (number + 1, end);
        }
        (number, count)
    }

    /// Keeps the ids of a pre-token, if they are one or two and it is not too long.
    pub(crate) fn put(&mut self, key: &Key, ids: &[TokenId]) {
        let ([a, b, c], length) = key.short();
        let (first, second) = match *ids {
            [first] => (first, NO_SECOND),
            [first, second] => (first, second),
            _ => return,
        };
        if length > MAX_LENGTH || first >= ID_LIMIT {
            return;
        }
        let mark = (length as u32) << LENGTH_SHIFT;
        let (kept, marked) = (number([a, b, c, 0]), number([0, 0, 0, mark]));
        let hash = if self.by_aes { avx2::hash_of(self, kept) } else { plain_hash(kept | marked) };
        let place = place_of(hash);
        let has_second = if second == NO_SECOND { 0 } else { SECOND };
        self.slots[place].0 = [a, b, c, mark | has_second | first];
        self.seconds[place] = second;
    }
}

/// See [`super::hash`].
#[inline]
fn plain_hash(key: u128) -> u32 {
    super::hash(std::array::from_fn(|at| (key >> (32 * at)) as u32))
}

#[cfg(test)]
mod tests {
    use super::super::{Found, tests::tiers};
    use super::*;

    #[test]
    fn it_knows_what_the_look_up_of_many_knows() {
        for mut tier in tiers() {
            let pieces: Vec<Vec<u8>> = (0..400_u32)
                .map(|at| format!("{}", u64::from(at) * 7919 % 1_000_003).repeat(1 + at as usize % 3))
                .map(String::into_bytes)
                .collect();
            for (at, piece) in pieces.iter().enumerate().filter(|(at, _)| at % 5 != 0) {
                let ids = [at as TokenId, 7, 8];
                tier.put(&Key::of(piece), &ids[..=at % 3]);
            }
            for chunk in pieces.chunks(7) {
                let mut text = chunk.concat();
                let ends: Vec<u32> = chunk
                    .iter()
                    .scan(0, |end, piece| {
                        *end += piece.len() as u32;
                        Some(*end)
                    })
                    .collect();
                let mut found = Found::default();
                tier.look_up(&text, 0, &ends, &mut found);
                text.extend([b'x'; 16]);
                let mut from = 0;
                let mut missing = Vec::new();
                while from < ends.len() {
                    let mut ids = [0; 20];
                    let (stopped, count) = tier.take_known(&text, &ends, from, &mut ids, 0);
                    let expected: Vec<TokenId> = (from..stopped)
                        .flat_map(|at| [found.first[at], found.second[at]])
                        .filter(|&id| id != NO_SECOND)
                        .collect();
                    assert_eq!(ids[..count], expected);
                    missing.extend((stopped < ends.len()).then_some(stopped as u16));
                    from = stopped + 1;
                }
                assert_eq!(missing, found.misses());
            }
        }
    }
}
