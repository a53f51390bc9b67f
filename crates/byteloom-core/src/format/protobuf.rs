//! The wire format of Protocol Buffers, as much as a SentencePiece model needs.

use crate::error::{Error, Result};

/// A message: a range of a file, whose offsets errors name.
#[derive(Clone, Copy)]
pub(super) struct Message<'d> {
    file: &'d [u8],
    at: usize,
    end: usize,
}

/// One field of a message.
pub(super) struct Field<'d> {
    /// Its number.
    pub(super) number: u32,
    value: Value<'d>,
    /// Where it begins in the file.
    at: usize,
}

enum Value<'d> {
    Varint(u64),
    Fixed32([u8; 4]),
    Fixed64,
    Bytes(Message<'d>),
}

impl<'d> Message<'d> {
    pub(super) fn new(file: &'d [u8]) -> Self {
        Self { file, at: 0, end: file.len() }
    }

    /// The next field; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Field<'d>>> {
        if self.at == self.end {
            return Ok(None);
        }
        let at = self.at;
        let key = self.varint()?;
        let number = u32::try_from(key >> 3).ok().filter(|number| (1..1 << 29).contains(number));
        let number = number.ok_or_else(|| fault(at, format!("{key} is no key of a field")))?;
        let value = match key & 7 {
            0 => Value::Varint(self.varint()?),
            1 => {
                self.take(8, at)?;
                Value::Fixed64
            }
            2 => {
                let len = self.varint()?;
                let start = self.at;
                self.take(usize::try_from(len).unwrap_or(usize::MAX), at)?;
                Value::Bytes(Self { file: self.file, at: start, end: self.at })
            }
            5 => {
                let start = self.at;
                self.take(4, at)?;
                let mut bytes = [0; 4];
                bytes.copy_from_slice(&self.file[start..self.at]);
                Value::Fixed32(bytes)
            }
            other => return Err(fault(at, format!("field {number} has wire type {other}, which none has"))),
        };
        Ok(Some(Field { number, value, at }))
    }

    fn take(&mut self, len: usize, field_at: usize) -> Result<()> {
        let left = self.end - self.at;
        if len > left {
            return Err(fault(field_at, format!("a field of {len} bytes begins, but only {left} follow")));
        }
        self.at += len;
        Ok(())
    }

    fn varint(&mut self) -> Result<u64> {
        let start = self.at;
        let mut value = 0;
        for shift in (0..70).step_by(7) {
            let Some(&byte) = self.file[..self.end].get(self.at) else {
                return Err(fault(start, "the file or message ends inside a number"));
            };
            self.at += 1;
            if shift == 63 && byte > 1 {
                break;
            }
            value |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(fault(start, "a number has more than 64 bits"))
    }
}

impl<'d> Field<'d> {
    /// The field as a message.
    pub(super) fn message(&self) -> Result<Message<'d>> {
        match self.value {
            Value::Bytes(message) => Ok(message),
            _ => Err(self.wrong("bytes")),
        }
    }

    /// The field as bytes.
    pub(super) fn bytes(&self) -> Result<&'d [u8]> {
        self.message().map(|message| &message.file[message.at..message.end])
    }

    /// The field as text.
    pub(super) fn text(&self) -> Result<&'d str> {
        std::str::from_utf8(self.bytes()?)
            .map_err(|error| self.fault(format!("the text of field {} is not UTF-8: {error}", self.number)))
    }

    /// The field as an integer or a choice.
    pub(super) fn int(&self) -> Result<i64> {
        match self.value {
            Value::Varint(value) => Ok(value.cast_signed()),
            _ => Err(self.wrong("an integer")),
        }
    }

    /// The field as a truth value.
    pub(super) fn flag(&self) -> Result<bool> {
        match self.int()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(self.fault(format!("field {} must be 0 or 1, not {other}", self.number))),
        }
    }

    /// The field as a number.
    pub(super) fn float(&self) -> Result<f32> {
        match self.value {
            Value::Fixed32(bytes) => Ok(f32::from_le_bytes(bytes)),
            _ => Err(self.wrong("a float")),
        }
    }

    /// Where it begins, for messages.
    pub(super) fn place(&self) -> String {
        format!("byte {}", self.at)
    }

    /// An error at this field.
    pub(super) fn fault(&self, message: impl Into<String>) -> Error {
        fault(self.at, message)
    }

    fn wrong(&self, expected: &str) -> Error {
        let found = match self.value {
            Value::Varint(_) => "an integer",
            Value::Fixed32(_) => "four bytes",
            Value::Fixed64 => "eight bytes",
            Value::Bytes(_) => "bytes",
        };
        self.fault(format!("field {} must be {expected}, but it is {found}", self.number))
    }
}

fn fault(at: usize, message: impl Into<String>) -> Error {
    Error::format(format!("byte {at}"), message)
}
