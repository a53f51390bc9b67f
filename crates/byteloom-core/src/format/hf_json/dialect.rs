//! Regexes between the two engines: Oniguruma, which `tokenizer.json` means, and ours.
//!
//! Both read the common part of regexes alike. This module parses that part, translates what they read differently
//! (`{1,3}+`, `$`, `\w`, the flag for `.`), and refuses the rest by name. Their classes were compared over all
//! characters: `\p{L}`, `\p{N}`, `\d`, `\s` and the other categories are equal in tokenizers 0.23.

use crate::error::excerpt;
use crate::pretokenize::PreTokenizer;

/// cl100k as Oniguruma must be told it: there `\p{N}{1,3}+` would repeat.
const CL100K: &str = concat!(
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*+",
    r"|\s++\z|\s*[\r\n]|\s+(?!\S)|\s"
);

/// Built-in patterns whose classes are those of Python's `re`, with these classes spelled out.
const PYTHON: [(&str, &str); 4] = [
    ("simple", r"[\s\x1C-\x1F]+|[^\s\x1C-\x1F]+"),
    ("course-words", r" ?[\p{L}\p{N}_]+| ?[^\p{L}\p{N}_\s\x1C-\x1F]+|[\s\x1C-\x1F]+"),
    ("course-ws", r"[\s\x1C-\x1F]?[\p{L}\p{N}_]+|[\s\x1C-\x1F]?[^\p{L}\p{N}_\s\x1C-\x1F]+|[\s\x1C-\x1F]+"),
    (
        "course-gpt2",
        concat!(
            r"'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}\p{Nl}\p{No}]+| ?\p{Nd}+| ?[^\p{L}\p{N}_\s\x1C-\x1F]+| ?_+",
            r"|[\s\x1C-\x1F]+(?![^\s\x1C-\x1F])|[\s\x1C-\x1F]+"
        ),
    ),
];

/// Built-in patterns whose published spellings mean the same in both engines.
const SAME: [&str; 5] = ["gpt2", "o200k", "llama3", "qwen2", "sentencepiece"];

/// Oniguruma's `\w`, compared over all characters with tokenizers 0.23.
const WORD_ONIGURUMA: &str = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}²³¹¼½¾";
/// Our `\w`: that of Unicode, with the two joiners.
const WORD_OURS: &str = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\u{200C}\u{200D}";

/// Groups nest no deeper.
const MAX_DEPTH: usize = 64;

const PROPERTIES: [&str; 48] = [
    "L",
    "Lu",
    "Ll",
    "Lt",
    "Lm",
    "Lo",
    "M",
    "Mn",
    "Mc",
    "Me",
    "N",
    "Nd",
    "Nl",
    "No",
    "P",
    "Pc",
    "Pd",
    "Ps",
    "Pe",
    "Pi",
    "Pf",
    "Po",
    "S",
    "Sm",
    "Sc",
    "Sk",
    "So",
    "Z",
    "Zs",
    "Zl",
    "Zp",
    "Cc",
    "Cf",
    "Co",
    "Alphabetic",
    "Han",
    "Hiragana",
    "Katakana",
    "Hangul",
    "Latin",
    "Cyrillic",
    "Greek",
    "Arabic",
    "Hebrew",
    "Thai",
    "Devanagari",
    "Bopomofo",
    "Armenian",
];

/// The pre-tokenizer that does what Oniguruma does with `regex`; the message otherwise.
pub(super) fn read(regex: &str) -> Result<PreTokenizer, String> {
    let known = |name: &str| PreTokenizer::new(name).map_err(|error| error.to_string());
    if regex == CL100K {
        return known("cl100k");
    }
    if let Some((name, _)) = PYTHON.iter().find(|(_, spelled)| *spelled == regex) {
        return known(name);
    }
    // A name is no regex here, and a built-in spelling counts only where Oniguruma agrees.
    if let Ok(built_in) = PreTokenizer::new(regex)
        && built_in.name().is_some_and(|name| SAME.contains(&name))
        && regex.contains(['\\', '['])
    {
        return Ok(built_in);
    }
    let mut ours = translate(regex, Dialect::Oniguruma)?;
    if PreTokenizer::new(&ours).is_ok_and(|found| found.name().is_some()) {
        ours = format!("(?:{ours})");
    }
    known(&ours)
}

/// The regex that means in Oniguruma what one member of `pretokenizer` does; `None` for `none`.
pub(super) fn write(pretokenizer: &PreTokenizer) -> Result<Option<String>, String> {
    let regex = match pretokenizer.name() {
        Some("none") => return Ok(None),
        Some("cl100k") => CL100K.to_owned(),
        Some(name) => match PYTHON.iter().find(|(python, _)| *python == name) {
            Some((_, spelled)) => (*spelled).to_owned(),
            None => pretokenizer.regex().to_owned(),
        },
        None => translate(pretokenizer.regex(), Dialect::Ours)?,
    };
    Ok(Some(regex))
}

/// The regex that stands for `text` itself.
pub(super) fn literal(text: &str) -> String {
    text.chars().fold(String::new(), |mut out, c| {
        push_literal(&mut out, c, false);
        out
    })
}

/// Which engine a regex is written for; the translation is for the other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Oniguruma,
    Ours,
}

fn translate(regex: &str, from: Dialect) -> Result<String, String> {
    let mut parser = Parser { rest: regex, from, depth: 0, folds_case: false };
    let lead = if let Some(rest) = regex.strip_prefix("(?i)") {
        parser.rest = rest;
        parser.folds_case = true;
        "(?i:"
    } else {
        ""
    };
    let (mut out, may_be_empty) = parser.alternatives()?;
    if !parser.rest.is_empty() {
        return Err("has a ) too many".to_owned());
    }
    if !lead.is_empty() {
        out = format!("{lead}{out})");
    }
    if may_be_empty {
        return Err("can match nothing at all, which cuts text in one engine and not in the other".to_owned());
    }
    // Case folding by more than one character: ß is ss and ﬁ is fi in Oniguruma, not here.
    let lower = regex.to_lowercase();
    if parser.folds_case
        && (!regex.is_ascii() || ["ss", "ff", "fi", "fl", "st"].iter().any(|pair| lower.contains(pair)))
    {
        return Err("ignores case for letters that some engines take for one, such as ss for ß".to_owned());
    }
    Ok(out)
}

struct Parser<'r> {
    rest: &'r str,
    from: Dialect,
    depth: usize,
    folds_case: bool,
}

/// A translated part, and whether it can match the empty string.
type Part = (String, bool);

impl Parser<'_> {
    fn eat(&mut self, prefix: &str) -> bool {
        self.rest.strip_prefix(prefix).map(|rest| self.rest = rest).is_some()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn alternatives(&mut self) -> Result<Part, String> {
        let (mut out, mut may_be_empty) = self.branch()?;
        while self.eat("|") {
            let (branch, empty) = self.branch()?;
            out.push('|');
            out.push_str(&branch);
            may_be_empty |= empty;
        }
        Ok((out, may_be_empty))
    }

    fn branch(&mut self) -> Result<Part, String> {
        let (mut out, mut may_be_empty) = (String::new(), true);
        while !self.rest.is_empty() && !self.rest.starts_with(['|', ')']) {
            let (atom, empty) = self.atom()?;
            let (repeated, empty) = self.repeated(atom, empty)?;
            out.push_str(&repeated);
            may_be_empty &= empty;
        }
        Ok((out, may_be_empty))
    }

    fn repeated(&mut self, atom: String, empty: bool) -> Result<Part, String> {
        let (quantifier, least) = match self.rest.chars().next() {
            Some(sign @ ('*' | '+' | '?')) => {
                self.next();
                (sign.to_string(), u32::from(sign == '+'))
            }
            Some('{') => self.interval()?,
            _ => return Ok((atom, empty)),
        };
        let is_interval = quantifier.starts_with('{');
        let may_be_empty = empty || least == 0;
        let mut out = format!("{atom}{quantifier}");
        if self.eat("+") {
            out = match (is_interval, self.from) {
                (false, _) => out + "+",
                (true, Dialect::Oniguruma) => format!("(?:{out})+"),
                (true, Dialect::Ours) => format!("(?>{out})"),
            };
        } else if self.rest.starts_with('?') {
            if is_interval && !quantifier.contains(',') {
                return Err(format!("has {quantifier}?, which engines read differently"));
            }
            self.next();
            out.push('?');
        }
        if self.rest.starts_with(['*', '+', '?', '{']) {
            return Err("repeats a repetition".to_owned());
        }
        Ok((out, may_be_empty))
    }

    fn interval(&mut self) -> Result<(String, u32), String> {
        let fault = || "has a { that begins no repetition such as {1,3}; write \\{".to_owned();
        let end = self.rest.find('}').ok_or_else(fault)?;
        let inside = &self.rest[1..end];
        self.rest = &self.rest[end + 1..];
        let number = |text: &str| match text.parse::<u32>() {
            Ok(number) if number <= 1000 && text.bytes().all(|byte| byte.is_ascii_digit()) => Ok(number),
            _ => Err(fault()),
        };
        match inside.split_once(',') {
            None => number(inside).map(|count| (format!("{{{count}}}"), count)),
            Some((least, "")) => number(least).map(|least| (format!("{{{least},}}"), least)),
            Some((least, most)) => {
                let (least, most) = (number(if least.is_empty() { "0" } else { least })?, number(most)?);
                if least > most {
                    return Err(format!("has {{{inside}}}, the larger number first"));
                }
                Ok((format!("{{{least},{most}}}"), least))
            }
        }
    }

    fn atom(&mut self) -> Result<Part, String> {
        match self.next() {
            None => Ok((String::new(), true)),
            Some('(') => self.group(),
            Some('[') => Ok((self.class()?, false)),
            Some('.') => Ok((".".to_owned(), false)),
            Some('\\') => self.escape(),
            Some('^') if self.from == Dialect::Ours => Ok((r"\A".to_owned(), true)),
            Some('^') => Err("has ^, which is the start of a line there; write \\A".to_owned()),
            Some('$') if self.from == Dialect::Ours => Ok((r"\z".to_owned(), true)),
            Some('$') => Ok(("(?m:$)".to_owned(), true)),
            Some(sign @ ('*' | '+' | '?' | '{')) => Err(format!("has a {sign} that repeats nothing")),
            Some(c) => {
                let mut out = String::new();
                push_literal(&mut out, c, false);
                Ok((out, false))
            }
        }
    }

    fn group(&mut self) -> Result<Part, String> {
        if self.from == Dialect::Ours && self.eat("?m:$)") {
            return Ok(("$".to_owned(), true));
        }
        let dot_all = if self.from == Dialect::Ours { "?s:" } else { "?m:" };
        let dot_all_target = if self.from == Dialect::Ours { "?m:" } else { "?s:" };
        let mut looks = false;
        let open = if self.eat(dot_all) {
            dot_all_target
        } else if let Some(kind) = ["?:", "?>"].into_iter().find(|kind| self.eat(kind)) {
            kind
        } else if let Some(kind) = ["?=", "?!", "?<=", "?<!"].into_iter().find(|kind| self.eat(kind)) {
            looks = true;
            kind
        } else if self.eat("?i:") {
            self.folds_case = true;
            "?i:"
        } else if self.eat("?-i:") {
            "?-i:"
        } else if self.rest.starts_with(['?', '*']) {
            let shown: String = self.rest.chars().take(4).collect();
            return Err(format!(
                "has the group {}, which cannot be carried over",
                excerpt(&format!("({shown}"))
            ));
        } else {
            "?:"
        };
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("nests groups more than {MAX_DEPTH} deep"));
        }
        let (inside, empty) = self.alternatives()?;
        self.depth -= 1;
        if !self.eat(")") {
            return Err("has a group that is not closed".to_owned());
        }
        Ok((format!("({open}{inside})"), empty || looks))
    }

    fn escape(&mut self) -> Result<Part, String> {
        if self.eat("A") {
            return Ok((r"\A".to_owned(), true));
        }
        if self.eat("z") {
            return Ok((r"\z".to_owned(), true));
        }
        let mut out = String::new();
        match self.escaped()? {
            Escaped::Char(c) => push_literal(&mut out, c, false),
            Escaped::Class(class) => out = class,
            Escaped::Word(negated) => {
                out = format!("[{}{}]", if negated { "^" } else { "" }, self.word());
            }
        }
        Ok((out, false))
    }

    /// The members of `\w`, which the target's own `\w` does not have.
    fn word(&self) -> &'static str {
        match self.from {
            Dialect::Oniguruma => WORD_ONIGURUMA,
            Dialect::Ours => WORD_OURS,
        }
    }

    /// What follows a backslash, in a class or out of one.
    fn escaped(&mut self) -> Result<Escaped, String> {
        let c = self.next().ok_or("ends in a backslash")?;
        let code =
            |digits: &str| u32::from_str_radix(digits, 16).ok().and_then(char::from_u32).map(Escaped::Char);
        Ok(match c {
            's' | 'S' | 'd' | 'D' => Escaped::Class(format!("\\{c}")),
            'w' | 'W' => Escaped::Word(c == 'W'),
            'n' => Escaped::Char('\n'),
            'r' => Escaped::Char('\r'),
            't' => Escaped::Char('\t'),
            'f' => Escaped::Char('\x0C'),
            'v' => Escaped::Char('\x0B'),
            'a' => Escaped::Char('\x07'),
            'p' | 'P' => {
                let end = self.rest.find('}').filter(|_| self.rest.starts_with('{'));
                let name = end.map(|end| &self.rest[1..end]);
                let known = PROPERTIES.iter().find(|known| name.is_some_and(|name| name == **known));
                let (Some(end), Some(known)) = (end, known) else {
                    let shown = name.map_or_else(String::new, |name| format!("{{{name}}}"));
                    return Err(format!("has the property \\{c}{shown}, which is not known in both engines"));
                };
                self.rest = &self.rest[end + 1..];
                Escaped::Class(format!("\\{c}{{{known}}}"))
            }
            'x' | 'u' => {
                let braced =
                    self.rest.strip_prefix('{').filter(|_| c == 'x').and_then(|rest| rest.split_once('}'));
                let plain = self.rest.get(..if c == 'x' { 2 } else { 4 });
                let hex = |digits: &&str| digits.bytes().all(|byte| byte.is_ascii_hexdigit());
                let found = if let Some((digits, rest)) = braced.filter(|(digits, _)| hex(digits)) {
                    self.rest = rest;
                    code(digits)
                } else if let Some(digits) = plain.filter(hex) {
                    self.rest = &self.rest[digits.len()..];
                    // Two digits are a byte of UTF-8 there.
                    code(digits).filter(|_| c == 'u' || self.from == Dialect::Ours || digits < "80")
                } else {
                    None
                };
                found
                    .ok_or_else(|| format!("has a \\{c} without the code of a character; write \\x{{E9}}"))?
            }
            c if c.is_ascii_punctuation() && !matches!(c, '<' | '>' | '`' | '\'') || c == ' ' => {
                Escaped::Char(c)
            }
            '\'' | '`' if self.from == Dialect::Ours => Escaped::Char(c),
            c => return Err(format!("has \\{c}, which cannot be carried over")),
        })
    }

    fn class(&mut self) -> Result<String, String> {
        let mut out = "[".to_owned();
        if self.eat("^") {
            out.push('^');
        }
        if self.rest.starts_with(']') {
            return Err("has a class that begins with ]; write \\]".to_owned());
        }
        // The character that a - could make a range of.
        let mut first: Option<char> = None;
        loop {
            let c = self.next().ok_or("has a class that is not closed")?;
            match c {
                ']' => break,
                '[' => return Err("has a [ inside a class; write \\[".to_owned()),
                '&' | '~' if self.rest.starts_with(c) => return Err(format!("has {c}{c} inside a class")),
                '-' if first.is_some() && !self.rest.starts_with(']') => {
                    let last = match self.next() {
                        Some('\\') => match self.escaped()? {
                            Escaped::Char(c) => c,
                            _ => return Err("has a range that ends in a class".to_owned()),
                        },
                        Some(c) if !matches!(c, '[' | '-') => c,
                        _ => return Err("has a range that ends in nothing".to_owned()),
                    };
                    if first.is_some_and(|first| first > last) {
                        return Err("has a range that ends before it begins".to_owned());
                    }
                    out.push('-');
                    push_literal(&mut out, last, true);
                    first = None;
                }
                '\\' => match self.escaped()? {
                    Escaped::Char(c) => {
                        push_literal(&mut out, c, true);
                        first = Some(c);
                    }
                    Escaped::Class(class) => {
                        out.push_str(&class);
                        first = None;
                    }
                    Escaped::Word(false) => {
                        out.push_str(self.word());
                        first = None;
                    }
                    Escaped::Word(true) => return Err("has \\W inside a class".to_owned()),
                },
                '-' if !(out.ends_with(['[', '^']) || self.rest.starts_with(']')) => {
                    return Err("has a - that makes no range; write \\-".to_owned());
                }
                c => {
                    push_literal(&mut out, c, true);
                    first = Some(c);
                }
            }
        }
        out.push(']');
        Ok(out)
    }
}

enum Escaped {
    Char(char),
    Class(String),
    Word(bool),
}

/// A hexadecimal digit.
fn hex_digit(value: u32) -> char {
    char::from_digit(value, 16).unwrap_or('0').to_ascii_uppercase()
}

/// Appends `c` so that both engines take it for itself, in a class or out of one.
fn push_literal(out: &mut String, c: char, in_class: bool) {
    let special = if in_class { r"\[]^-&~" } else { r"\.+*?()|[]{}^$" };
    match c {
        '\n' => out.push_str(r"\n"),
        '\r' => out.push_str(r"\r"),
        '\t' => out.push_str(r"\t"),
        c if c.is_ascii_control() => {
            out.extend(['\\', 'x', hex_digit(c as u32 >> 4), hex_digit(c as u32 & 15)]);
        }
        c => {
            if special.contains(c) {
                out.push('\\');
            }
            out.push(c);
        }
    }
}
