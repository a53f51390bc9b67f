//! Arrays of ids and boundaries whose memory is used again.
//!
//! The pages of a new array cost a third of the speed of encoding: the system clears each one when it is first
//! written. So the memory of an array that Python has dropped is kept for the next result, within a limit.

#![expect(unsafe_code, reason = "numpy borrows the memory of a Python object")]

use std::sync::Mutex;

use byteloom_core::token::TokenId;
use numpy::PyArray1;
use numpy::ndarray::ArrayView1;
use pyo3::prelude::*;

/// Smaller buffers are left to the allocator, which keeps them itself.
const SMALLEST: usize = 1 << 16;
/// How many bytes are kept at most.
const LIMIT: usize = 64 << 20;
/// How many buffers are kept at most.
const MOST: usize = 8;

static KEPT: Mutex<Vec<Vec<TokenId>>> = Mutex::new(Vec::new());

fn bytes(ids: &Vec<TokenId>) -> usize {
    ids.capacity() * size_of::<TokenId>()
}

/// An empty buffer with room for about `expected` ids.
///
/// The lock is only tried: a process forked while another thread held it would wait for ever.
pub fn take(expected: usize) -> Vec<TokenId> {
    if expected * size_of::<TokenId>() >= SMALLEST
        && let Ok(mut kept) = KEPT.try_lock()
    {
        // The smallest that is large enough, or else the largest, which will grow.
        let enough = (0..kept.len()).filter(|&at| kept[at].capacity() >= expected);
        let best = enough.min_by_key(|&at| kept[at].capacity());
        if let Some(best) = best.or_else(|| (0..kept.len()).max_by_key(|&at| kept[at].capacity())) {
            return kept.swap_remove(best);
        }
    }
    Vec::with_capacity(expected)
}

/// Keeps a buffer for later, if there is room.
pub fn give_back(mut ids: Vec<TokenId>) {
    if bytes(&ids) < SMALLEST || bytes(&ids) > LIMIT {
        return;
    }
    ids.clear();
    if let Ok(mut kept) = KEPT.try_lock() {
        while kept.len() >= MOST || kept.iter().map(bytes).sum::<usize>() + bytes(&ids) > LIMIT {
            kept.remove(0);
        }
        kept.push(ids);
    }
}

/// The owner of an array's memory, which goes back when the array is gone.
#[pyclass(frozen)]
struct Recycled {
    ids: Vec<TokenId>,
}

impl Drop for Recycled {
    fn drop(&mut self) {
        give_back(std::mem::take(&mut self.ids));
    }
}

/// `ids` as an array of uint32, without a copy unless they are few in a large buffer, which would be held with them.
pub fn array(py: Python<'_>, ids: Vec<TokenId>) -> PyResult<Bound<'_, PyArray1<TokenId>>> {
    if bytes(&ids) < SMALLEST {
        return Ok(PyArray1::from_vec(py, ids));
    }
    if ids.capacity() / 4 > ids.len() {
        let exact = PyArray1::from_slice(py, &ids);
        give_back(ids);
        return Ok(exact);
    }
    let owner = Bound::new(py, Recycled { ids })?;
    let view = ArrayView1::from(&owner.get().ids);
    // SAFETY: the array holds a reference to `owner`, which is frozen and touches its ids only when it is dropped, so
    // they stay where they are while the array lives, and none but the array's users read or write them.
    Ok(unsafe { PyArray1::borrow_from_array(&view, owner.clone().into_any()) })
}
