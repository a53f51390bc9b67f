//! The built-in patterns: names, spellings, and the scanner of each.

/// A built-in pattern; each has a scanner of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scheme {
    Gpt2,
    Cl100k,
    O200k,
    Llama3,
    Qwen2,
    Simple,
    CourseWords,
    CourseWs,
    CourseGpt2,
    SentencePiece,
    /// The whole text is one pre-token.
    Whole,
}

/// What is known of a scheme.
#[derive(Debug)]
pub(super) struct Description {
    pub(super) scheme: Scheme,
    pub(super) name: &'static str,
    pub(super) aliases: &'static [&'static str],
    /// The regex as published.
    pub(super) regex: &'static str,
    /// Other published spellings of the same rule.
    pub(super) spellings: &'static [&'static str],
}

pub(super) static NAMES: [&str; DESCRIPTIONS.len()] = {
    let mut names = [""; DESCRIPTIONS.len()];
    let mut place = 0;
    while place < names.len() {
        names[place] = DESCRIPTIONS[place].name;
        place += 1;
    }
    names
};

pub(super) static DESCRIPTIONS: [Description; 11] = [
    Description {
        scheme: Scheme::Gpt2,
        name: "gpt2",
        aliases: &["r50k", "p50k", "r50k_base", "p50k_base"],
        regex: r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        spellings: &[
            r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
            // As tiktoken had it before, and minbpe has it.
            r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        ],
    },
    Description {
        scheme: Scheme::Cl100k,
        name: "cl100k",
        aliases: &["gpt4", "cl100k_base"],
        regex: concat!(
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+",
            r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
        ),
        spellings: &[],
    },
    Description {
        scheme: Scheme::O200k,
        name: "o200k",
        aliases: &["gpt4o", "o200k_base"],
        regex: concat!(
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        ),
        spellings: &[],
    },
    Description {
        scheme: Scheme::Llama3,
        name: "llama3",
        aliases: &[],
        regex: concat!(
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*",
            r"|\s*[\r\n]+|\s+(?!\S)|\s+"
        ),
        // How tiktoken spelled cl100k before it put `\s++$` into it.
        spellings: &[concat!(
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*",
            r"|\s*[\r\n]|\s+(?!\S)|\s+"
        )],
    },
    Description {
        scheme: Scheme::Qwen2,
        name: "qwen2",
        aliases: &[],
        regex: concat!(
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*",
            r"|\s*[\r\n]+|\s+(?!\S)|\s+"
        ),
        spellings: &[],
    },
    Description { scheme: Scheme::Simple, name: "simple", aliases: &[], regex: r"\s+|\S+", spellings: &[] },
    Description {
        scheme: Scheme::CourseWords,
        name: "course-words",
        aliases: &[],
        regex: r" ?\w+| ?[^\w\s]+|\s+",
        spellings: &[],
    },
    Description {
        scheme: Scheme::CourseWs,
        name: "course-ws",
        aliases: &[],
        regex: r"\s?\w+|\s?[^\w\s]+|\s+",
        spellings: &[],
    },
    Description {
        scheme: Scheme::CourseGpt2,
        name: "course-gpt2",
        aliases: &[],
        regex: r"'s|'t|'re|'ve|'m|'ll|'d| ?[^\W\d_]+| ?\d+| ?[^\s\w]+| ?_+|\s+(?!\S)|\s+",
        spellings: &[],
    },
    Description {
        scheme: Scheme::SentencePiece,
        name: "sentencepiece",
        aliases: &[],
        regex: r" *[^ ]+| +",
        spellings: &[],
    },
    Description { scheme: Scheme::Whole, name: "none", aliases: &[], regex: r"(?s).+", spellings: &[] },
];

/// The built-in pattern that has this name, alias or exact spelling.
pub(super) fn find(name_or_regex: &str) -> Option<&'static Description> {
    DESCRIPTIONS.iter().find(|known| {
        known.name == name_or_regex
            || known.regex == name_or_regex
            || known.aliases.contains(&name_or_regex)
            || known.spellings.contains(&name_or_regex)
    })
}
