//! The rules that decide between pairs with the same count.

use std::fmt;
use std::str::FromStr;

use super::bpe::PairOrder;
use crate::error::{Error, excerpt};

/// Which of several pairs with the same count is merged first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TieBreak {
    /// The one with the smaller left id, then the smaller right id.
    #[default]
    SmallestPair,
    /// The same on byte ids renumbered in GPT-2's printable-first order, which is what Hugging Face's trainer does.
    HuggingFace,
    /// The one that stands first in the text as merged so far.
    FirstSeen,
}

impl TieBreak {
    const ALL: [Self; 3] = [Self::SmallestPair, Self::HuggingFace, Self::FirstSeen];

    /// The name of the rule.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SmallestPair => "smallest_pair",
            Self::HuggingFace => "huggingface",
            Self::FirstSeen => "first_seen",
        }
    }

    /// The order that the merge loop is to use, on symbols numbered by [`Self::symbol_of_byte`].
    pub(super) fn order(self) -> PairOrder {
        match self {
            Self::SmallestPair | Self::HuggingFace => PairOrder::SmallestPair,
            Self::FirstSeen => PairOrder::FirstSeen,
        }
    }

    /// The number under which each byte takes part in training.
    pub(super) fn symbol_of_byte(self) -> [u8; 256] {
        let mut symbols = [0; 256];
        for (symbol, byte) in (0..=u8::MAX).zip(self.byte_of_symbol()) {
            symbols[usize::from(byte)] = symbol;
        }
        symbols
    }

    /// The inverse of [`Self::symbol_of_byte`].
    pub(super) fn byte_of_symbol(self) -> [u8; 256] {
        let mut bytes = std::array::from_fn(|byte| byte as u8);
        if self == Self::HuggingFace {
            // GPT-2 shows printable bytes as themselves and numbers the characters for the others after them. A
            // stable sort: ascending within each part.
            bytes.sort_by_key(|byte| !matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF));
        }
        bytes
    }
}

impl FromStr for TieBreak {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|rule| rule.as_str() == name).ok_or_else(|| {
            let names = Self::ALL.map(|rule| format!("{:?}", rule.as_str())).join(", ");
            Error::Argument(format!("tie_break is {}; it is one of {names}", excerpt(name)))
        })
    }
}

impl fmt::Display for TieBreak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_both_ways() {
        for rule in TieBreak::ALL {
            assert_eq!(rule.as_str().parse::<TieBreak>().unwrap(), rule);
        }
        let message = "oldest".parse::<TieBreak>().unwrap_err().to_string();
        assert!(message.contains("\"oldest\"") && message.contains("\"first_seen\""), "{message}");
    }

    #[test]
    fn bytes_are_renumbered_one_to_one() {
        let order = TieBreak::HuggingFace.byte_of_symbol();
        assert_eq!(order[..2], *b"!\"");
        assert_eq!(order[93..95], [b'~', 0xA1]);
        assert_eq!(order[188..190], [0, 1]);
        assert_eq!(order[255], 0xAD);
        for rule in TieBreak::ALL {
            let symbols = rule.symbol_of_byte();
            for (symbol, byte) in rule.byte_of_symbol().into_iter().enumerate() {
                assert_eq!(usize::from(symbols[usize::from(byte)]), symbol);
            }
        }
    }
}
