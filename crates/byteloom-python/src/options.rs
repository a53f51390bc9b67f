//! Options that several methods share.

use byteloom_core::parallel::{ALL_PROCESSORS, thread_count};
use byteloom_core::tokenizer::{SpecialPolicy, SpecialSet, Tokenizer};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use std::borrow::Cow;

use crate::error::to_python;

/// A value that keyword arguments may leave out.
pub type Optional<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

/// A set of special tokens as Python names it: `"all"`, or a collection of strings.
enum Names {
    All,
    These(Vec<String>),
}

fn names(option: &str, value: &Bound<'_, PyAny>) -> PyResult<Names> {
    if let Ok(string) = value.cast::<PyString>() {
        return match string.to_string_lossy().as_ref() {
            "all" => Ok(Names::All),
            other => Err(PyTypeError::new_err(format!(
                "{option} must be \"all\" or a collection of special tokens; for a single one write {{{other:?}}}"
            ))),
        };
    }
    if value.is_instance_of::<PyBytes>() {
        return Err(PyTypeError::new_err(format!(
            "{option} must be \"all\" or a collection of str, not bytes"
        )));
    }
    let mut these = Vec::new();
    for item in value.try_iter()? {
        let item = item?;
        let name = item.cast::<PyString>().map_err(|_| {
            let kind = item.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
            PyTypeError::new_err(format!("{option} must hold str only, not {kind}"))
        })?;
        these.push(name.to_string());
    }
    Ok(Names::These(these))
}

fn strings(names: &Names) -> Vec<&str> {
    match names {
        Names::All => vec![],
        Names::These(these) => these.iter().map(String::as_str).collect(),
    }
}

fn set<'a>(names: &Names, strings: &'a [&'a str]) -> SpecialSet<'a> {
    match names {
        Names::All => SpecialSet::All,
        Names::These(_) => SpecialSet::Names(strings),
    }
}

/// The policy of a call. `None` stands for the defaults, `()` and `"all"`.
pub fn policy<'t>(
    tokenizer: &'t Tokenizer,
    allowed: Option<&Bound<'_, PyAny>>,
    disallowed: Option<&Bound<'_, PyAny>>,
    py: Python<'_>,
) -> PyResult<Cow<'t, SpecialPolicy>> {
    if allowed.is_none() && disallowed.is_none() {
        return Ok(Cow::Borrowed(tokenizer.deny_all()));
    }
    let allowed = allowed.map_or(Ok(Names::These(vec![])), |value| names("allowed_special", value))?;
    let disallowed = disallowed.map_or(Ok(Names::All), |value| names("disallowed_special", value))?;
    let (allowed_names, disallowed_names) = (strings(&allowed), strings(&disallowed));
    tokenizer
        .policy(set(&allowed, &allowed_names), set(&disallowed, &disallowed_names))
        .map_err(|error| to_python(py, error))
}

/// A number that an option asks for.
pub fn integer(option: &str, value: &Bound<'_, PyAny>) -> PyResult<i128> {
    crate::text::index(value).map_err(|_| {
        let name = value.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!("{option} must be an integer, not {name}"))
    })
}

/// The number of threads to use: `threads`, or else `BYTELOOM_THREADS`, or else all processors.
pub fn threads(py: Python<'_>, threads: Option<&Bound<'_, PyAny>>) -> PyResult<usize> {
    let asked = threads_asked(threads)?;
    thread_count(asked).map_err(|error| to_python(py, error))
}

/// The same for a batch, where processors are not counted before there is need to.
pub fn batch_threads(py: Python<'_>, threads: Option<&Bound<'_, PyAny>>) -> PyResult<usize> {
    match threads_asked(threads)? {
        None => Ok(ALL_PROCESSORS),
        asked => thread_count(asked).map_err(|error| to_python(py, error)),
    }
}

fn threads_asked(threads: Option<&Bound<'_, PyAny>>) -> PyResult<Option<usize>> {
    const VARIABLE: &str = "BYTELOOM_THREADS";
    let range = |text: String| PyValueError::new_err(format!("{text}; it must be a number from 1 to 1024"));
    Ok(match threads {
        Some(value) => {
            let number: i128 = crate::text::index(value)
                .map_err(|_| PyTypeError::new_err("threads must be an integer or None"))?;
            Some(usize::try_from(number).map_err(|_| range(format!("threads is {number}")))?)
        }
        None => match std::env::var_os(VARIABLE) {
            None => None,
            Some(value) => {
                let number =
                    value.to_str().and_then(|value| value.parse().ok()).filter(|n| (1..=1024).contains(n));
                Some(number.ok_or_else(|| {
                    range(format!("the environment variable {VARIABLE} is {}", value.display()))
                })?)
            }
        },
    })
}
