//! Patches of a document that comes in pieces.

use super::Patcher;
use super::rule::{BLOCK, Marks};
use super::sink::Limiter;

/// Gives out patches as soon as they are complete, from past bytes alone.
///
/// However the document is cut into pieces, the patches are those of the whole.
#[derive(Clone, Debug)]
pub struct PatchStream {
    patcher: Patcher,
    /// The last bytes of the document, as many as decide about the next.
    history: Vec<u8>,
    /// The patch that may still grow.
    pending: Vec<u8>,
}

impl PatchStream {
    pub(super) fn new(patcher: Patcher) -> Self {
        Self { patcher, history: Vec::new(), pending: Vec::new() }
    }

    /// The patches that `data` completes. One is complete when it is known that the next byte starts another.
    pub fn feed(&mut self, data: &[u8]) -> Vec<Vec<u8>> {
        let mut patches = Vec::new();
        if data.is_empty() {
            return patches;
        }
        let known = self.history.len();
        let mut text = std::mem::take(&mut self.history);
        text.extend_from_slice(data);
        let mut marks = Marks::new();
        let mut limiter = self.patcher.longest.map(Limiter::new);
        // Positions in `pending` and, behind it, `data`.
        let before = self.pending.len();
        let mut patch_start = 0;
        for from in (known..text.len()).step_by(BLOCK) {
            let to = text.len().min(from + BLOCK);
            self.patcher.rule.mark(&text, from, to, &mut marks);
            let offset = from - known + before;
            let starts = match &mut limiter {
                None => marks.starts(),
                Some(limiter) => limiter.limit(offset, offset + (to - from), marks.starts()),
            };
            for &start in starts {
                let start = offset + start as usize;
                if start > patch_start {
                    patches.push(self.take(data, before, patch_start, start));
                    patch_start = start;
                }
            }
        }
        let rest = self.take(data, before, patch_start, before + data.len());
        text.drain(..text.len().saturating_sub(self.patcher.rule.reach()));
        let complete = self.patcher.longest == Some(rest.len()) || self.patcher.rule.starts_after(&text);
        self.history = text;
        if complete {
            patches.push(rest);
        } else {
            self.pending = rest;
        }
        patches
    }

    /// The bytes `start..end` of the pending patch and `data` together; the pending one is then used up.
    fn take(&mut self, data: &[u8], before: usize, start: usize, end: usize) -> Vec<u8> {
        let mut patch = if start == 0 { std::mem::take(&mut self.pending) } else { Vec::new() };
        patch.extend_from_slice(&data[start.max(before) - before..end - before]);
        patch
    }

    /// Ends the document and gives its last patch, if one is pending. The stream may then take another document.
    pub fn finish(&mut self) -> Option<Vec<u8>> {
        self.history.clear();
        let pending = std::mem::take(&mut self.pending);
        (!pending.is_empty()).then_some(pending)
    }

    /// Whether the next byte starts a patch.
    pub fn next_starts(&self) -> bool {
        self.pending.is_empty()
    }

    /// The bytes of the patch that may still grow.
    pub fn pending(&self) -> &[u8] {
        &self.pending
    }
}
