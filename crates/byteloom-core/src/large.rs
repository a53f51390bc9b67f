//! Memory for large tables that are read at random places.
//!
//! A page of 4 KiB needs an entry of the processor's page tables each, and looking one up that is not near takes
//! longer than the memory itself; on some processors even a prefetch waits for it. So tables of 2 MiB and more ask
//! for pages of that size. Measured on Zen 3: prefetching from the encoder's cache cost a third of what it had.
#![expect(unsafe_code, reason = "no safe crate lends mapped memory as a table")]

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use bytemuck::Zeroable;
use memmap2::MmapMut;

const PAGE: usize = 2 << 20;

/// A table of zeroed values.
pub(crate) struct LargeTable<T> {
    /// `length` values in `memory`, which does not move; a vector has room for more.
    first: NonNull<T>,
    length: usize,
    #[cfg_attr(not(test), expect(dead_code, reason = "it is held, not used"))]
    memory: Memory<T>,
}

enum Memory<T> {
    Mapped {
        _map: MmapMut,
    },
    /// A vector may move while `first` points into it, which a box may not.
    Boxed {
        _values: Vec<T>,
    },
}

// SAFETY: it owns its values, as a box of them does.
unsafe impl<T: Send> Send for LargeTable<T> {}
// SAFETY: as above; a shared table lends shared values only.
unsafe impl<T: Sync> Sync for LargeTable<T> {}

impl<T: Zeroable> LargeTable<T> {
    /// `length` zeroed values that nothing needs to drop.
    pub(crate) fn zeroed(length: usize) -> Self {
        const { assert!(!std::mem::needs_drop::<T>() && align_of::<T>() <= PAGE) };
        Self::mapped(length).unwrap_or_else(|| Self::boxed(length))
    }

    /// In large pages, where the system has them and the table is large enough.
    fn mapped(length: usize) -> Option<Self> {
        let bytes = length.checked_mul(size_of::<T>()).filter(|&bytes| bytes >= PAGE)?;
        // Room to begin at a large page. What is not touched costs no memory.
        let mut map = MmapMut::map_anon(bytes.checked_add(PAGE)?).ok()?;
        #[cfg(target_os = "linux")]
        map.advise(memmap2::Advice::HugePage).ok();
        let from = map.as_ptr().align_offset(PAGE);
        let first = NonNull::new(map.get_mut(from..from.checked_add(bytes)?)?.as_mut_ptr().cast())?;
        Some(Self { first, length, memory: Memory::Mapped { _map: map } })
    }

    fn boxed(length: usize) -> Self {
        Self::owning(bytemuck::zeroed_slice_box(length))
    }

    fn owning(values: Box<[T]>) -> Self {
        let mut values = values.into_vec();
        let (first, length) = (NonNull::from(values.as_mut_slice()).cast(), values.len());
        Self { first, length, memory: Memory::Boxed { _values: values } }
    }

    /// [`Self::zeroed`]; `None` where there is no memory for it.
    fn try_zeroed(length: usize) -> Option<Self> {
        Self::mapped(length).or_else(|| bytemuck::try_zeroed_slice_box(length).ok().map(Self::owning))
    }
}

impl<T: Zeroable + Copy> Clone for LargeTable<T> {
    fn clone(&self) -> Self {
        let mut copy = Self::zeroed(self.length);
        copy.copy_from_slice(self);
        copy
    }
}

impl<T> Deref for LargeTable<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: `first` begins `length` aligned values, zeroed when they were made; `T` allows zeros. They live as
        // long as `self`, and only `deref_mut` lends them for writing.
        unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.length) }
    }
}

impl<T> DerefMut for LargeTable<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and `self` is lent alone.
        unsafe { std::slice::from_raw_parts_mut(self.first.as_ptr(), self.length) }
    }
}

impl<T> fmt::Debug for LargeTable<T> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("LargeTable").field("length", &self.length).finish_non_exhaustive()
    }
}

/// A vector of plain values in such memory. Room that was never used costs none, so ask for plenty.
pub(crate) struct LargeVec<T> {
    /// Its length is that of the vector, at most `room`.
    table: LargeTable<T>,
    room: usize,
}

impl<T: Zeroable + Copy> LargeVec<T> {
    /// An empty one; `None` where there is no memory for so many values.
    pub(crate) fn with_room(room: usize) -> Option<Self> {
        LargeTable::try_zeroed(room).map(|table| Self { room, table: LargeTable { length: 0, ..table } })
    }

    #[inline]
    pub(crate) fn push(&mut self, value: T) {
        let place = self.table.length;
        self.set_length(place + 1);
        self.table[place] = value;
    }

    /// Makes it shorter, or longer by values that are zero or stood there before.
    #[inline]
    pub(crate) fn set_length(&mut self, length: usize) {
        if length > self.room {
            self.grow(length);
        }
        self.table.length = length;
    }

    #[cold]
    fn grow(&mut self, least: usize) {
        let length = self.table.length;
        self.room = least.max(length + length / 2).max(64);
        let mut table = LargeTable::zeroed(self.room);
        table[..length].copy_from_slice(self);
        self.table = table;
    }
}

impl<T> Deref for LargeVec<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.table
    }
}

impl<T> DerefMut for LargeVec<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.table
    }
}

impl<T> fmt::Debug for LargeVec<T> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("LargeVec").field("length", &self.table.length).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_grows_and_shrinks_and_keeps_its_values() {
        for room in [0, 5, PAGE] {
            let mut all = LargeVec::with_room(room).unwrap();
            (0..1000_u32).for_each(|value| all.push(value));
            assert!(all.iter().copied().eq(0..1000));
            all.set_length(3);
            assert_eq!(all[..], [0, 1, 2]);
            all.set_length(2 * PAGE);
            all[2 * PAGE - 1] = 7;
            assert_eq!((all.len(), &all[..3], all[2 * PAGE - 1]), (2 * PAGE, &[0, 1, 2][..], 7));
        }
        assert!(LargeVec::<u64>::with_room(usize::MAX / 2).is_none());
    }

    #[test]
    fn is_zeroed_and_keeps_what_is_written_wherever_it_lies() {
        let length = 3 * PAGE / 8 + 1;
        let large = LargeTable::<u64>::zeroed(length);
        assert!(matches!(large.memory, Memory::Mapped { .. }));
        for mut table in [large, LargeTable::boxed(length), LargeTable::zeroed(7)] {
            assert!(table.iter().all(|&value| value == 0));
            for (value, number) in table.iter_mut().zip(1..) {
                *value = number;
            }
            assert!(table.clone().iter().zip(1..).all(|(&value, number)| value == number));
        }
        assert!(LargeTable::<u64>::zeroed(0).is_empty());
    }
}
