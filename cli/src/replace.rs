//! Rewrites a file: completely or not at all, and never if it was changed in the meantime.

use std::io::Write;
use std::path::{Path, PathBuf};

/// Replaces `old`, which was read from `path`, by `new`. A file that was changed in the meantime is
/// left unchanged. Permissions, owner and links are kept; `Err` is one sentence.
pub(crate) fn replace(path: &Path, old: &[u8], new: &[u8]) -> Result<(), String> {
    let wrong = |error: std::io::Error| format!("{} cannot be written: {error}", path.display());
    // A link is kept: the file that it points to is written.
    let file = path.canonicalize().map_err(wrong)?;
    let metadata = file.metadata().map_err(wrong)?;
    if metadata.permissions().readonly() {
        return Err(format!(
            "{} is read-only and was not changed",
            path.display()
        ));
    }
    let unchanged = || -> Result<(), String> {
        match std::fs::read(&file).map_err(wrong)? == old {
            true => Ok(()),
            false => Err(format!(
                "{} was changed by another program in the meantime and was not overwritten; run the command again",
                path.display()
            )),
        }
    };
    match beside(&file, &metadata, new) {
        Some(copy) => {
            let done = unchanged().and_then(|()| std::fs::rename(&copy, &file).map_err(wrong));
            if done.is_err() {
                let _ = std::fs::remove_file(&copy);
            }
            done
        }
        // If no such copy can be made (the folder is read-only, or the file has several names), the
        // file is written in place.
        None => unchanged().and_then(|()| std::fs::write(&file, new).map_err(wrong)),
    }
}

/// A file next to `file` with the new text and the same permissions, if it can be created.
fn beside(file: &Path, metadata: &std::fs::Metadata, new: &[u8]) -> Option<PathBuf> {
    if has_other_names(metadata) {
        return None;
    }
    let name = file.file_name()?.to_string_lossy().into_owned();
    let copy = file.with_file_name(format!(".{name}.zonelens-{}", std::process::id()));
    let write = || -> std::io::Result<()> {
        let mut out = std::fs::File::options()
            .write(true)
            .create_new(true)
            .open(&copy)?;
        out.write_all(new)?;
        keep_owner(&copy, metadata)?;
        out.set_permissions(metadata.permissions())?;
        out.sync_all()
    };
    match write() {
        Ok(()) => Some(copy),
        Err(error) => {
            if error.kind() != std::io::ErrorKind::AlreadyExists {
                let _ = std::fs::remove_file(&copy);
            }
            None
        }
    }
}

#[cfg(unix)]
fn has_other_names(metadata: &std::fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(metadata) > 1
}

#[cfg(not(unix))]
fn has_other_names(_metadata: &std::fs::Metadata) -> bool {
    false
}

#[cfg(unix)]
fn keep_owner(copy: &Path, metadata: &std::fs::Metadata) -> std::io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let mine = copy.metadata()?;
    if (mine.uid(), mine.gid()) == (metadata.uid(), metadata.gid()) {
        return Ok(());
    }
    std::os::unix::fs::chown(copy, Some(metadata.uid()), Some(metadata.gid()))
}

#[cfg(not(unix))]
fn keep_owner(_copy: &Path, _metadata: &std::fs::Metadata) -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let path =
            std::env::temp_dir().join(format!("zonelens-replace-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a folder");
        path
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).expect("the folder").flatten();
        let mut out: Vec<String> = entries
            .map(|e| e.file_name().to_string_lossy().into_owned())
            .collect();
        out.sort();
        out
    }

    #[test]
    fn a_file_that_changed_meanwhile_is_left_alone() {
        let folder = folder("changed");
        let file = folder.join("a.xta");
        std::fs::write(&file, "somebody else's").expect("written");
        let refused = replace(&file, b"as it was read", b"fixed").expect_err("refused");
        assert!(
            refused.contains("was changed by another program"),
            "{refused}"
        );
        assert_eq!(std::fs::read(&file).expect("read"), b"somebody else's");
        assert_eq!(names(&folder), ["a.xta"]);
        replace(&file, b"somebody else's", b"fixed").expect("written");
        assert_eq!(std::fs::read(&file).expect("read"), b"fixed");
        assert_eq!(names(&folder), ["a.xta"]);
        let _ = std::fs::remove_dir_all(folder);
    }

    #[cfg(unix)]
    #[test]
    fn rights_links_and_second_names_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = folder("links");
        let file = folder.join("a.xta");
        let read = |path: &Path| std::fs::read(path).expect("read");
        std::fs::write(&file, "1").expect("written");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).expect("rights");
        let link = folder.join("link.xta");
        symlink("a.xta", &link).expect("a link");
        replace(&link, b"1", b"2").expect("written");
        assert!(link.symlink_metadata().expect("metadata").is_symlink());
        assert_eq!(read(&file), b"2");
        let mode = file.metadata().expect("metadata").permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        let second = folder.join("second.xta");
        std::fs::hard_link(&file, &second).expect("a second name");
        replace(&file, b"2", b"3").expect("written");
        assert_eq!(read(&second), b"3");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o440)).expect("rights");
        assert!(replace(&file, b"3", b"4").is_err_and(|e| e.contains("read-only")));
        assert_eq!(read(&file), b"3");
        let _ = std::fs::remove_dir_all(folder);
    }
}
