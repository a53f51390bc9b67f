//! Ends that are written without a branch for each.

/// Ends of pieces of a text, written without asking for room one by one.
#[derive(Debug, Default)]
pub struct Ends {
    ends: Vec<u32>,
    count: usize,
}

impl Ends {
    /// The ends, in the order in which they were put.
    #[inline]
    pub fn as_slice(&self) -> &[u32] {
        &self.ends[..self.count]
    }

    /// Forgets them, and keeps the room.
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// How many ends there is room for.
    pub fn capacity(&self) -> usize {
        self.ends.capacity()
    }

    /// Appends `ends`.
    #[inline]
    pub fn extend(&mut self, ends: &[u32]) {
        self.room(ends.len())[..ends.len()].copy_from_slice(ends);
        self.count += ends.len();
    }

    /// Appends an end.
    #[inline]
    pub fn push(&mut self, end: u32) {
        self.room(1)[0] = end;
        self.count += 1;
    }

    /// Room for at least that many behind those that count.
    #[inline]
    pub(super) fn room(&mut self, count: usize) -> &mut [u32] {
        if self.ends.len() - self.count < count {
            self.grow(count);
        }
        &mut self.ends[self.count..]
    }

    /// Counts that many more of those in the room.
    #[inline]
    pub(super) fn take(&mut self, count: usize) {
        self.count += count;
    }

    #[cold]
    fn grow(&mut self, count: usize) {
        let wanted = (self.count + count).max(2 * self.ends.len());
        self.ends.resize(wanted, 0);
    }
}
