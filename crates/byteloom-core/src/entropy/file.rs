//! The file of a model: a line of JSON that says what it is, the counts, and a SHA-256 of both.
//!
//! Counts are written list by list as pairs of numbers of variable length: the distance to the key before, less 1, and
//! the count, less 1. Equal models give equal files.

use std::fmt::Write as _;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::counts::{Gram, Grams, context_mask};
use super::{EntropyConfig, EntropyModel};
use crate::error::{Error, Result};

/// The version that this module writes, and the newest that it reads.
pub const VERSION: u64 = 1;

const FORMAT: &str = "byteloom-entropy";
const DIGEST: usize = 32;
/// The header is far shorter; more is no header.
const LONGEST_HEADER: usize = 1 << 12;

impl EntropyModel {
    /// The file of the model.
    pub fn to_bytes(&self) -> Vec<u8> {
        let config = &self.0.config;
        let lists: Vec<usize> = self.0.grams.lists.iter().map(|list| list.len()).collect();
        let header = json!({
            "format": FORMAT,
            "version": VERSION,
            "order": config.order,
            "alpha": config.alpha,
            "smoothing": config.smoothing.as_str(),
            "memory_limit": config.memory_limit,
            "documents": self.0.documents,
            "dropped_contexts": self.0.dropped,
            "grams": lists,
        });
        let mut file = header.to_string().into_bytes();
        file.push(b'\n');
        write_grams(&self.0.grams, &mut file);
        let digest = Sha256::digest(&file);
        file.extend_from_slice(&digest);
        file
    }

    /// The model of a file.
    ///
    /// # Errors
    /// [`Error::Format`] for anything that [`Self::to_bytes`] did not write.
    pub fn from_bytes(file: &[u8]) -> Result<Self> {
        let front = &file[..file.len().min(LONGEST_HEADER)];
        let end = front.iter().position(|&byte| byte == b'\n');
        let parsed: Option<Value> = end.and_then(|end| serde_json::from_slice(&file[..end]).ok());
        let (Some(end), Some(header)) = (end, parsed.filter(|header| header["format"] == FORMAT)) else {
            return Err(Error::format(
                "byte 0",
                "this is no entropy model of byteloom: its header is missing",
            ));
        };
        let version = header["version"].as_u64();
        if version != Some(VERSION) {
            let found = &header["version"];
            let advice = if version > Some(VERSION) { "; a newer byteloom reads it" } else { "" };
            return Err(Error::format(
                "version",
                format!("the file has version {found}, and this byteloom reads {VERSION}{advice}"),
            ));
        }
        let Some((body, digest)) = file.split_last_chunk::<DIGEST>().filter(|(body, _)| body.len() > end)
        else {
            return Err(Error::format(format!("byte {}", file.len()), "the file ends too early"));
        };
        if Sha256::digest(body).as_slice() != digest {
            return Err(Error::format(
                "sha256",
                "the file is damaged or cut short: its checksum is another; make it anew or get another copy",
            ));
        }
        Self::read(&header, &body[end + 1..])
    }

    fn read(header: &Value, mut body: &[u8]) -> Result<Self> {
        let number = |name: &str| {
            header[name].as_u64().ok_or_else(|| {
                Error::format(name, format!("must be a whole number of 0 or more, not {}", header[name]))
            })
        };
        let smoothing = header["smoothing"].as_str().unwrap_or_default().parse();
        let limit = match &header["memory_limit"] {
            Value::Null => None,
            _ => Some(number("memory_limit")?.into()),
        };
        let alpha = header["alpha"].as_f64().unwrap_or(f64::NAN);
        let order = number("order")?;
        let config = smoothing
            .and_then(|smoothing| EntropyConfig::new(order.into(), alpha, smoothing, limit))
            .map_err(|error| Error::format("header", error.to_string()))?;
        let lengths: Option<Vec<u64>> =
            header["grams"].as_array().and_then(|lengths| lengths.iter().map(Value::as_u64).collect());
        let lengths = lengths.filter(|lengths| lengths.len() == config.order).ok_or_else(|| {
            Error::format("grams", format!("must be {} numbers, not {}", config.order, header["grams"]))
        })?;
        let mut grams = Grams::new(config.order);
        let mut total = 0_u64;
        for (length, (list, &wanted)) in grams.lists.iter_mut().zip(&lengths).enumerate() {
            *list = read_list(&mut body, length, wanted, &mut total)?.into();
        }
        if !body.is_empty() {
            return Err(Error::format("end", format!("{} bytes too many", body.len())));
        }
        Ok(Self::with(config, grams, number("documents")?, number("dropped_contexts")?))
    }

    /// A hash of everything that entropies depend on: SHA-256 in hex.
    pub fn fingerprint(&self) -> String {
        let config = &self.0.config;
        let mut text = format!("{} {}", config.order, config.smoothing.as_str()).into_bytes();
        text.extend(config.alpha.to_le_bytes());
        write_grams(&self.0.grams, &mut text);
        Sha256::digest(&text).iter().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }
}

fn write_grams(grams: &Grams, file: &mut Vec<u8>) {
    for (length, list) in grams.lists.iter().enumerate() {
        let mut next = 0;
        for gram in list.iter() {
            let key = packed(gram.key, length);
            write_number(key - next, file);
            write_number(gram.count - 1, file);
            next = key.wrapping_add(1);
        }
    }
}

/// A key without the gap between a context of `length` bytes and the last byte.
fn packed(key: u64, length: usize) -> u64 {
    let context = (key & context_mask(length)).checked_shr(64 - 8 * length as u32).unwrap_or(0);
    context << 8 | key & 0xFF
}

fn unpacked(packed: u64, length: usize) -> u64 {
    (packed >> 8).checked_shl(64 - 8 * length as u32).unwrap_or(0) | packed & 0xFF
}

fn read_list(body: &mut &[u8], length: usize, wanted: u64, total: &mut u64) -> Result<Vec<Gram>> {
    let place = || format!("grams of {} bytes", length + 1);
    // Two numbers take two bytes at least, so that a wrong length cannot ask for memory.
    let Some(wanted) = usize::try_from(wanted).ok().filter(|&wanted| wanted <= body.len() / 2) else {
        return Err(Error::format(place(), format!("{wanted} were announced, more than the file can hold")));
    };
    let limit = u64::MAX >> (8 * (7 - length));
    let mut list = Vec::with_capacity(wanted);
    let mut next = Some(0_u64);
    for index in 0..wanted {
        let gram = (|| {
            let key = next?.checked_add(read_number(body)?).filter(|&key| key <= limit)?;
            let count = read_number(body)?.checked_add(1)?;
            *total = total.checked_add(count).filter(|&total| total <= i64::MAX.cast_unsigned())?;
            next = key.checked_add(1);
            Some(Gram { key: unpacked(key, length), count })
        })();
        list.push(
            gram.ok_or_else(|| Error::format(place(), format!("entry {index} is no string and count")))?,
        );
    }
    Ok(list)
}

/// Seven bits a byte, the lowest first; the upper bit says that more follow.
fn write_number(mut number: u64, file: &mut Vec<u8>) {
    while number >= 0x80 {
        file.push(number as u8 | 0x80);
        number >>= 7;
    }
    file.push(number as u8);
}

fn read_number(body: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = body.split_first()?;
        *body = rest;
        let bits = u64::from(byte & 0x7F);
        if bits << shift >> shift != bits {
            return None;
        }
        number |= bits << shift;
        if byte & 0x80 == 0 {
            // A zero at the end would be a second spelling of the same number.
            return (byte != 0 || shift == 0).then_some(number);
        }
    }
    None
}
