//! Which code scans, chosen once by what the CPU has and by the environment.

use std::sync::OnceLock;

use crate::error::{Error, Result};

/// The environment variable that forces a path.
const VARIABLE: &str = "BYTELOOM_SIMD";

/// Code that can scan; all paths find the same pre-tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SimdPath {
    /// One character after the other: the reference.
    Scalar,
    /// Blocks of 64 bytes in plain Rust.
    Portable,
    /// Blocks of 64 bytes with AVX2 and BMI.
    Avx2,
}

impl SimdPath {
    /// All paths that this CPU has, the best last.
    pub fn available() -> &'static [Self] {
        const ALL: [SimdPath; 3] = [SimdPath::Scalar, SimdPath::Portable, SimdPath::Avx2];
        #[cfg(target_arch = "x86_64")]
        let avx2 = super::avx2::Avx2::new().is_some();
        #[cfg(not(target_arch = "x86_64"))]
        let avx2 = false;
        if avx2 { &ALL } else { &ALL[..2] }
    }

    /// As `BYTELOOM_SIMD` spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
        }
    }

    /// The path for a text of so many bytes: a short one is read before a block of it were classified.
    pub(in crate::pretokenize) fn for_length(self, length: usize) -> Self {
        let short = match self {
            Self::Scalar => 0,
            Self::Portable => 200,
            Self::Avx2 => 45,
        };
        if length < short { Self::Scalar } else { self }
    }

    fn best() -> Self {
        Self::available().last().copied().unwrap_or(Self::Portable)
    }

    /// The path that a value of the variable asks for.
    fn named(value: &str) -> std::result::Result<Self, String> {
        if value.is_empty() || value == "auto" {
            return Ok(Self::best());
        }
        let found = Self::available().iter().find(|path| path.name() == value);
        found.copied().ok_or_else(|| {
            let reason =
                if value == Self::Avx2.name() { "which this CPU does not have" } else { "which is no path" };
            let names: Vec<_> = Self::available().iter().map(|path| path.name()).collect();
            format!(
                "{VARIABLE} is {value:?}, {reason}; set it to auto or {}, or not at all",
                names.join(" or ")
            )
        })
    }
}

/// The path of this process: `BYTELOOM_SIMD`, read once, or the best that the CPU has. A value that asks for what
/// there is not is an error, at the first pre-tokenizer that is made.
pub(in crate::pretokenize) fn chosen() -> Result<SimdPath> {
    static CHOSEN: OnceLock<std::result::Result<SimdPath, String>> = OnceLock::new();
    let chosen = CHOSEN.get_or_init(|| match std::env::var_os(VARIABLE) {
        None => Ok(SimdPath::best()),
        Some(value) => SimdPath::named(&value.to_string_lossy()),
    });
    chosen.clone().map_err(Error::Argument)
}

/// The path of this process by name: `"avx2"`, `"portable"` or `"scalar"`.
pub fn simd_path() -> &'static str {
    chosen().unwrap_or_else(|_| SimdPath::best()).name()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_names_a_path_or_is_an_error_that_says_which_there_are() {
        for &path in SimdPath::available() {
            assert_eq!(SimdPath::named(path.name()), Ok(path));
        }
        assert_eq!(SimdPath::named("auto"), Ok(SimdPath::best()));
        assert_eq!(SimdPath::named(""), Ok(SimdPath::best()));
        let message = SimdPath::named("avx3").unwrap_err();
        assert!(message.contains("BYTELOOM_SIMD is \"avx3\"") && message.contains("portable"), "{message}");
        assert!(SimdPath::available().iter().any(|path| path.name() == simd_path()));
    }
}
