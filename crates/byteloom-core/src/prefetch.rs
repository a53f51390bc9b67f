//! Asks for memory before it is needed, so that many waits overlap.
//!
//! The tables of encoding, counting and merging are larger than the caches, and each look-up is short: the processor would wait for
//! one after another. A prefetch is a hint that retires once its page is known, so dozens are under way together.
#![expect(
    unsafe_code,
    reason = "prefetching halves the time of look-ups in large tables, and has no safe form"
)]

/// Hints that `slice[index]` will be read soon. An index out of range does no harm.
#[inline(always)]
#[expect(clippy::inline_always, reason = "one instruction")]
pub(crate) fn prefetch<T>(slice: &[T], index: usize) {
    let address = slice.as_ptr().wrapping_add(index);
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: the hint reads nothing that the program sees and never faults, whatever the address; SSE is part of
    // every x86-64.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast());
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_index_is_harmless() {
        for index in [0, 1, 1 << 20, usize::MAX] {
            prefetch(&[1_u64, 2], index);
            prefetch::<u8>(&[], index);
        }
    }
}
