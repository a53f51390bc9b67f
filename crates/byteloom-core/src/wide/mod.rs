//! Text in units of one, two or four bytes, brought into UTF-8.
//!
//! Python keeps a `str` in units that are as wide as its widest character needs. Its own way to UTF-8 goes character by
//! character and keeps the result beside the string: of a first pass over English it took a tenth, and as much again for
//! memory that nobody had used before.

#[cfg(target_arch = "x86_64")]
mod avx2;

use crate::pretokenize::simd_path;

/// Units that are written together, and room that is made at once.
const PIECE: usize = 1 << 13;
/// Units that are looked at together.
const BLOCK: usize = 16;
/// What a block writes at most is beyond its end by less than this.
const SPARE: usize = 16;

/// One character.
pub trait Unit: Copy + Into<u32> + Send + Sync {}

impl Unit for u8 {}
impl Unit for u16 {}
impl Unit for u32 {}

/// Writes characters in UTF-8 to the beginning of `buffer`, which grows as it needs to, and gives the length in bytes.
/// What stands behind has no meaning.
///
/// ```
/// let mut buffer = Vec::new();
/// let units = [0x6E_u16, 0xE9, 0x20AC];
/// let length = byteloom_core::wide::write_utf8(&units, &mut buffer)?;
/// assert_eq!(&buffer[..length], "né€".as_bytes());
/// # Ok::<(), usize>(())
/// ```
///
/// # Errors
/// The index of the first unit that is no character, such as a lone surrogate.
pub fn write_utf8<U: Unit>(units: &[U], buffer: &mut Vec<u8>) -> Result<usize, usize> {
    write_by(Path::chosen(), units, buffer)
}

#[derive(Clone, Copy, Debug)]
enum Path {
    #[cfg(target_arch = "x86_64")]
    Avx2(avx2::Avx2),
    Portable,
    Plain,
}

impl Path {
    fn chosen() -> Self {
        match simd_path() {
            "scalar" => Self::Plain,
            "portable" => Self::Portable,
            _ => Self::best(),
        }
    }

    fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = avx2::Avx2::detect() {
            return Self::Avx2(avx2);
        }
        Self::Portable
    }
}

fn write_by<U: Unit>(path: Path, units: &[U], buffer: &mut Vec<u8>) -> Result<usize, usize> {
    let mut written = 0;
    for (first, units) in (0..).step_by(PIECE).zip(units.chunks(PIECE)) {
        let room = written + 4 * units.len() + SPARE;
        if buffer.len() < room {
            buffer.resize(room.next_power_of_two(), 0);
        }
        let end = match path {
            #[cfg(target_arch = "x86_64")]
            Path::Avx2(avx2) => avx2.write(units, buffer, written),
            Path::Portable => write_blocks(units, buffer, written),
            Path::Plain => write_plainly(units, buffer, written),
        };
        written = end.map_err(|at| first + at)?;
    }
    Ok(written)
}

/// Writes from `at` on, where there is room for four bytes a unit, and gives the end.
fn write_plainly<U: Unit>(units: &[U], to: &mut [u8], mut at: usize) -> Result<usize, usize> {
    for (index, &unit) in units.iter().enumerate() {
        let character = char::from_u32(unit.into()).ok_or(index)?;
        at += character.encode_utf8(&mut to[at..]).len();
    }
    Ok(at)
}

/// [`write_plainly`], with blocks of ASCII all at once.
fn write_blocks<U: Unit>(units: &[U], to: &mut [u8], mut at: usize) -> Result<usize, usize> {
    let (blocks, rest) = units.as_chunks::<BLOCK>();
    for (index, block) in blocks.iter().enumerate() {
        let wide = block.map(Into::<u32>::into);
        match to.get_mut(at..at + BLOCK) {
            Some(room) if wide.iter().fold(0, |all, unit| all | unit) < 0x80 => {
                room.copy_from_slice(&wide.map(|unit| unit as u8));
                at += BLOCK;
            }
            _ => at = write_plainly(block, to, at).map_err(|at| BLOCK * index + at)?,
        }
    }
    write_plainly(rest, to, at).map_err(|at| BLOCK * blocks.len() + at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn paths() -> Vec<Path> {
        vec![Path::best(), Path::Portable, Path::Plain]
    }

    fn check<U: Unit + std::fmt::Debug>(units: &[U]) {
        let text: Option<String> = units.iter().map(|&unit| char::from_u32(unit.into())).collect();
        let bad = units.iter().position(|&unit| char::from_u32(unit.into()).is_none());
        for path in paths() {
            let mut buffer = vec![7; 3];
            let written = write_by(path, units, &mut buffer);
            assert_eq!(written.as_ref().err(), bad.as_ref(), "{path:?} {units:?}");
            if let Ok(length) = written {
                assert_eq!(
                    Some(&buffer[..length]),
                    text.as_ref().map(String::as_bytes),
                    "{path:?} {units:?}"
                );
            }
        }
    }

    #[test]
    fn every_character_beside_others() {
        let all: Vec<u32> = (0..=0x11_0000).filter(|&unit| char::from_u32(unit).is_some()).collect();
        check(&all);
        check(&all.iter().filter_map(|&unit| u16::try_from(unit).ok()).collect::<Vec<_>>());
        check(&(0..=255).collect::<Vec<u8>>());
        // Each length beside each.
        let some = [0x41_u32, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x1_0000, 0x10_FFFF];
        for left in some {
            for right in some {
                let mixed: Vec<u32> = (0..40).map(|at| if at % 3 == 0 { left } else { right }).collect();
                check(&mixed);
                check(&mixed.iter().filter_map(|&unit| u16::try_from(unit).ok()).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn what_is_no_character_is_named() {
        for bad in [0xD800, 0xDBFF, 0xDC00, 0xDFFF] {
            for at in 0..50 {
                for filler in [0x61, 0xE9, 0x4E00] {
                    let mut units: [u16; 50] = [filler; 50];
                    units[at] = bad;
                    check(&units);
                    check(&units.map(u32::from));
                }
            }
        }
        check(&[0x61_u32, 0x11_0000, 0xD800]);
        check(&[0x61_u32, u32::MAX, 0xD800]);
    }

    #[test]
    fn pieces_follow_each_other() {
        let mut units: Vec<u16> = (0..3 * PIECE as u16).map(|at| 0x20 + at % 0x3000).collect();
        check(&units);
        units[2 * PIECE + 5] = 0xD800;
        check(&units);
        check::<u8>(&[]);
    }

    proptest! {
        #[test]
        fn all_paths_agree(
            runs in prop::collection::vec((prop::sample::select(vec![0x20_u32, 0xE0, 0x400, 0x4E00, 0xD700, 0x1_F600]), 0..40_u32), 0..20),
        ) {
            let units: Vec<u32> = runs.iter().flat_map(|&(first, count)| first..first + count).collect();
            check(&units);
            check(&units.iter().map(|&unit| unit as u16).collect::<Vec<_>>());
            check(&units.iter().map(|&unit| unit as u8).collect::<Vec<_>>());
        }
    }
}
