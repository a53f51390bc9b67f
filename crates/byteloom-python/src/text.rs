//! Texts and ids as Python gives them.

use std::ops::Deref;

use byteloom_core::Error;
use byteloom_core::parallel::BatchText;
use byteloom_core::token::TokenId;
use pyo3::buffer::{Element, PyUntypedBuffer};
use pyo3::exceptions::{PyTypeError, PyUnicodeEncodeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyInt, PyList, PyMemoryView, PyString, PyTuple};

use crate::error::{is_fault, raise, unknown_token};
use crate::lists;
use crate::units::{Characters, Utf8};

/// A text that is readable without the GIL; most are borrowed from Python, and kept alive.
pub enum Text {
    /// A `str` that is UTF-8 as it is.
    Str(PyBackedStr),
    /// The UTF-8 of another.
    Utf8(Utf8),
    /// `bytes`, or a copy of a changeable buffer, so that nobody changes it under our hands.
    Bytes(PyBackedBytes),
}

impl Text {
    /// A part of the text, of the type it came in.
    pub fn slice<'py>(&self, py: Python<'py>, start: usize, end: usize) -> Bound<'py, PyAny> {
        match self {
            // Cuts of a text lie between characters; a wrong one would show as a replaced one, not as a crash.
            Self::Str(_) | Self::Utf8(_) => {
                PyString::new(py, &String::from_utf8_lossy(&self[start..end])).into_any()
            }
            Self::Bytes(_) => PyBytes::new(py, &self[start..end]).into_any(),
        }
    }
}

impl Deref for Text {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Str(text) => text.as_bytes(),
            Self::Utf8(text) => text,
            Self::Bytes(bytes) => bytes,
        }
    }
}

impl AsRef<[u8]> for Text {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

/// What to do with lone surrogates.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Surrogates {
    /// Raise, naming the index and the option `errors`.
    Strict,
    /// Raise where there is no such option.
    Refuse,
    /// Join pairs, and put U+FFFD in the place of the rest, as tiktoken does.
    Replace,
}

impl Surrogates {
    /// The handling named `errors`.
    pub fn parse(errors: &str) -> PyResult<Self> {
        match errors {
            "strict" => Ok(Self::Strict),
            "replace" => Ok(Self::Replace),
            _ => Err(PyValueError::new_err(format!(
                "errors must be \"strict\" or \"replace\", not {errors:?}"
            ))),
        }
    }
}

/// The text in `value`, which `what` names in messages.
pub fn text(value: &Bound<'_, PyAny>, surrogates: Surrogates, what: impl Fn() -> String) -> PyResult<Text> {
    if let Ok(string) = value.cast::<PyString>() {
        return string_text(string, surrogates, what);
    }
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(Text::Bytes(bytes.clone().into()));
    }
    if let Ok(bytes) = value.cast::<PyByteArray>() {
        return Ok(Text::Bytes(bytes.clone().into()));
    }
    if value.is_instance_of::<PyMemoryView>() {
        let bytes = value.call_method0("tobytes")?;
        return Ok(Text::Bytes(bytes.cast_into::<PyBytes>()?.into()));
    }
    Err(PyTypeError::new_err(format!("{} must be str or bytes, not {}", what(), value.get_type().name()?)))
}

/// A text of few bytes, borrowed or in a buffer.
pub enum Short<'a> {
    Plain(&'a [u8]),
    Utf8(Utf8),
}

impl Deref for Short<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Plain(bytes) => bytes,
            Self::Utf8(text) => text,
        }
    }
}

/// A well-formed `str` or `bytes` of at most so many bytes; `None` of anything else, which [`text`] takes or refuses.
pub fn short<'a>(value: &'a Bound<'_, PyAny>, most: usize) -> Option<Short<'a>> {
    let text = match value.cast::<PyString>() {
        Ok(string) if string.code_point_len().ok()? <= most => match Utf8::of(string) {
            Some(text) => Short::Utf8(text),
            None => Short::Plain(string.to_str().ok()?.as_bytes()),
        },
        Ok(_) => return None,
        Err(_) => Short::Plain(value.cast::<PyBytes>().ok()?.as_bytes()),
    };
    Some(text).filter(|text| text.len() <= most)
}

fn string_text(
    string: &Bound<'_, PyString>,
    surrogates: Surrogates,
    what: impl Fn() -> String,
) -> PyResult<Text> {
    let py = string.py();
    if let Some(text) = Utf8::of(string) {
        return Ok(Text::Utf8(text));
    }
    let error = match PyBackedStr::try_from(string.clone()) {
        Ok(text) => return Ok(Text::Str(text)),
        Err(error) => error,
    };
    if !error.is_instance_of::<PyUnicodeEncodeError>(py) {
        return Err(error);
    }
    if surrogates == Surrogates::Replace {
        let units = string.call_method1("encode", ("utf-16-le", "surrogatepass"))?;
        let repaired = units.call_method1("decode", ("utf-16-le", "replace"))?;
        return Ok(Text::Str(repaired.cast_into::<PyString>()?.try_into()?));
    }
    let index: usize = error.value(py).getattr("start")?.extract()?;
    let code: u32 = py.import("builtins")?.call_method1("ord", (string.get_item(index)?,))?.extract()?;
    let advice = if surrogates == Surrogates::Refuse {
        "encode it yourself, as in text.encode('utf-8', 'surrogatepass')"
    } else {
        "errors=\"replace\" puts U+FFFD in its place"
    };
    Err(raise(
        py,
        "TextError",
        format!(
            "{} holds a lone surrogate, U+{code:04X}, at index {index}; it has no UTF-8 form. {advice}",
            what()
        ),
    ))
}

/// The texts of a batch, all checked before any work begins.
pub fn texts(values: &Bound<'_, PyAny>, surrogates: Surrogates) -> PyResult<Vec<Text>> {
    each(values, |index, value| {
        Ok(match text(value, surrogates, || format!("texts[{index}]"))? {
            Text::Utf8(text) => Text::Utf8(text.exact()),
            text => text,
        })
    })
}

fn each<T>(
    values: &Bound<'_, PyAny>,
    take: impl Fn(usize, &Bound<'_, PyAny>) -> PyResult<T>,
) -> PyResult<Vec<T>> {
    if values.is_instance_of::<PyString>() || values.is_instance_of::<PyBytes>() {
        return Err(PyTypeError::new_err(format!(
            "texts must be a list or another iterable of texts, not one {}",
            values.get_type().name()?
        )));
    }
    let mut all = Vec::with_capacity(values.len().unwrap_or(0));
    for (index, value) in values.try_iter()?.enumerate() {
        all.push(take(index, &value?)?);
    }
    Ok(all)
}

/// A text of a batch. A `str` is brought into UTF-8 when it is its turn.
pub enum Source {
    Text(Text),
    Characters(Characters),
}

impl BatchText for Source {
    fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Characters(characters) => characters.size(),
        }
    }

    fn read<'t>(&'t self, buffer: &'t mut Vec<u8>) -> byteloom_core::Result<&'t [u8]> {
        match self {
            Self::Text(text) => Ok(text),
            Self::Characters(characters) => characters
                .read(buffer)
                .map_err(|index| Error::Text(format!("a lone surrogate at index {index} has no UTF-8 form"))),
        }
    }
}

/// Does `work` with the texts of a batch and their size in bytes, more or less.
pub fn with_sources<T>(
    values: &Bound<'_, PyAny>,
    surrogates: Surrogates,
    work: impl Fn(&[Source], usize) -> PyResult<T>,
) -> PyResult<T> {
    let take = |index: usize, value: &Bound<'_, PyAny>| match value.cast::<PyString>() {
        Ok(string) if let Some(characters) = Characters::of(string) => Ok(Source::Characters(characters)),
        _ => Ok(Source::Text(text(value, surrogates, || format!("texts[{index}]"))?)),
    };
    let sources = each(values, take)?;
    let size = |sources: &[Source]| sources.iter().map(BatchText::size).sum();
    let failed = match work(&sources, size(&sources)) {
        Ok(done) => return Ok(done),
        Err(error) => error,
    };
    // A lone surrogate is told before other faults of texts, or is replaced; nobody else pays for looking for one. What
    // is no fault of texts, such as Ctrl-C, stays as it is.
    let py = values.py();
    if !is_fault(&failed, py)? {
        return Err(failed);
    }
    let (mut buffer, mut found) = (Vec::new(), false);
    let mut repair = |(index, source): (usize, Source)| match source {
        Source::Characters(characters) if characters.read(&mut buffer).is_err() => {
            found = true;
            let string = characters.string().bind(py);
            Ok(Source::Text(string_text(string, surrogates, || format!("texts[{index}]"))?))
        }
        source => Ok(source),
    };
    let sources: Vec<Source> = sources.into_iter().enumerate().map(&mut repair).collect::<PyResult<_>>()?;
    if found { work(&sources, size(&sources)) } else { Err(failed) }
}

/// Ids from a list, a tuple, an array of any integer type, or another iterable.
///
/// Ids that fit no u32 are the error of an unknown id, like those that stand for nothing.
pub fn ids(values: &Bound<'_, PyAny>) -> PyResult<Vec<TokenId>> {
    if let Ok(list) = values.cast::<PyList>() {
        return list_ids(list);
    }
    if let Ok(tuple) = values.cast::<PyTuple>() {
        return collect_ids(tuple.iter().map(Ok), tuple.len());
    }
    let refuse = || {
        let name = values.get_type().name()?;
        Err(PyTypeError::new_err(format!(
            "ids must be integers in a list, array or other iterable, not {name}"
        )))
    };
    if values.is_instance_of::<PyString>() || values.is_instance_of::<PyBytes>() {
        return refuse();
    }
    if let Ok(buffer) = PyUntypedBuffer::get(values) {
        return array_ids(values, &buffer);
    }
    match values.try_iter() {
        Ok(items) => collect_ids(items, values.len().unwrap_or(0)),
        Err(_) => refuse(),
    }
}

/// The ids in a list: plain ones all at once, the rest, if there is one that is not plain, one by one.
fn list_ids(list: &Bound<'_, PyList>) -> PyResult<Vec<TokenId>> {
    let mut ids = lists::plain_ids(list);
    let mut position = ids.len();
    // The length is asked for each time: `__index__` of an item may change the list. Behind it, an error would be made
    // to be dropped.
    while position < list.len()
        && let Ok(item) = list.get_item(position)
    {
        ids.push(id(&item, position)?);
        position += 1;
    }
    Ok(ids)
}

fn collect_ids<'py>(
    items: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>,
    expected: usize,
) -> PyResult<Vec<TokenId>> {
    let mut ids = Vec::with_capacity(expected);
    for (position, item) in items.enumerate() {
        ids.push(id(&item?, position)?);
    }
    Ok(ids)
}

/// One id; `position` is its place in the sequence.
pub fn id(item: &Bound<'_, PyAny>, position: usize) -> PyResult<TokenId> {
    if item.is_exact_instance_of::<PyInt>()
        && let Ok(id) = item.extract::<TokenId>()
    {
        return Ok(id);
    }
    if let Ok(integer) = index_object(item) {
        return integer.extract().map_err(|_| unknown_token(item.py(), integer, position, None));
    }
    let name = item.get_type().name()?;
    Err(PyTypeError::new_err(format!("ids must be integers, but position {position} holds {name}")))
}

/// `value` as a Python `int`, if it is an integer of some kind. `True` and `1.0` are none.
fn index_object<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if value.is_instance_of::<PyBool>() {
        return Err(PyTypeError::new_err("a bool is no number here"));
    }
    value.py().import("operator")?.call_method1("index", (value,))
}

/// `value` as a number.
pub fn index(value: &Bound<'_, PyAny>) -> PyResult<i128> {
    index_object(value)?.extract()
}

/// An error about ids, with the row of the batch that held them.
pub fn in_row(py: Python<'_>, error: PyErr, row: usize) -> PyErr {
    let value = error.value(py);
    if error.is_instance_of::<PyTypeError>(py) {
        return PyTypeError::new_err(format!("sequence {row}: {value}"));
    }
    // An unknown id; anything else keeps its own words.
    let _ = value.setattr("item", format!("sequence {row}"));
    error
}

fn array_ids(values: &Bound<'_, PyAny>, buffer: &PyUntypedBuffer) -> PyResult<Vec<TokenId>> {
    if buffer.dimensions() > 1 {
        return Err(PyTypeError::new_err(format!(
            "ids must have one dimension, not {}; decode_batch takes rows",
            buffer.dimensions()
        )));
    }
    // Typed buffers ignore the order of bytes.
    let order = buffer.format().to_bytes().first();
    if matches!(order, Some(b'>' | b'!')) == cfg!(target_endian = "little") {
        return collect_ids(values.try_iter()?, values.len()?);
    }
    macro_rules! convert {
        ($($kind:ty),*) => {
            $(if let Ok(typed) = buffer.as_typed::<$kind>() {
                return checked_ids(values.py(), typed.to_vec(values.py())?);
            })*
        };
    }
    convert!(u32, u16, i64, i32, u64, u8, i16, i8);
    Err(PyTypeError::new_err(format!("ids must be integers, not an array of format {:?}", buffer.format())))
}

fn checked_ids<T: Element + TryInto<TokenId> + Into<i128>>(
    py: Python<'_>,
    values: Vec<T>,
) -> PyResult<Vec<TokenId>> {
    values
        .into_iter()
        .enumerate()
        .map(|(position, value)| {
            value.try_into().map_err(|_| {
                let wide: i128 = value.into();
                unknown_token(py, wide, position, None)
            })
        })
        .collect()
}
