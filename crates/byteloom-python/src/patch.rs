//! `NativePatcher` and `NativePatchStream`.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use byteloom_core::entropy::ByteSet;
use byteloom_core::patch::{self, EntropyCuts, Kept, Lengths, PatchStream, Patcher, Starts};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::entropy::{NativeEntropyModel, data};
use crate::error::{raise, to_python};
use crate::options::{integer, threads as thread_option};
use crate::pool;
use crate::text::{Surrogates, texts as take_texts};
use crate::work::run;

/// Cuts bytes into patches. It never changes, and may be used by several threads at once.
#[pyclass(frozen, module = "byteloom._native")]
pub struct NativePatcher(Patcher);

/// Bytes that a stream takes between two looks for a reason to stop.
const BYTES_PER_LOOK: usize = 1 << 18;

/// A flat array and where each row begins in it, with the end of the last.
type FlatRows<'py> = (Bound<'py, PyAny>, Bound<'py, PyArray1<i64>>);

fn length_option(option: &str, value: Option<&Bound<'_, PyAny>>) -> PyResult<Option<usize>> {
    let Some(value) = value else { return Ok(None) };
    let number = integer(option, value)?;
    let length = usize::try_from(number).ok().filter(|&length| length > 0);
    let wrong = || raise(value.py(), "PatchingError", format!("{option} must be 1 or more, not {number}"));
    length.ok_or_else(wrong).map(Some)
}

fn starts_array(py: Python<'_>, starts: Starts) -> PyResult<Bound<'_, PyAny>> {
    Ok(match starts {
        Starts::Narrow(starts) => pool::array(py, starts)?.into_any(),
        Starts::Wide(starts) => PyArray1::from_vec(py, starts).into_any(),
    })
}

fn lengths_array(py: Python<'_>, lengths: Lengths) -> Bound<'_, PyAny> {
    match lengths.into_kept() {
        Kept::U8(lengths) => PyArray1::from_vec(py, lengths).into_any(),
        Kept::U16(lengths) => PyArray1::from_vec(py, lengths).into_any(),
        Kept::U32(lengths) => PyArray1::from_vec(py, lengths).into_any(),
        Kept::U64(lengths) => PyArray1::from_vec(py, lengths).into_any(),
    }
}

fn offsets(py: Python<'_>, ends: Vec<usize>) -> Bound<'_, PyArray1<i64>> {
    PyArray1::from_vec(
        py,
        std::iter::once(0).chain(ends.into_iter().map(|end| end.cast_signed() as i64)).collect(),
    )
}

#[pymethods]
impl NativePatcher {
    /// A patcher that asks an entropy model, as it is now.
    #[staticmethod]
    #[pyo3(signature = (model, /, *, theta, rise, max_patch_length, reset_on))]
    fn entropy(
        py: Python<'_>,
        model: &NativeEntropyModel,
        theta: Option<f64>,
        rise: Option<f64>,
        max_patch_length: Option<&Bound<'_, PyAny>>,
        reset_on: Option<&[u8]>,
    ) -> PyResult<Self> {
        let longest = length_option("max_patch_length", max_patch_length)?;
        let cuts = EntropyCuts { theta, rise, reset_on: reset_on.map(ByteSet::new) };
        let model = model.model();
        run(py, usize::MAX, |poll| Patcher::entropy(&model, cuts, longest, poll)).map(Self)
    }

    /// A patcher after the rule of SpaceByte.
    #[staticmethod]
    #[pyo3(signature = (*, max_patch_length))]
    fn space(py: Python<'_>, max_patch_length: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let longest = length_option("max_patch_length", max_patch_length)?;
        Patcher::space(longest).map(Self).map_err(|error| to_python(py, error))
    }

    /// Patches of one size.
    #[staticmethod]
    #[pyo3(name = "static", signature = (size, /))]
    fn fixed(size: &Bound<'_, PyAny>) -> PyResult<Self> {
        let length = length_option("size", Some(size))?.unwrap_or(1);
        Patcher::fixed(length).map(Self).map_err(|error| to_python(size.py(), error))
    }

    /// A patch for every byte.
    #[staticmethod]
    fn byte(py: Python<'_>) -> PyResult<Self> {
        Patcher::fixed(1).map(Self).map_err(|error| to_python(py, error))
    }

    /// Where the patches of a text start, in bytes.
    #[pyo3(signature = (data, /))]
    fn boundaries<'py>(&self, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (py, text) = (data.py(), self::data(data, "data")?);
        // Patches of less than four bytes on average are rare; then the room grows.
        let room = pool::take(text.len() / 4 + 1);
        starts_array(py, run(py, text.len(), |poll| self.0.boundaries(&text, room, poll))?)
    }

    /// How many bytes each patch of a text has.
    #[pyo3(signature = (data, /))]
    fn lengths<'py>(&self, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (py, text) = (data.py(), self::data(data, "data")?);
        Ok(lengths_array(py, run(py, text.len(), |poll| self.0.lengths(&text, poll))?))
    }

    /// The boundaries of every text, flat, and where each text's begin.
    #[pyo3(signature = (texts, /, *, threads))]
    fn batch_boundaries<'py>(
        &self,
        texts: &Bound<'py, PyAny>,
        threads: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<FlatRows<'py>> {
        let py = texts.py();
        let (threads, texts) = (thread_option(py, threads)?, take_texts(texts, Surrogates::Strict)?);
        let size = texts.iter().map(|text| text.len()).sum();
        let (starts, ends) = run(py, size, |poll| self.0.batch_boundaries(&texts, threads, poll))?;
        Ok((starts_array(py, starts)?, offsets(py, ends)))
    }

    /// The lengths of every text, flat, and where each text's begin.
    #[pyo3(signature = (texts, /, *, threads))]
    fn batch_lengths<'py>(
        &self,
        texts: &Bound<'py, PyAny>,
        threads: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<FlatRows<'py>> {
        let py = texts.py();
        let (threads, texts) = (thread_option(py, threads)?, take_texts(texts, Surrogates::Strict)?);
        let size = texts.iter().map(|text| text.len()).sum();
        let (lengths, ends) = run(py, size, |poll| self.0.batch_lengths(&texts, threads, poll))?;
        Ok((lengths_array(py, lengths), offsets(py, ends)))
    }

    /// A stream for one document after another.
    fn stream(&self) -> NativePatchStream {
        NativePatchStream { stream: Mutex::new(self.0.stream()), process: AtomicU32::new(std::process::id()) }
    }

    /// The rule and its settings.
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let info = PyDict::new(py);
        let rule = match self.0.entropy_rule() {
            Some((_, cuts)) => {
                info.set_item("theta", cuts.theta)?;
                info.set_item("rise", cuts.rise)?;
                let bytes = cuts.reset_on.as_ref().map(|set| PyBytes::new(py, &set.bytes()));
                info.set_item("reset_on", bytes)?;
                "entropy"
            }
            None if self.0.is_space() => "space",
            None => "static",
        };
        info.set_item("rule", rule)?;
        info.set_item("max_patch_length", self.0.max_patch_length())?;
        Ok(info)
    }

    /// Pickles the model with the patcher.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let restore = py.get_type::<Self>().getattr("_restore")?;
        let model = match self.0.entropy_rule() {
            Some((model, _)) => Some(PyBytes::new(py, &run(py, usize::MAX, |_| Ok(model.to_bytes()))?)),
            None => None,
        };
        Ok((restore, PyTuple::new(py, [self.info(py)?.into_any(), model.into_pyobject(py)?.into_any()])?))
    }

    #[staticmethod]
    #[pyo3(signature = (info, model, /))]
    fn _restore(info: &Bound<'_, PyDict>, model: Option<&Bound<'_, PyBytes>>) -> PyResult<Self> {
        let py = info.py();
        let missing = |name: &str| PyValueError::new_err(format!("a pickled patcher lacks {name}"));
        let get = |name: &str| info.get_item(name)?.ok_or_else(|| missing(name));
        let longest: Option<usize> = get("max_patch_length")?.extract()?;
        let restored = match (get("rule")?.extract::<String>()?.as_str(), model) {
            ("entropy", Some(model)) => {
                let reset: Option<Vec<u8>> = get("reset_on")?.extract()?;
                let cuts = EntropyCuts {
                    theta: get("theta")?.extract()?,
                    rise: get("rise")?.extract()?,
                    reset_on: reset.map(|bytes| ByteSet::new(&bytes)),
                };
                let file = model.as_bytes();
                return run(py, usize::MAX, |poll| {
                    let model = byteloom_core::entropy::EntropyModel::from_bytes(file)?;
                    Patcher::entropy(&model, cuts, longest, poll)
                })
                .map(Self);
            }
            ("space", None) => Patcher::space(longest),
            ("static", None) => Patcher::fixed(longest.ok_or_else(|| missing("a size"))?),
            (rule, _) => return Err(PyValueError::new_err(format!("there is no patching rule {rule:?}"))),
        };
        restored.map(Self).map_err(|error| to_python(py, error))
    }
}

/// Patches of a document that comes in pieces.
#[pyclass(frozen, module = "byteloom._native")]
pub struct NativePatchStream {
    stream: Mutex<PatchStream>,
    /// The process that locked the stream last.
    process: AtomicU32,
}

impl NativePatchStream {
    /// The stream, when other threads are done with it. A child that was forked while one was not would wait for ever.
    fn locked(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, PatchStream>> {
        let process = std::process::id();
        let stream = match self.stream.try_lock() {
            Ok(stream) => stream,
            Err(TryLockError::Poisoned(stream)) => stream.into_inner(),
            Err(TryLockError::WouldBlock) if self.process.load(Ordering::Relaxed) != process => {
                return Err(raise(
                    py,
                    "PatchingError",
                    "this process was forked while another thread fed the stream; start a new one".to_owned(),
                ));
            }
            Err(TryLockError::WouldBlock) => {
                self.stream.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
            }
        };
        // Attached to the interpreter, as who forks is: no child sees the lock without this.
        self.process.store(process, Ordering::Relaxed);
        Ok(stream)
    }
}

#[pymethods]
impl NativePatchStream {
    /// The patches that more bytes complete.
    #[pyo3(signature = (data, /))]
    fn feed<'py>(&self, data: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let (py, data) = (data.py(), self::data(data, "data")?);
        let mut stream = self.locked(py)?;
        let stream = &mut *stream;
        let patches = run(py, data.len(), |poll| {
            if data.len() <= BYTES_PER_LOOK {
                return Ok(stream.feed(&data));
            }
            // An interrupt leaves the stream as it was, so that the data may be fed again.
            let mut fed = stream.clone();
            let mut patches = Vec::new();
            for piece in data.chunks(BYTES_PER_LOOK) {
                poll()?;
                patches.append(&mut fed.feed(piece));
            }
            *stream = fed;
            Ok(patches)
        })?;
        Ok(patches.iter().map(|patch| PyBytes::new(py, patch)).collect())
    }

    /// Ends the document: its last patch, or `None`. The stream may then take another document.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let patch = self.locked(py)?.finish();
        Ok(patch.map(|patch| PyBytes::new(py, &patch)))
    }

    /// Whether the next byte starts a patch.
    #[getter]
    fn next_starts(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.locked(py)?.next_starts())
    }

    /// The bytes of the patch that may still grow.
    #[getter]
    fn pending<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, self.locked(py)?.pending()))
    }
}

/// The starts in a numpy array of any integer type.
fn starts_of(starts: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
    let refuse = || PyTypeError::new_err("starts must be a one-dimensional numpy array of integers");
    let kind: String = starts
        .getattr("dtype")
        .and_then(|dtype| dtype.getattr("kind"))
        .and_then(|kind| kind.extract())
        .map_err(|_| refuse())?;
    if !matches!(kind.as_str(), "i" | "u") {
        return Err(refuse());
    }
    let wide = starts.call_method1("astype", ("int64",))?;
    let array = wide.cast::<PyArray1<i64>>().map_err(|_| refuse())?;
    let starts = array.to_vec().map_err(|_| refuse())?;
    starts
        .into_iter()
        .map(|start| {
            u64::try_from(start).map_err(|_| {
                raise(array.py(), "PatchingError", format!("starts must be 0 or more, not {start}"))
            })
        })
        .collect()
}

/// `starts` with those added that keep patches from being longer than `max_patch_length`.
#[pyfunction]
#[pyo3(signature = (starts, n_bytes, /, *, max_patch_length))]
pub fn limit_starts<'py>(
    starts: &Bound<'py, PyAny>,
    n_bytes: usize,
    max_patch_length: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, starts) = (starts.py(), starts_of(starts)?);
    let longest = length_option("max_patch_length", max_patch_length)?;
    starts_array(py, run(py, n_bytes, |_| patch::limit_starts(&starts, n_bytes, longest))?)
}

/// The lengths of the patches that start at `starts`.
#[pyfunction]
#[pyo3(signature = (starts, n_bytes, /))]
pub fn lengths_from_starts<'py>(starts: &Bound<'py, PyAny>, n_bytes: usize) -> PyResult<Bound<'py, PyAny>> {
    let (py, starts) = (starts.py(), starts_of(starts)?);
    Ok(lengths_array(py, run(py, n_bytes, |_| patch::lengths_from_starts(&starts, n_bytes))?))
}
