//! `byteloom._native`: a thin binding. It borrows what Python gives, lets go of the GIL and maps errors; all else
//! is in `byteloom-core`, and all policy in the Python package.

#![allow(clippy::doc_link_with_quotes, reason = "docstrings are Python's, where a list is no link")]
#![allow(clippy::needless_pass_by_value, reason = "arguments arrive from Python by value")]
#![allow(clippy::too_many_arguments, reason = "keyword arguments of Python")]

mod arrays;
mod change;
mod counts;
mod cut;
mod decode;
mod documents;
mod encode;
mod entropy;
mod error;
mod explain;
mod export;
mod lists;
mod make;
mod options;
mod patch;
mod pool;
mod stream;
mod text;
mod tokenizer;
mod train;
mod units;
mod work;

use pyo3::prelude::*;

/// The Rust half of byteloom.
#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use super::change::extend;
    #[pymodule_export]
    use super::counts::NativeCounts;
    #[pymodule_export]
    use super::entropy::NativeEntropyModel;
    #[pymodule_export]
    use super::explain::Explainer;
    #[pymodule_export]
    use super::make::{
        from_gpt2_files, from_huggingface, from_json, from_merges, from_minbpe, from_plain_huggingface,
        from_sentencepiece, from_tiktoken, pattern_names, simd_path, sniff, write_atomically,
    };
    #[pymodule_export]
    use super::patch::{NativePatchStream, NativePatcher, lengths_from_starts, limit_starts};
    #[pymodule_export]
    use super::stream::StreamDecoder;
    #[pymodule_export]
    use super::tokenizer::NativeTokenizer;
    #[pymodule_export]
    use super::train::train;

    use super::{Bound, PyModule, PyModuleMethods, PyResult};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
