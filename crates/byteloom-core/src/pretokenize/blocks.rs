//! The pre-tokens of a text, a window at a time.

use super::regex::Progress;
use super::{Engine, PreTokenizer, SimdPath, Window, vector};
use crate::error::Result;

/// How many pre-tokens [`Blocks::next`] gives at most.
pub const BLOCK: usize = 1024;

/// The pre-tokens of one text, in blocks.
#[derive(Debug)]
pub struct Blocks<'a> {
    /// What cuts the text; of a sequence, its first member.
    cursor: Cursor<'a>,
    /// The other members of a sequence, each with the piece of the one before it that it is at.
    stages: Vec<Stage<'a>>,
    /// How far the windows of a sequence have got.
    position: usize,
    /// A piece of a sequence that did not fit into the window before: its end.
    left_over: Option<usize>,
    /// What [`Self::next`] has not handed on yet, and how many of its ends it did hand on.
    window: Window,
    given: usize,
}

impl<'a> Blocks<'a> {
    pub(super) fn new(pretokenizer: &'a PreTokenizer, path: Option<SimdPath>, text: &'a [u8]) -> Self {
        let members = pretokenizer.members();
        Self {
            cursor: Cursor::new(&members[0], path, text),
            stages: members[1..].iter().map(|member| Stage::new(member, path)).collect(),
            position: 0,
            left_over: None,
            window: Window::default(),
            given: 0,
        }
    }

    /// Replaces `window` by the next stretch: about [`super::WINDOW_BYTES`] of text; longer only where one pre-token is.
    ///
    /// Returns false when the text is used up; `window` is empty then. Its `Vec` is used again, so no call allocates
    /// once it has grown. Only a custom regex can fail: it ran out of steps.
    pub fn next_window(&mut self, window: &mut Window) -> Result<bool> {
        let ends = self.window.ends.get(self.given..).unwrap_or_default();
        if let Some(&end) = ends.last() {
            // `next` was at work before.
            let from = self.window.ends[..self.given].last().copied().unwrap_or(0);
            window.begin(self.window.start + from as usize);
            window.ends.extend(ends.iter().map(|end| end - from));
            window.end = self.window.start + end as usize;
            self.given = self.window.ends.len();
            return Ok(true);
        }
        self.fill(window)
    }

    fn fill(&mut self, window: &mut Window) -> Result<bool> {
        if self.stages.is_empty() {
            return self.cursor.next_window(window);
        }
        window.begin(self.position);
        loop {
            let end = match self.left_over.take() {
                Some(end) => end,
                None => match self.next_piece()? {
                    Some(end) => end,
                    None => break,
                },
            };
            if !window.take(end) {
                self.left_over = Some(end);
                break;
            }
        }
        self.position = window.end;
        Ok(window.end > window.start)
    }

    /// The end of the next piece of the last stage.
    fn next_piece(&mut self) -> Result<Option<usize>> {
        let last = self.stages.len();
        // Level 0 is the cursor, level n stage n - 1. The deepest level that has a piece left goes on.
        let mut level = last;
        loop {
            let piece = match level.checked_sub(1) {
                None => self.cursor.next_piece()?,
                Some(stage) => self.stages[stage].next()?,
            };
            match piece {
                Some((piece, start)) if level == last => return Ok(Some(start + piece.len())),
                Some((piece, start)) => {
                    self.stages[level].begin(piece, start);
                    level += 1;
                }
                None if level == 0 => return Ok(None),
                None => level -= 1,
            }
        }
    }

    /// Replaces `ends` by the ends (byte offsets in the text) of the next pre-tokens, at most [`BLOCK`].
    ///
    /// Returns false when the text is used up. A pre-token starts where the one before it ended, the first at 0.
    /// Only a custom regex can fail: it ran out of steps.
    pub fn next(&mut self, ends: &mut Vec<usize>) -> Result<bool> {
        ends.clear();
        if self.given == self.window.ends.len() {
            self.given = 0;
            let mut window = std::mem::take(&mut self.window);
            let more = self.fill(&mut window);
            self.window = window;
            if !more? {
                return Ok(false);
            }
            if self.window.ends.is_empty() {
                ends.push(self.window.end);
                return Ok(true);
            }
        }
        let rest = &self.window.ends[self.given..];
        let part = &rest[..rest.len().min(BLOCK)];
        ends.extend(part.iter().map(|&end| self.window.start + end as usize));
        self.given += part.len();
        Ok(true)
    }
}

/// One pattern, which is no sequence, at work on one text.
#[derive(Debug)]
struct Cursor<'a> {
    member: &'a PreTokenizer,
    /// What a scanner runs on, where that is forced.
    path: Option<SimdPath>,
    text: &'a [u8],
    /// How far the text is cut and handed on.
    handed_on: usize,
    /// The state of a custom regex, made at the first call.
    progress: Option<Progress<'a>>,
    /// Ends that a custom regex found, and how many of them were handed on.
    found: Vec<usize>,
    given: usize,
    /// The same for pieces taken one by one.
    window: Window,
    taken: usize,
    last: usize,
}

impl<'a> Cursor<'a> {
    fn new(member: &'a PreTokenizer, path: Option<SimdPath>, text: &'a [u8]) -> Self {
        Self {
            member,
            path,
            text,
            handed_on: 0,
            progress: None,
            found: Vec::new(),
            given: 0,
            window: Window::default(),
            taken: 0,
            last: 0,
        }
    }

    /// Goes on with another text.
    fn begin(&mut self, text: &'a [u8]) {
        if let Engine::Regex(_) = self.member.engine {
            self.progress = Some(Progress::after(self.progress.take(), text));
        }
        self.text = text;
        (self.handed_on, self.given, self.taken, self.last) = (0, 0, 0, 0);
        self.found.clear();
        self.window.begin(0);
    }

    fn next_window(&mut self, window: &mut Window) -> Result<bool> {
        window.begin(self.handed_on);
        if self.handed_on >= self.text.len() {
            return Ok(false);
        }
        match &self.member.engine {
            Engine::Scanner(scheme) => {
                let left = self.text.len() - self.handed_on;
                let path = self.path.unwrap_or_else(|| self.member.path.for_length(left));
                vector::fill(*scheme, path, self.text, window);
            }
            Engine::Regex(engine) => {
                let progress = self.progress.get_or_insert_with(|| Progress::new(self.text));
                loop {
                    if self.given == self.found.len() {
                        self.found.clear();
                        self.given = 0;
                        engine.fill(progress, &mut self.found)?;
                    }
                    let Some(&end) = self.found.get(self.given) else { break };
                    if !window.take(end) {
                        break;
                    }
                    self.given += 1;
                }
            }
            // Members of a sequence are none; as a whole, it would be one pre-token.
            Engine::Sequence(_) => drop(window.take(self.text.len())),
        }
        self.handed_on = window.end;
        Ok(window.end > window.start)
    }

    /// The next pre-token and where it begins; `None` when the text is used up.
    fn next_piece(&mut self) -> Result<Option<(&'a [u8], usize)>> {
        if self.taken == self.window.ends.len() {
            let mut window = std::mem::take(&mut self.window);
            let more = self.next_window(&mut window);
            self.window = window;
            self.taken = 0;
            if !more? {
                return Ok(None);
            }
        }
        let window = &self.window;
        let end = window.ends.get(self.taken).map_or(window.end, |&end| window.start + end as usize);
        self.taken = (self.taken + 1).min(window.ends.len());
        let start = std::mem::replace(&mut self.last, end);
        Ok(Some((&self.text[start..end], start)))
    }
}

/// One member of a sequence at work on one piece of the member before it.
#[derive(Debug)]
struct Stage<'a> {
    cursor: Cursor<'a>,
    /// Where the piece begins in the whole text.
    start: usize,
}

impl<'a> Stage<'a> {
    fn new(member: &'a PreTokenizer, path: Option<SimdPath>) -> Self {
        Self { cursor: Cursor::new(member, path, &[]), start: 0 }
    }

    fn begin(&mut self, piece: &'a [u8], start: usize) {
        self.cursor.begin(piece);
        self.start = start;
    }

    /// The next pre-token of the piece and where it begins in the whole text.
    fn next(&mut self) -> Result<Option<(&'a [u8], usize)>> {
        Ok(self.cursor.next_piece()?.map(|(piece, start)| (piece, self.start + start)))
    }
}
