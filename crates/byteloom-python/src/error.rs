//! The one place where core errors become Python exceptions.

use byteloom_core::Error;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// The exception for `error`.
pub fn to_python(py: Python<'_>, error: Error) -> PyErr {
    match error {
        Error::Vocabulary(message) => raise(py, "VocabularyError", message),
        Error::SpecialToken(message) => raise(py, "SpecialTokenError", message),
        Error::Text(message) => raise(py, "TextError", message),
        Error::Training(message) => raise(py, "TrainingError", message),
        Error::Patching(message) => raise(py, "PatchingError", message),
        Error::UnknownToken { id, position, item } => {
            let item = item.map(|(what, index)| format!("{what} {index}"));
            unknown_token(py, id, position, item)
        }
        Error::Argument(message) => PyValueError::new_err(message),
        Error::Io { path, source } => match source.raw_os_error() {
            // With a number, Python picks the subclass, such as FileNotFoundError.
            Some(number) => {
                let text = source.to_string();
                let text = text.split(" (os error").next().unwrap_or(&text).to_owned();
                PyOSError::new_err((number, text, path.into_os_string()))
            }
            None => PyOSError::new_err(format!("{}: {source}", path.display())),
        },
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        error @ Error::Format { .. } => raise(py, "FormatError", error.to_string()),
        error @ Error::Pattern { .. } => raise(py, "PatternError", error.to_string()),
        other => PyRuntimeError::new_err(other.to_string()),
    }
}

/// The exception for an id of any size that stands for no token.
pub fn unknown_token<'py>(
    py: Python<'py>,
    id: impl IntoPyObject<'py>,
    position: usize,
    item: Option<String>,
) -> PyErr {
    let class = class(py, "UnknownTokenError");
    match class.and_then(|class| class.call1((id, position, item))) {
        Ok(instance) => PyErr::from_value(instance),
        Err(error) => error,
    }
}

/// An exception of `byteloom.errors`.
pub fn raise(py: Python<'_>, name: &str, message: String) -> PyErr {
    match class(py, name) {
        Ok(class) => PyErr::from_type(class, message),
        Err(error) => error,
    }
}

/// Whether it is an error of ours.
pub fn is_fault(error: &PyErr, py: Python<'_>) -> PyResult<bool> {
    Ok(error.is_instance(py, class(py, "ByteloomError")?.as_any()))
}

fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyType>> {
    static ERRORS: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = ERRORS.get_or_try_init(py, || py.import("byteloom.errors").map(Bound::unbind))?;
    Ok(module.bind(py).getattr(name)?.cast_into::<PyType>()?)
}
