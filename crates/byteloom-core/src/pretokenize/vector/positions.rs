//! Set bits as positions.
#![expect(unsafe_code, reason = "stores beyond the length spare a branch for each position")]

use super::masks::BLOCK_BYTES;

/// Room that [`push`] needs behind the length of `ends`.
pub(super) const ROOM: usize = BLOCK_BYTES;

/// Appends `base` plus the place of each set bit. Without a call of the allocator where `ends` has [`ROOM`].
#[inline(always)]
pub(super) fn push(ends: &mut Vec<u32>, base: u32, mut bits: u64) {
    let count = bits.count_ones() as usize;
    ends.reserve(ROOM);
    let (length, room) = (ends.len(), ends.spare_capacity_mut());
    let mut from = 0;
    // Eight at a time, the last ones beyond `count`: how many there are is hard to foresee, whether there are more
    // than eight is not.
    while from < count {
        for slot in &mut room[from..from + 8] {
            slot.write(base.wrapping_add(bits.trailing_zeros()));
            bits &= bits.wrapping_sub(1);
        }
        from += 8;
    }
    // SAFETY: `from` is `count` rounded up to eight, so at most 64, and the slots before it are written; `reserve`
    // made room for them.
    unsafe { ends.set_len(length + count) }
}
