//! Placeholder engine of the skeleton: plain `regex`, valid UTF-8 only. Replaced by the real one.
use super::BLOCK;
use crate::error::{Error, Result};

#[derive(Clone, Debug)]
pub(super) struct RegexEngine(::regex::bytes::Regex);

impl RegexEngine {
    pub(super) fn new(pattern: &str) -> Result<Self> {
        Ok(Self(::regex::bytes::Regex::new(pattern).map_err(|e| Error::pattern(pattern, e.to_string()))?))
    }
    pub(super) fn fill(&self, text: &[u8], start: usize, ends: &mut Vec<usize>) -> Result<()> {
        let mut last = start;
        while last < text.len() && ends.len() + 2 < BLOCK {
            match self.0.find_at(text, last) {
                Some(found) if !found.is_empty() => {
                    if found.start() > last {
                        ends.push(found.start());
                    }
                    ends.push(found.end());
                    last = found.end();
                }
                _ => {
                    ends.push(text.len());
                    last = text.len();
                }
            }
        }
        Ok(())
    }
}
