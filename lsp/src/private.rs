//! Files that belong to this user and to nobody else: what the cache keeps.
//!
//! A cache directory may be shared, restored from a backup or prepared by somebody else. So links
//! are not followed, only regular files of this user are read and only up to a limit, and a new
//! file is made by who writes it or not at all.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{Read, Result, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// A temporary file that is older than this was left behind.
const STALE: Duration = Duration::from_secs(600);
/// The end of the names of temporary files.
const TEMPORARY: &str = "tmp";

static NEXT: AtomicU64 = AtomicU64::new(0);

/// Makes a directory that only this user may look into. One that is there already gets those
/// permissions; a link in its place is refused.
pub(crate) fn directory(path: &Path) -> Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)?;
    let found = path.symlink_metadata()?;
    if !found.is_dir() {
        return Err(std::io::Error::other("a link is no place to keep results"));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if found.permissions().mode() & 0o777 != 0o700 {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700))?;
        }
    }
    Ok(())
}

/// The content of a regular file of this user with at most `most` bytes; `None` for anything else.
pub(crate) fn read(path: &Path, most: u64) -> Option<Vec<u8>> {
    // The file is examined through its handle: the file behind the name may change in between.
    let parent = path.parent()?.symlink_metadata().ok()?;
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        // Opening a pipe must not wait for a writer.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits() as i32);
    }
    #[cfg(not(unix))]
    if path.symlink_metadata().ok()?.is_symlink() {
        return None;
    }
    let file = options.open(path).ok()?;
    let found = file.metadata().ok()?;
    if !parent.is_dir() || !found.is_file() || found.len() > most || !is_ours(&found) {
        return None;
    }
    let mut bytes = Vec::with_capacity(found.len() as usize);
    file.take(most + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= most).then_some(bytes)
}

#[cfg(unix)]
fn is_ours(found: &std::fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::uid(found) == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_ours(_: &std::fs::Metadata) -> bool {
    true
}

/// Writes a file that only this user may read. It is written beside and renamed, so that no reader
/// sees half of it.
pub(crate) fn write(path: &Path, bytes: &[u8], read_only: bool) -> Result<()> {
    if let Some(parent) = path.parent() {
        directory(parent)?;
    }
    let (beside, mut file) = temporary(path)?;
    let written = file.write_all(bytes).and_then(|()| {
        if read_only {
            let mut permissions = file.metadata()?.permissions();
            permissions.set_readonly(true);
            file.set_permissions(permissions)?;
        }
        drop(file);
        std::fs::rename(&beside, path)
    });
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    written
}

/// A new file beside `path` that was not there before.
fn temporary(path: &Path) -> Result<(PathBuf, File)> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(
        "{name}.{}-{number}.{TEMPORARY}",
        std::process::id()
    ));
    match options.open(&beside) {
        // Left behind by an earlier process of this number.
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            std::fs::remove_file(&beside)?;
            Ok((beside.clone(), options.open(&beside)?))
        }
        opened => Ok((beside.clone(), opened?)),
    }
}

/// Removes temporary files that were left behind.
pub(crate) fn sweep(directory: &Path) {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    for entry in entries {
        let path = entry.path();
        let modified = entry.metadata().and_then(|m| m.modified());
        let age = modified.map(|m| SystemTime::now().duration_since(m).unwrap_or_default());
        if path.extension().is_some_and(|e| e == TEMPORARY) && age.is_ok_and(|a| a > STALE) {
            let _ = std::fs::remove_file(path);
        }
    }
}
