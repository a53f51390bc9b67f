//! What a model has counted.
//!
//! Every byte of the training text stands for one string: the byte and the bytes before it, up to `order` bytes in all
//! and never beyond the start of its document. The counts of these strings are everything there is: the count of a
//! byte under a context is the sum over the strings that end in context and byte. So two models are merged by adding
//! counts, and a context is dropped by cutting the first byte off its strings, which changes no count of a shorter one.

use std::sync::Arc;

use crate::error::{Error, Result};

/// The largest order: a string fits in 8 bytes.
pub const MAX_ORDER: usize = 8;

/// A string and how often it was seen.
///
/// `key` holds the context in its upper 7 bytes, the most recent byte first, zeros behind it, and the last byte of the
/// string in its lowest byte. In this order the strings of one context stand together, for contexts of every length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gram {
    pub(super) key: u64,
    pub(super) count: u64,
}

/// What one string takes in memory.
pub(super) const GRAM_BYTES: usize = size_of::<Gram>();

/// The part of a key that is the most recent `length` bytes of its context.
pub(super) fn context_mask(length: usize) -> u64 {
    if length == 0 { 0 } else { u64::MAX << (64 - 8 * length) }
}

/// Strings with their counts, a list for each length, each in ascending order without repetition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Grams {
    /// `lists[n]` holds the strings of `n + 1` bytes: as many lists as the order.
    pub(super) lists: Vec<Arc<Vec<Gram>>>,
}

impl Grams {
    pub(super) fn new(order: usize) -> Self {
        Self { lists: vec![Arc::default(); order] }
    }

    /// How many strings there are.
    pub(super) fn len(&self) -> usize {
        self.lists.iter().map(|list| list.len()).sum()
    }

    /// How many bytes of text were counted.
    pub(super) fn total(&self) -> u64 {
        self.lists.iter().flat_map(|list| list.iter()).map(|gram| gram.count).sum()
    }

    /// Adds the counts of `other`, which is of the same order.
    ///
    /// # Errors
    /// [`Error::Patching`] when the sum of all counts leaves 63 bits; nothing is changed then.
    pub(super) fn add(&mut self, other: &Self) -> Result<()> {
        let sum = self.total().checked_add(other.total());
        if sum.is_none_or(|sum| sum > i64::MAX.cast_unsigned()) {
            return Err(Error::Patching("the counts add up to more than 63 bits".into()));
        }
        for (list, other) in self.lists.iter_mut().zip(&other.lists) {
            if list.is_empty() {
                list.clone_from(other);
            } else if !other.is_empty() {
                *list = Arc::new(merged(list, other));
            }
        }
        Ok(())
    }
}

/// The strings of both lists, the counts of those in both added.
pub(super) fn merged(a: &[Gram], b: &[Gram]) -> Vec<Gram> {
    let mut all = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    // Without branches on the data: which side is next cannot be foreseen.
    while let (Some(left), Some(right)) = (a.get(i), b.get(j)) {
        let (from_left, from_right) = (left.key <= right.key, right.key <= left.key);
        all.push(Gram {
            key: left.key.min(right.key),
            count: left.count * u64::from(from_left) + right.count * u64::from(from_right),
        });
        i += usize::from(from_left);
        j += usize::from(from_right);
    }
    all.extend_from_slice(&a[i..]);
    all.extend_from_slice(&b[j..]);
    all.shrink_to_fit();
    all
}
