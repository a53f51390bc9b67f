//! Asking the processor for memory ahead of time.

#![cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "lookups that wait for memory one by one take twice as long"))]

/// Brings the cache line of `value` near, without waiting for it. Where there is no such instruction, nothing happens.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a single instruction")]
pub(crate) fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch changes nothing that a program can see, and the address is that of a live value.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
