//! Set bits as positions.
#![expect(unsafe_code, reason = "stores beyond the length spare a branch for each position")]

use super::masks::BLOCK_BYTES;

/// Room that is needed behind the length of `ends`.
pub(super) const ROOM: usize = BLOCK_BYTES;

/// For each byte the places of its set bits, one in each byte of the number.
pub(crate) static PLACES: [u64; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut place, mut count) = (0, 0);
        while place < 8 {
            if byte >> place & 1 != 0 {
                table[byte] |= place << (8 * count);
                count += 1;
            }
            place += 1;
        }
        byte += 1;
    }
    table
};

/// How many bits are set in each byte.
static COUNTS: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = byte.count_ones() as u8;
        byte += 1;
    }
    table
};

/// Appends `base` plus the place of each set bit.
#[inline(always)]
pub(super) fn push(ends: &mut Vec<u32>, base: u32, bits: u64) {
    let mut base = base;
    push_bytes(ends, bits, |byte| {
        let here = PLACES[byte as usize].to_le_bytes().map(|place| base.wrapping_add(u32::from(place)));
        base = base.wrapping_add(8);
        here
    });
}

/// Appends a number for each set bit: `eight` gives those of a byte of `bits`, and numbers that do not count behind
/// them. It is asked for one byte after the other.
#[inline(always)]
pub(super) fn push_bytes(ends: &mut Vec<u32>, bits: u64, mut eight: impl FnMut(u8) -> [u32; 8]) {
    ends.reserve(ROOM);
    let length = ends.len();
    let mut count = 0;
    for byte in bits.to_le_bytes() {
        let numbers = eight(byte);
        // SAFETY: the bytes before have eight bits each at most, so these eight end within 64 numbers of `length`;
        // `reserve` made room for them.
        unsafe { ends.as_mut_ptr().add(length + count).cast::<[u32; 8]>().write_unaligned(numbers) }
        count += COUNTS[byte as usize] as usize;
    }
    // SAFETY: of each byte, as many numbers as it has bits were written right behind those of the byte before.
    unsafe { ends.set_len(length + count) }
}
