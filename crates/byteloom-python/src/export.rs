//! Tokenizers as the files of others, with what those cannot hold.

use byteloom_core::format::{gpt2_files, hf_json, tiktoken};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::tokenizer::NativeTokenizer;
use crate::work::run;

/// A file and what is lost in it.
type Export<'py> = (Bound<'py, PyBytes>, Vec<String>);

#[pymethods]
impl NativeTokenizer {
    fn _to_tiktoken<'py>(&self, py: Python<'py>) -> PyResult<Export<'py>> {
        let written = run(py, usize::MAX, |_| tiktoken::write(self.0.spec()))?;
        Ok((PyBytes::new(py, &written.data), written.losses))
    }

    /// `with_config` where `tokenizer_config.json` is written too, which holds the `pad` role.
    #[pyo3(signature = (merges_as_strings, with_config, /))]
    fn _to_huggingface<'py>(
        &self,
        py: Python<'py>,
        merges_as_strings: bool,
        with_config: bool,
    ) -> PyResult<Export<'py>> {
        let mut written = run(py, usize::MAX, |_| hf_json::write(self.0.spec(), merges_as_strings))?;
        written.losses.retain(|loss| !with_config || loss != hf_json::PAD_LOSS);
        Ok((PyBytes::new(py, &written.data), written.losses))
    }

    #[pyo3(signature = (chat_template, /))]
    fn _huggingface_config<'py>(
        &self,
        py: Python<'py>,
        chat_template: Option<&str>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let config = run(py, usize::MAX, |_| Ok(hf_json::write_config(self.0.spec(), chat_template)))?;
        Ok(PyBytes::new(py, &config))
    }

    fn _to_gpt2_files<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>, Vec<String>)> {
        let files = run(py, usize::MAX, |_| gpt2_files::write(self.0.spec()))?;
        Ok((PyBytes::new(py, &files.vocab), PyBytes::new(py, &files.merges), files.losses))
    }
}
