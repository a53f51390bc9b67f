//! Short texts: their few pre-tokens are looked up one after another.
//!
//! Passes over blocks are made for many pre-tokens at once; of a text of a dozen bytes they are most of the work. Here
//! the same tables are asked for the same ids, in the order of the text.

use std::ops::Range;

use super::{Workspace, any_long, hot_tier, with_workspace};
use crate::cache::{Ids, Key};
use crate::hot::HotTier;
use crate::merge::MergeScratch;
use crate::normalize::Prefix;
use crate::token::TokenId;
use crate::tokenizer::{SpecialPolicy, Tokenizer};

/// The longest text that counts as short, in bytes.
pub const SHORT: usize = 240;
/// Sixteen bytes can be read from each of a short text on.
const ROOM: usize = SHORT + 16;

/// A short text, and its ids: no more than it has bytes, and room for one.
#[derive(Debug)]
pub(super) struct Short {
    text: [u8; ROOM],
    ids: [TokenId; SHORT + 1],
    known: Ids,
    merged: Vec<TokenId>,
}

impl Default for Short {
    fn default() -> Self {
        Self { text: [0; ROOM], ids: [0; SHORT + 1], known: Ids::default(), merged: Vec::new() }
    }
}

impl Short {
    /// The text, with zeros behind it.
    #[inline]
    pub(super) fn copy(&mut self, text: &[u8]) -> &[u8] {
        let length = text.len().min(SHORT);
        self.text[..length].copy_from_slice(&text[..length]);
        self.text[length..length + 16].fill(0);
        &self.text[..length + 16]
    }

    /// The ids, `count` of them.
    #[inline]
    pub(super) fn ids(&self, count: usize) -> &[TokenId] {
        &self.ids[..count]
    }
}

impl Tokenizer {
    /// Gives the ids of a text to `take`, if it is short and there is nothing about it but to look pre-tokens up; these
    /// are the ids that [`Self::encode_into`] appends. `None` of any other text, which takes that way.
    pub fn with_short_ids<T>(
        &self,
        text: &[u8],
        policy: &SpecialPolicy,
        take: impl FnOnce(&[TokenId]) -> T,
    ) -> Option<T> {
        let normalizer = &self.spec().normalizer;
        let stays = normalizer.prefix == Prefix::None && (normalizer.is_identity() || text.is_ascii());
        if text.len() > SHORT || !stays || policy.finds_any(text) {
            return None;
        }
        with_workspace(|workspace| {
            let count = self.encode_short(text, workspace)?;
            Some(take(workspace.short.ids(count)))
        })
    }

    /// Leaves the ids of ordinary, normalized text in `workspace.short`, if it has no long pre-token and no regex cuts
    /// it, and returns how many they are.
    pub(super) fn encode_short(&self, text: &[u8], workspace: &mut Workspace) -> Option<usize> {
        let Workspace { short, window, merge, hot, .. } = workspace;
        if text.len() > SHORT || !self.pretokenizer().fill_whole(text, window) || any_long(&window.ends) {
            return None;
        }
        let hot = hot_tier(hot, self.cache().number());
        short.copy(text);
        let (mut number, mut count) = (0, 0);
        loop {
            (number, count) = hot.take_known(&short.text, &window.ends, number, &mut short.ids, count);
            let Some(&end) = window.ends.get(number) else { return Some(count) };
            let start = if number == 0 { 0 } else { window.ends[number - 1] };
            count = self.complete_short(start as usize..end as usize, short, count, hot, merge)?;
            number += 1;
        }
    }

    /// Puts the ids of a pre-token that the hot tier does not hold behind the first `count`, and remembers them.
    #[inline(never)]
    fn complete_short(
        &self,
        piece: Range<usize>,
        short: &mut Short,
        count: usize,
        hot: &mut HotTier,
        merge: &mut MergeScratch,
    ) -> Option<usize> {
        let Short { text, ids, known, merged } = short;
        let key = Key::new(text, piece.start, piece.len());
        let found = self.cache().get(&key, known);
        let piece_ids = if found > 0 {
            hot.put(&key, &known[..found]);
            &known[..found]
        } else {
            merged.clear();
            let may_remember = self.merge_pretoken(&text[piece], &key, || true, merged, merge);
            if may_remember && self.cache().remembers() {
                self.cache().insert(&key, merged);
                hot.put(&key, merged);
            }
            &**merged
        };
        ids.get_mut(count..count + piece_ids.len())?.copy_from_slice(piece_ids);
        Some(count + piece_ids.len())
    }
}
