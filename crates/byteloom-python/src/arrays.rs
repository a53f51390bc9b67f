//! Ids as numpy arrays.

use byteloom_core::token::TokenId;
use byteloom_core::tokenizer::Tokenizer;
use numpy::{PyArray1, PyArrayMethods, PyReadwriteArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::options::Optional;
use crate::pool;

/// The two integer types that ids come in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Dtype {
    /// uint16.
    U16,
    /// uint32.
    U32,
}

impl Dtype {
    /// The type that `dtype` names, if all ids of the tokenizer fit.
    pub fn parse(tokenizer: &Tokenizer, dtype: Optional<'_, '_>) -> PyResult<Self> {
        let Some(dtype) = dtype else { return Ok(Self::U32) };
        let named = || -> PyResult<String> {
            let numpy = dtype.py().import("numpy")?;
            numpy.getattr("dtype")?.call1((dtype,))?.getattr("name")?.extract()
        };
        // numpy has errors of many kinds for what is no type.
        let name = named().map_err(|error| {
            PyValueError::new_err(format!("dtype must be uint16 or uint32: {}", error.value(dtype.py())))
        })?;
        match name.as_str() {
            "uint32" => Ok(Self::U32),
            "uint16" if tokenizer.spec().max_token_id() <= TokenId::from(u16::MAX) => Ok(Self::U16),
            "uint16" => Err(PyValueError::new_err(format!(
                "dtype uint16 holds ids up to 65535, but this tokenizer has ids up to {}; use uint32",
                tokenizer.spec().max_token_id()
            ))),
            other => Err(PyValueError::new_err(format!("dtype must be uint16 or uint32, not {other}"))),
        }
    }

    /// A few ids as an array of this type.
    pub fn copied<'py>(self, py: Python<'py>, ids: &[TokenId]) -> Bound<'py, PyAny> {
        match self {
            Self::U32 => PyArray1::from_slice(py, ids).into_any(),
            Self::U16 => PyArray1::from_vec(py, narrow(ids)).into_any(),
        }
    }

    /// Ids as an array of this type.
    pub fn array(self, py: Python<'_>, ids: Vec<TokenId>) -> PyResult<Bound<'_, PyAny>> {
        Ok(match self {
            Self::U32 => pool::array(py, ids)?.into_any(),
            Self::U16 => {
                let narrow = PyArray1::from_vec(py, narrow(&ids)).into_any();
                pool::give_back(ids);
                narrow
            }
        })
    }
}

/// Ids as u16; the caller has checked that the vocabulary fits.
fn narrow(ids: &[TokenId]) -> Vec<u16> {
    ids.iter().map(|&id| id as u16).collect()
}

/// Writes `ids` into a caller's array and gives the part written.
pub fn fill_out<'py>(
    py: Python<'py>,
    tokenizer: &Tokenizer,
    out: &Bound<'py, PyAny>,
    ids: &[TokenId],
) -> PyResult<Bound<'py, PyAny>> {
    fn fill<T: numpy::Element + Copy>(mut out: PyReadwriteArray1<'_, T>, ids: &[T]) -> PyResult<()> {
        let room = out.as_slice_mut().map_err(|_| PyValueError::new_err("out must be contiguous"))?;
        match room.get_mut(..ids.len()) {
            Some(room) => room.copy_from_slice(ids),
            None => {
                return Err(PyValueError::new_err(format!(
                    "out has room for {} ids, but the text has {}",
                    room.len(),
                    ids.len()
                )));
            }
        }
        Ok(())
    }
    let locked = || PyValueError::new_err("out must be writable and not in use elsewhere");
    if let Ok(array) = out.cast::<PyArray1<TokenId>>() {
        fill(array.try_readwrite().map_err(|_| locked())?, ids)?;
    } else if let Ok(array) = out.cast::<PyArray1<u16>>() {
        Dtype::parse(tokenizer, Some(PyString::new(py, "uint16").as_any()))?;
        fill(array.try_readwrite().map_err(|_| locked())?, &narrow(ids))?;
    } else {
        return Err(PyTypeError::new_err("out must be a one-dimensional numpy array of uint32 or uint16"));
    }
    out.get_item(pyo3::types::PySlice::new(py, 0, ids.len().cast_signed(), 1))
}
