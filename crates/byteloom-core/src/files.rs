//! Writing files so that a reader never sees half of one.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};

/// Writes `data` beside `path`, syncs it and renames it into place.
///
/// # Errors
/// [`Error::Io`]; a file that was there before is then untouched.
pub fn write_atomically(path: &Path, data: &[u8]) -> Result<()> {
    // A link stays a link: its target is what changes.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    // A device or a pipe is written to; renaming would put a file in its place.
    if fs::metadata(&target).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return fs::write(&target, data).map_err(|source| Error::io(path, source));
    }
    let temporary = temporary_name(&target);
    write_and_rename(&temporary, &target, data).map_err(|source| {
        let _ = fs::remove_file(&temporary);
        Error::io(path, source)
    })
}

fn temporary_name(target: &Path) -> PathBuf {
    static UNIQUE: AtomicU64 = AtomicU64::new(0);
    let number = UNIQUE.fetch_add(1, Ordering::Relaxed);
    let mut name = OsString::from(".");
    name.push(target.file_name().unwrap_or_default());
    name.push(format!(".{}.{number}.tmp", std::process::id()));
    target.with_file_name(name)
}

fn write_and_rename(temporary: &Path, target: &Path, data: &[u8]) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(temporary)?;
    file.write_all(data)?;
    if let Ok(old) = fs::metadata(target) {
        file.set_permissions(old.permissions())?;
    }
    file.sync_all()?;
    drop(file);
    fs::rename(temporary, target)?;
    // The rename is lasting once the folder is synced; where a folder cannot be opened, as on Windows, it is anyway.
    if let Some(folder) = target.parent().filter(|folder| !folder.as_os_str().is_empty())
        && let Ok(folder) = File::open(folder)
    {
        let _ = folder.sync_all();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_whole_files_and_leaves_nothing_behind() {
        let folder = std::env::temp_dir().join(format!("byteloom-files-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("a b.json");
        write_atomically(&path, b"one").unwrap();
        write_atomically(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert!(write_atomically(&folder.join("no/such/folder"), b"x").is_err());
        assert!(write_atomically(&folder, b"x").is_err());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(&folder).unwrap();
    }
}
