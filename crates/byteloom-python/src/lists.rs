//! Lists of ids, without making a new `int` for every one, and without asking much of each.

#![expect(unsafe_code, reason = "filled and read in place, a list takes a third of the time")]

use std::sync::atomic::{AtomicPtr, Ordering};

use byteloom_core::token::TokenId;
use once_cell::race::OnceBox;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::critical_section::with_critical_section;
use pyo3::types::{PyInt, PyList};

/// The `int` objects of ids below this are made once and shared by all lists, as Python shares its own small ones: at
/// most 10 MiB for all tokenizers together.
const SHARED: usize = 1 << 18;

/// The shared objects; null where one was not needed yet.
fn shared() -> &'static [AtomicPtr<ffi::PyObject>] {
    // Not behind a lock: a process forked while another thread held it would wait for ever.
    static OBJECTS: OnceBox<Box<[AtomicPtr<ffi::PyObject>]>> = OnceBox::new();
    OBJECTS.get_or_init(|| Box::new((0..SHARED).map(|_| AtomicPtr::default()).collect()))
}

/// `ids` as a list of `int`.
pub fn list<'py>(py: Python<'py>, ids: &[TokenId]) -> PyResult<Bound<'py, PyList>> {
    let objects = shared();
    // SAFETY: `PyList_New` gives a new reference to a list that nobody else sees before it is returned, with null in
    // each of its `ids.len()` slots. Each slot is set once, to a reference of its own. If an `int` cannot be made, the
    // list is dropped with nulls in it, which is allowed.
    unsafe {
        let list = Bound::from_owned_ptr_or_err(py, ffi::PyList_New(ids.len().cast_signed()))?;
        for (place, &id) in ids.iter().enumerate() {
            let known = objects.get(id as usize).map(|known| known.load(Ordering::Acquire));
            let object = match known {
                Some(object) if !object.is_null() => {
                    // An object in `shared` is never dropped, so it is alive here.
                    ffi::Py_INCREF(object);
                    object
                }
                _ => new_int(py, id, objects)?.into_ptr(),
            };
            ffi::PyList_SET_ITEM(list.as_ptr(), place.cast_signed(), object);
        }
        Ok(list.cast_into_unchecked())
    }
}

/// The ids at the beginning of `list`, up to the first item that is no exact `int` in the range of ids.
pub fn plain_ids(list: &Bound<'_, PyList>) -> Vec<TokenId> {
    with_critical_section(list, || {
        let length = list.len();
        let mut ids = Vec::with_capacity(length);
        for place in 0..length {
            // SAFETY: nothing changes the list here: the GIL or, without one, the critical section is held, and what is
            // called runs no Python code, since the item is exactly an `int`. So `place` is in the list, and its item
            // lives. An item out of range sets `overflow` and no error.
            let id = unsafe {
                let item = ffi::PyList_GET_ITEM(list.as_ptr(), place.cast_signed());
                if ffi::PyLong_CheckExact(item) == 0 {
                    break;
                }
                let mut overflow = 0;
                let value = ffi::PyLong_AsLongAndOverflow(item, &raw mut overflow);
                if overflow == 0 { TokenId::try_from(value).ok() } else { None }
            };
            match id {
                Some(id) => ids.push(id),
                None => break,
            }
        }
        ids
    })
}

/// A new `int`, shared from now on if its id is small enough.
#[cold]
fn new_int<'py>(
    py: Python<'py>,
    id: TokenId,
    objects: &[AtomicPtr<ffi::PyObject>],
) -> PyResult<Bound<'py, PyInt>> {
    let object = id.into_pyobject(py)?;
    if let Some(place) = objects.get(id as usize) {
        let kept = object.clone().into_ptr();
        let null = std::ptr::null_mut();
        if place.compare_exchange(null, kept, Ordering::AcqRel, Ordering::Acquire).is_err() {
            // Another thread was first.
            // SAFETY: `kept` is a reference that nobody else has; this gives it back.
            drop(unsafe { Bound::from_owned_ptr(py, kept) });
        }
    }
    Ok(object)
}
