//! Sorted runs of counted pre-tokens: in memory or on disk, written once, read in order, merged.
//!
//! An entry is written as numbers of variable length: how many bytes it shares with the one before, how many follow,
//! these bytes, its count, its place. An entry that shares nothing and has no bytes is the end; behind it stand the
//! number of entries and the sum of their counts.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};

/// A pre-token longer than this is no pre-token but a damaged file.
const LONGEST: u64 = 1 << 40;

/// One entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) bytes: Vec<u8>,
    pub(super) count: u64,
    /// Smaller for what appeared first: the stretch of text (upper half) and the place among what is new in it.
    pub(super) place: u64,
}

/// Writes entries, which must come in the order of their bytes.
pub(super) struct Writer<W> {
    pub(super) out: W,
    last: Vec<u8>,
    entries: u64,
    total: u64,
}

impl<W: Write> Writer<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out, last: Vec::new(), entries: 0, total: 0 }
    }

    pub(super) fn push(&mut self, bytes: &[u8], count: u64, place: u64) -> io::Result<()> {
        let shared = self.last.iter().zip(bytes).take_while(|(a, b)| a == b).count();
        number(&mut self.out, shared as u64)?;
        number(&mut self.out, (bytes.len() - shared) as u64)?;
        self.out.write_all(&bytes[shared..])?;
        number(&mut self.out, count)?;
        number(&mut self.out, place)?;
        self.last.truncate(shared);
        self.last.extend_from_slice(&bytes[shared..]);
        self.entries += 1;
        self.total =
            self.total.checked_add(count).ok_or_else(|| io::Error::other("counts beyond 64 bits"))?;
        Ok(())
    }

    /// Writes the end. Gives back what was written to, the number of entries and the sum of their counts.
    pub(super) fn finish(mut self) -> io::Result<(W, u64, u64)> {
        for value in [0, 0, self.entries, self.total] {
            number(&mut self.out, value)?;
        }
        Ok((self.out, self.entries, self.total))
    }
}

fn number(out: &mut impl Write, mut value: u64) -> io::Result<()> {
    let mut bytes = [0; 10];
    let mut length = 0;
    loop {
        bytes[length] = value as u8 & 0x7F | if value > 0x7F { 0x80 } else { 0 };
        length += 1;
        value >>= 7;
        if value == 0 {
            return out.write_all(&bytes[..length]);
        }
    }
}

/// Reads entries in order.
pub(super) struct Reader {
    input: Box<dyn BufRead + Send>,
    name: PathBuf,
    /// Added to the places.
    shift: u64,
    pub(super) now: Counted,
    entries: u64,
    total: u64,
}

impl Reader {
    /// A reader of a file named `name` in messages, which stands at the first entry.
    pub(super) fn new(input: Box<dyn BufRead + Send>, name: &Path, shift: u64) -> Self {
        Self { input, name: name.to_path_buf(), shift, now: Counted::default(), entries: 0, total: 0 }
    }

    /// Goes to the next entry; false at the end.
    pub(super) fn advance(&mut self) -> Result<bool> {
        let (shared, length) = (self.number()?, self.number()?);
        if shared == 0 && length == 0 {
            if (self.number()?, self.number()?) != (self.entries, self.total) {
                return Err(self.damaged("its sums are others"));
            }
            return Ok(false);
        }
        if shared > self.now.bytes.len() as u64 || length > LONGEST {
            return Err(self.damaged("a length is impossible"));
        }
        let before = (self.entries > 0).then(|| self.now.bytes.get(shared as usize).copied());
        self.now.bytes.truncate(shared as usize);
        let read = (&mut self.input).take(length).read_to_end(&mut self.now.bytes);
        let read = read.map_err(|error| Error::io(&self.name, error))?;
        let ascends = before.is_none_or(|before| before < self.now.bytes.get(shared as usize).copied());
        let count = self.number()?;
        let place = self.number()?.checked_add(self.shift);
        self.entries += 1;
        match (self.total.checked_add(count), place) {
            (Some(total), Some(place)) if read as u64 == length && ascends && count > 0 => {
                self.total = total;
                (self.now.count, self.now.place) = (count, place);
                Ok(true)
            }
            _ => Err(self.damaged("an entry is impossible")),
        }
    }

    /// Refuses what stands behind the end.
    pub(super) fn expect_end(&mut self) -> Result<()> {
        match self.input.fill_buf() {
            Ok([]) => Ok(()),
            Ok(_) => Err(self.damaged("it goes on behind its end")),
            Err(error) => Err(Error::io(&self.name, error)),
        }
    }

    fn number(&mut self) -> Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let mut byte = [0];
            self.input.read_exact(&mut byte).map_err(|error| match error.kind() {
                io::ErrorKind::UnexpectedEof => self.damaged("it ends too early"),
                _ => Error::io(&self.name, error),
            })?;
            let bits = u64::from(byte[0] & 0x7F);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte[0] < 0x80 {
                return Ok(value);
            }
        }
        Err(self.damaged("a number is too long"))
    }

    fn damaged(&self, what: &str) -> Error {
        Error::format(
            format!("{}: entry {}", self.name.display(), self.entries),
            format!("the counts are damaged: {what}; make them anew or get another copy"),
        )
    }
}

/// A file that is deleted with its last owner, also after an error.
#[derive(Debug)]
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Numbers the names of temporary files.
static NEXT_NAME: AtomicU64 = AtomicU64::new(0);

/// A finished run. A clone shares what was written.
#[derive(Clone, Debug)]
pub(super) struct Run {
    data: Data,
    shift: u64,
    /// How large it is, encoded.
    pub(super) size: u64,
}

#[derive(Clone, Debug)]
enum Data {
    Memory(Arc<[u8]>),
    File(Arc<Temporary>),
}

impl Run {
    /// The run that `fill` writes: to a temporary file in `folder`, or to memory if there is none.
    pub(super) fn write(
        folder: Option<&Path>,
        fill: impl FnOnce(&mut Writer<&mut dyn Write>) -> Result<()>,
    ) -> Result<Self> {
        let name = folder.unwrap_or(Path::new("counts in memory"));
        Self::copy(folder, |out| {
            let mut writer = Writer::new(out);
            fill(&mut writer)?;
            writer.finish().map(drop).map_err(|error| Error::io(name, error))
        })
    }

    /// The run that `fill` writes in its encoded form.
    pub(super) fn copy(
        folder: Option<&Path>,
        fill: impl FnOnce(&mut dyn Write) -> Result<()>,
    ) -> Result<Self> {
        let Some(folder) = folder else {
            let mut data = Vec::new();
            fill(&mut data)?;
            return Ok(Self { size: data.len() as u64, data: Data::Memory(data.into()), shift: 0 });
        };
        let unique = NEXT_NAME.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!("byteloom-counts-{}-{unique}.tmp", std::process::id()));
        let failed = |error| Error::io(&path, error);
        let opened = OpenOptions::new().write(true).create_new(true).open(&path).map_err(failed)?;
        let temporary = Temporary(path.clone());
        let mut out = BufWriter::with_capacity(1 << 16, opened);
        fill(&mut out)?;
        let finished = out.into_inner().map_err(io::IntoInnerError::into_error);
        let size = finished.and_then(|file| file.metadata()).map_err(failed)?.len();
        Ok(Self { data: Data::File(Arc::new(temporary)), shift: 0, size })
    }

    /// Whether it takes memory.
    pub(super) fn in_memory(&self) -> bool {
        matches!(self.data, Data::Memory(_))
    }

    /// The same entries with later places.
    #[must_use]
    pub(super) fn shifted(&self, shift: u64) -> Self {
        Self { shift: self.shift + shift, ..self.clone() }
    }

    pub(super) fn read(&self) -> Result<Reader> {
        Ok(match &self.data {
            Data::Memory(data) => Reader::new(
                Box::new(Cursor::new(Arc::clone(data))),
                Path::new("counts in memory"),
                self.shift,
            ),
            Data::File(file) => {
                let opened = File::open(&file.0).map_err(|error| Error::io(&file.0, error))?;
                Reader::new(Box::new(BufReader::with_capacity(1 << 16, opened)), &file.0, self.shift)
            }
        })
    }
}

/// Entries of several runs in the order of their bytes, each once: counts are summed, the first place holds.
pub(super) struct Merge {
    readers: Vec<Reader>,
    /// The next entry of each reader that has one.
    heads: BinaryHeap<Reverse<(Vec<u8>, usize)>>,
}

impl Merge {
    pub(super) fn new(runs: &[Run]) -> Result<Self> {
        let mut merge = Self { readers: Vec::new(), heads: BinaryHeap::new() };
        for run in runs {
            merge.readers.push(run.read()?);
            merge.advance(merge.readers.len() - 1, Vec::new())?;
        }
        Ok(merge)
    }

    fn advance(&mut self, index: usize, mut head: Vec<u8>) -> Result<()> {
        if self.readers[index].advance()? {
            head.clear();
            head.extend_from_slice(&self.readers[index].now.bytes);
            self.heads.push(Reverse((head, index)));
        }
        Ok(())
    }

    /// Puts the next entry into `entry`; false at the end.
    pub(super) fn next(&mut self, entry: &mut Counted) -> Result<bool> {
        let Some(Reverse((head, index))) = self.heads.pop() else { return Ok(false) };
        let now = &self.readers[index].now;
        (entry.count, entry.place) = (now.count, now.place);
        entry.bytes.clear();
        entry.bytes.extend_from_slice(&head);
        self.advance(index, head)?;
        while self.heads.peek().is_some_and(|Reverse((head, _))| *head == entry.bytes) {
            let Some(Reverse((head, index))) = self.heads.pop() else { break };
            let now = &self.readers[index].now;
            entry.place = entry.place.min(now.place);
            entry.count = super::counts::sum_of_counts(entry.count, now.count)?;
            self.advance(index, head)?;
        }
        Ok(true)
    }
}
