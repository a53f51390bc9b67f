//! The characters of a Python `str`, in the units that Python keeps them in.
//!
//! Asking Python for the UTF-8 of a string that is not ASCII makes one slowly and leaves it with the string for as long
//! as that lives. Here it is made where it is needed, in memory that is used again.

#![expect(unsafe_code, reason = "a tenth of a first pass over English")]

use std::cell::RefCell;
use std::ops::Deref;
use std::ptr::NonNull;

use byteloom_core::wide::{Unit, write_utf8};
use pyo3::prelude::*;
use pyo3::types::PyString;
use pyo3::types::string::PyStringData;

/// A thread keeps a buffer of up to this many bytes.
const MOST_KEPT: usize = 1 << 20;
/// Characters that are looked at to tell about how long a text is in UTF-8: its first, which are near already. To look
/// at some all over the texts of a batch took a tenth of a pass over Chinese.
const SAMPLE: usize = 8;

/// The characters of a string, readable without the GIL.
pub struct Characters {
    units: Units,
    string: Py<PyString>,
}

#[derive(Clone, Copy)]
enum Units {
    One(NonNull<[u8]>),
    Two(NonNull<[u16]>),
    Four(NonNull<[u32]>),
}

// SAFETY: the characters of a string never change nor move, and `string` keeps them alive.
unsafe impl Send for Characters {}
// SAFETY: as above; shared access reads only.
unsafe impl Sync for Characters {}

impl Characters {
    /// Those of `string`, unless Python does not tell.
    pub fn of(string: &Bound<'_, PyString>) -> Option<Self> {
        // SAFETY: asked for is that the kind and the place of the characters are read rightly from the object, which
        // the tests check on every kind of string.
        let units = match unsafe { string.data() }.ok()? {
            PyStringData::Ucs1(units) => Units::One(units.into()),
            PyStringData::Ucs2(units) => Units::Two(units.into()),
            PyStringData::Ucs4(units) => Units::Four(units.into()),
        };
        Some(Self { units, string: string.clone().unbind() })
    }

    /// The string.
    pub fn string(&self) -> &Py<PyString> {
        &self.string
    }

    fn units(&self) -> PyStringData<'_> {
        match self.units {
            // SAFETY: `string` lives, so its characters are where they were, and nobody writes to them.
            Units::One(units) => PyStringData::Ucs1(unsafe { units.as_ref() }),
            // SAFETY: as above.
            Units::Two(units) => PyStringData::Ucs2(unsafe { units.as_ref() }),
            // SAFETY: as above.
            Units::Four(units) => PyStringData::Ucs4(unsafe { units.as_ref() }),
        }
    }

    /// About how many bytes of UTF-8 they are.
    pub fn size(&self) -> usize {
        match self.units() {
            PyStringData::Ucs1(units) => units.len(),
            PyStringData::Ucs2(units) => size(units),
            PyStringData::Ucs4(units) => size(units),
        }
    }

    /// Them in UTF-8, as they are or written into `buffer`; the index of a lone surrogate.
    pub fn read<'t>(&'t self, buffer: &'t mut Vec<u8>) -> Result<&'t [u8], usize> {
        let length = match self.units() {
            PyStringData::Ucs1(units) if units.is_ascii() => return Ok(units),
            PyStringData::Ucs1(units) => write_utf8(units, buffer),
            PyStringData::Ucs2(units) => write_utf8(units, buffer),
            PyStringData::Ucs4(units) => write_utf8(units, buffer),
        }?;
        Ok(&buffer[..length])
    }
}

/// The length in UTF-8, by the first characters.
fn size<U: Unit>(units: &[U]) -> usize {
    let length = |unit: U| match unit.into() {
        0..0x80 => 1,
        0x80..0x800 => 2,
        0x800..0x1_0000 => 3,
        _ => 4,
    };
    let sample = &units[..units.len().min(SAMPLE)];
    let bytes: usize = sample.iter().map(|&unit| length(unit)).sum();
    bytes * units.len() / sample.len().max(1)
}

thread_local! {
    static SPARE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A text in UTF-8, in a buffer that the next text of this thread gets.
pub struct Utf8 {
    buffer: Vec<u8>,
    length: usize,
}

impl Utf8 {
    /// That of a string; `None` where it is ASCII, and UTF-8 as it is, or has no UTF-8.
    #[inline]
    pub fn of(string: &Bound<'_, PyString>) -> Option<Self> {
        // SAFETY: as for `Characters::of`.
        let units = unsafe { string.data() }.ok()?;
        if matches!(units, PyStringData::Ucs1(units) if units.is_ascii()) {
            return None;
        }
        let mut buffer = SPARE.take();
        let length = match units {
            PyStringData::Ucs1(units) => write_utf8(units, &mut buffer),
            PyStringData::Ucs2(units) => write_utf8(units, &mut buffer),
            PyStringData::Ucs4(units) => write_utf8(units, &mut buffer),
        };
        Some(Self { length: length.ok()?, buffer })
    }

    /// The same in no more memory than it needs, for who keeps many.
    #[must_use]
    pub fn exact(self) -> Self {
        Self { buffer: self.to_vec(), length: self.length }
    }
}

impl Deref for Utf8 {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.buffer[..self.length]
    }
}

impl Drop for Utf8 {
    fn drop(&mut self) {
        if self.buffer.capacity() <= MOST_KEPT {
            // A thread that is ending has no place for it any more.
            let _ = SPARE.try_with(|spare| spare.replace(std::mem::take(&mut self.buffer)));
        }
    }
}
