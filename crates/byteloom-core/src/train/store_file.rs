//! Files of counts: ours, which holds everything and is written and read as a stream, and tables of words and counts.
//!
//! Ours is a line of JSON that says what was counted and how, the entries in the order of their bytes, and a SHA-256
//! of both. A table has one pre-token, a tab and its count a line. Backslash, tab, ends of lines and bytes that are
//! not UTF-8 are escaped in it as in Python: `\\`, `\t`, `\n`, `\r`, `\xff`.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::progress::{Hook, Pacer, Progress, Stage};
use super::run::{Run, Writer};
use super::store::{CountConfig, CountFigures, CountStore, push};
use crate::error::{Error, Result};
use crate::pretokenize::PreTokenizer;

/// The version that this module writes, and the newest that it reads.
const VERSION: u64 = 1;
const FORMAT: &str = "byteloom-counts";
const DIGEST: usize = 32;
/// A header is far shorter, even with many special tokens; more is no header.
const LONGEST_HEADER: u64 = 1 << 20;

/// Hashes what passes through.
struct Hashing<T> {
    inner: T,
    hash: Sha256,
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl CountStore {
    /// Writes the file of the counts to `path`. It is complete or not there; write to a temporary name and rename.
    pub fn write_file(&self, path: &Path, hook: &mut Hook<'_>) -> Result<()> {
        write_to(
            path,
            |out, hook| {
                let figures = &self.figures;
                let members: Vec<&str> = self.config.pretokenizer.members().iter().map(pattern_of).collect();
                let header = json!({
                    "format": FORMAT,
                    "version": VERSION,
                    "pattern": members,
                    "special_tokens": self.config.special_tokens,
                    "stretches": self.stretches,
                    "documents": figures.documents,
                    "bytes": figures.bytes,
                    "invalid_bytes": figures.invalid_bytes,
                    "special_tokens_seen": figures.special_tokens_seen,
                    "dropped": figures.dropped,
                    "reading": self.reading,
                });
                let failed = |error| Error::io(path, error);
                let mut out = Hashing { inner: out, hash: Sha256::new() };
                writeln!(out, "{header}").map_err(failed)?;
                let mut writer = Writer::new(out);
                self.each(hook, |entry| push(&mut writer, entry, Some(path)))?;
                let (out, ..) = writer.finish().map_err(failed)?;
                out.inner.write_all(&out.hash.finalize()).map_err(failed)
            },
            hook,
        )
    }

    /// The counts of a file that [`Self::write_file`] wrote; `memory_limit` and `folder` are for what is done next.
    ///
    /// # Errors
    /// [`Error::Format`] for any other file, and for one that was damaged or cut short.
    pub fn read_file(
        path: &Path,
        memory_limit: Option<u64>,
        folder: Option<&Path>,
        hook: &mut Hook<'_>,
    ) -> Result<Self> {
        let name = path.display();
        let failed = |error| Error::io(path, error);
        let file = File::open(path).map_err(failed)?;
        let size = file.metadata().map_err(failed)?.len();
        let mut file = BufReader::with_capacity(1 << 16, file);
        let mut line = Vec::new();
        (&mut file).take(LONGEST_HEADER).read_until(b'\n', &mut line).map_err(failed)?;
        let header: Value = serde_json::from_slice(&line).unwrap_or_default();
        if header["format"] != FORMAT {
            return Err(Error::format(
                format!("{name}: byte 0"),
                "this is no file of pre-token counts: its header is missing",
            ));
        }
        let version = header["version"].as_u64();
        if version != Some(VERSION) {
            let advice = if version > Some(VERSION) { "; a newer byteloom reads it" } else { "" };
            let found = &header["version"];
            return Err(Error::format(
                format!("{name}: version"),
                format!("the file has version {found}, and this byteloom reads {VERSION}{advice}"),
            ));
        }
        let Some(body) = size.checked_sub((line.len() + DIGEST) as u64) else {
            return Err(Error::format(format!("{name}: byte {size}"), "the file ends too early"));
        };
        let (config, stretches, figures, reading) =
            read_header(&header, memory_limit, folder).ok_or_else(|| {
                Error::format(format!("{name}: header"), "a field is missing or of another kind")
            })?;
        let store = Self { stretches, figures, reading, ..Self::new(config?)? };
        let mut hash = Sha256::new();
        hash.update(&line);
        let spill = memory_limit.is_some_and(|limit| body > limit / 2);
        let place =
            if spill { folder.map_or_else(std::env::temp_dir, Path::to_path_buf).into() } else { None };
        let mut pacer = Pacer::new(hook);
        let run = Run::copy(place.as_deref(), |out| {
            let mut left = body;
            let mut block = vec![0; 1 << 16];
            while left > 0 {
                let length = usize::try_from(left).unwrap_or(usize::MAX).min(block.len());
                file.read_exact(&mut block[..length]).map_err(failed)?;
                hash.update(&block[..length]);
                out.write_all(&block[..length]).map_err(failed)?;
                left -= length as u64;
                let progress = || Progress { stage: Stage::Sort, done: body - left, total: Some(body) };
                pacer.spend(length, progress)?;
            }
            Ok(())
        })?;
        let mut digest = [0; DIGEST];
        file.read_exact(&mut digest).map_err(failed)?;
        if hash.finalize().as_slice() != digest {
            return Err(Error::format(
                format!("{name}: sha256"),
                "the file is damaged or cut short: its checksum is another; make it anew or get another copy",
            ));
        }
        // A checksum says that nothing changed, not that it was right.
        let mut entries = run.read()?;
        while entries.advance()? {
            pacer.spend(8, || Progress { stage: Stage::Sort, done: body, total: Some(body) })?;
        }
        entries.expect_end()?;
        Ok(Self { runs: vec![run], ..store })
    }

    /// Writes a table of pre-tokens and counts to `path`. Gives the number of pre-tokens with a sign that is escaped.
    pub fn write_table(&self, path: &Path, hook: &mut Hook<'_>) -> Result<u64> {
        let mut escaped = 0;
        write_to(
            path,
            |out, hook| {
                let mut line = Vec::new();
                self.each(hook, |entry| {
                    line.clear();
                    escape(&entry.bytes, &mut line);
                    escaped += u64::from(line != entry.bytes);
                    line.extend_from_slice(format!("\t{}\n", entry.count).as_bytes());
                    out.write_all(&line).map_err(|error| Error::io(path, error))
                })
            },
            hook,
        )?;
        Ok(escaped)
    }

    /// The counts of such a table. They have no places. Lines may come in any order, and a word more than once.
    ///
    /// # Errors
    /// [`Error::Format`] with the number of the first line that is not a pre-token, a tab and a count.
    pub fn read_table(path: &Path, config: CountConfig, hook: &mut Hook<'_>) -> Result<Self> {
        let failed = |error| Error::io(path, error);
        let mut file = BufReader::with_capacity(1 << 16, File::open(path).map_err(failed)?);
        let store = Self::new(config)?;
        let mut counting = store.counting(1)?;
        let mut line = Vec::new();
        let mut pacer = Pacer::new(hook);
        for number in 1_u64.. {
            line.clear();
            if file.read_until(b'\n', &mut line).map_err(failed)? == 0 {
                break;
            }
            let (bytes, count) = table_line(&line).ok_or_else(|| {
                Error::format(
                    format!("{}: line {number}", path.display()),
                    "must be a pre-token, a tab and a count from 1 on; backslashes and bytes that are not UTF-8 are \
                     escaped as in Python",
                )
            })?;
            counting.add(&bytes, count)?;
            pacer.spend(8, || Progress { stage: Stage::Sort, done: number, total: None })?;
        }
        Ok(Self { stretches: None, ..counting.finish(hook)? })
    }
}

/// Writes a file, and takes it away again where that fails.
fn write_to(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write, &mut Hook<'_>) -> Result<()>,
    hook: &mut Hook<'_>,
) -> Result<()> {
    let mut out =
        BufWriter::with_capacity(1 << 16, File::create(path).map_err(|error| Error::io(path, error))?);
    let done = fill(&mut out, hook);
    let flushed = out.into_inner().map_err(io::IntoInnerError::into_error).and_then(|file| file.sync_all());
    let outcome = done.and(flushed.map_err(|error| Error::io(path, error)));
    if outcome.is_err() {
        let _ = std::fs::remove_file(path);
    }
    outcome
}

/// A pattern by its name or, where it has none, as a regex.
fn pattern_of(pretokenizer: &PreTokenizer) -> &str {
    pretokenizer.name().unwrap_or(pretokenizer.regex())
}

type Header = (Result<CountConfig>, Option<u64>, CountFigures, Value);

fn read_header(header: &Value, memory_limit: Option<u64>, folder: Option<&Path>) -> Option<Header> {
    let strings = |name: &str| -> Option<Vec<String>> {
        header[name].as_array()?.iter().map(|value| value.as_str().map(str::to_owned)).collect()
    };
    let special_tokens = strings("special_tokens")?;
    let members: Result<Vec<PreTokenizer>> =
        strings("pattern")?.iter().map(|pattern| PreTokenizer::new(pattern)).collect();
    let config = members.and_then(PreTokenizer::sequence).map(|pretokenizer| CountConfig {
        pretokenizer,
        special_tokens,
        memory_limit,
        folder: folder.map(Path::to_path_buf),
    });
    let number = |name: &str| header[name].as_u64();
    let figures = CountFigures {
        documents: number("documents")?,
        bytes: number("bytes")?,
        invalid_bytes: number("invalid_bytes")?,
        special_tokens_seen: number("special_tokens_seen")?,
        dropped: number("dropped")?,
    };
    let stretches = match &header["stretches"] {
        Value::Null => None,
        value => Some(value.as_u64().filter(|&stretches| stretches <= u32::MAX.into())?),
    };
    // Files of before have none.
    let reading =
        Some(header["reading"].clone()).filter(|reading| reading.is_null() || reading.is_object())?;
    Some((config, stretches, figures, reading))
}

fn escape(bytes: &[u8], line: &mut Vec<u8>) {
    for chunk in bytes.utf8_chunks() {
        for byte in chunk.valid().bytes() {
            match byte {
                b'\\' => line.extend_from_slice(b"\\\\"),
                b'\t' => line.extend_from_slice(b"\\t"),
                b'\n' => line.extend_from_slice(b"\\n"),
                b'\r' => line.extend_from_slice(b"\\r"),
                _ => line.push(byte),
            }
        }
        for byte in chunk.invalid() {
            line.extend_from_slice(format!("\\x{byte:02x}").as_bytes());
        }
    }
}

/// The pre-token and the count of a line.
fn table_line(line: &[u8]) -> Option<(Vec<u8>, u64)> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let tab = line.iter().position(|&byte| byte == b'\t')?;
    let count = std::str::from_utf8(&line[tab + 1..]).ok()?.parse().ok().filter(|&count| count > 0)?;
    let mut bytes = Vec::with_capacity(tab);
    let mut rest = &line[..tab];
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let (&sign, after) = rest.split_first()?;
        rest = after;
        bytes.push(match sign {
            b'\\' => b'\\',
            b't' => b'\t',
            b'n' => b'\n',
            b'r' => b'\r',
            b'x' => {
                let (digits, after) = rest.split_at_checked(2)?;
                rest = after;
                u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?
            }
            _ => return None,
        });
    }
    (!bytes.is_empty()).then_some((bytes, count))
}
