//! Verdicts kept on disk under what they belong to, so that they survive a restart.
//!
//! One file per answer, named by its meaning: a line with the form, the meaning and a checksum,
//! then the answer. The checksum covers the form, the meaning, the version of this tool and the
//! answer, so that an entry that was changed, renamed or written by another version is not
//! believed; it is removed. `unknown` and `error` are never kept: more time or memory may change
//! them.

use crate::meaning::Meaning;
use crate::{platform, private};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zonelens_analysis::coverage::Coverage;
use zonelens_analysis::report::{QueryReport, Verdict};

/// Starts every entry; changes whenever their form does.
const FORMAT: &str = "zonelens-result-2";
/// Entries kept; the oldest go first.
const MAX_ENTRIES: usize = 2000;
/// A larger answer is not worth its place.
const MAX_ENTRY_BYTES: usize = 8 << 20;

/// The results on disk; does nothing when there is no place for them.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    directory: Option<PathBuf>,
    version: Arc<str>,
}

impl Cache {
    /// In `ZONELENS_CACHE_DIR`, else where the platform keeps caches. `version` is that of this
    /// tool.
    pub(crate) fn from_environment(version: &str) -> Cache {
        let directory = base_directory().map(|base| base.join("results"));
        Cache {
            directory,
            version: version.into(),
        }
    }

    fn path(&self, meaning: Meaning) -> Option<PathBuf> {
        let directory = self.directory.as_ref()?;
        Some(directory.join(format!("{}.json", meaning.to_hex())))
    }

    /// The kept answer, if there is one. What is there and is no entry of ours goes.
    pub(crate) fn load(&self, meaning: Meaning) -> Option<QueryReport> {
        self.find(meaning, is_final)
    }

    /// What a model never does, if that is kept.
    pub(crate) fn load_coverage(&self, meaning: Meaning) -> Option<Coverage> {
        self.find(meaning, |coverage: &Coverage| coverage.complete)
    }

    fn find<T: DeserializeOwned>(&self, meaning: Meaning, is_good: fn(&T) -> bool) -> Option<T> {
        let path = self.path(meaning)?;
        path.symlink_metadata().ok()?;
        let bytes = private::read(&path, MAX_ENTRY_BYTES as u64);
        let report = bytes
            .and_then(|bytes| self.entry(meaning, &bytes))
            .filter(is_good);
        if report.is_none() {
            let _ = std::fs::remove_file(path);
        }
        report
    }

    fn entry<T: DeserializeOwned>(&self, meaning: Meaning, bytes: &[u8]) -> Option<T> {
        let end = bytes.iter().position(|b| *b == b'\n')?;
        let (line, report) = (&bytes[..end], &bytes[end + 1..]);
        if line != self.header(meaning, report).as_bytes() {
            return None;
        }
        serde_json::from_slice(report).ok()
    }

    fn header(&self, meaning: Meaning, report: &[u8]) -> String {
        let mut hasher = Sha256::new();
        let meaning = meaning.to_hex();
        for part in [
            FORMAT.as_bytes(),
            meaning.as_bytes(),
            self.version.as_bytes(),
            report,
        ] {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        let sum: String = hasher
            .finalize()
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect();
        format!("{FORMAT} {meaning} {sum}")
    }

    /// Keeps an answer. A failure is not reported: the cache is only an optimisation.
    pub(crate) fn store(&self, meaning: Meaning, report: &QueryReport) {
        if let Some(path) = self.path(meaning)
            && is_final(report)
        {
            let _ = self.write(&path, meaning, report);
        }
    }

    /// Keeps what a model never does, if everything was explored.
    pub(crate) fn store_coverage(&self, meaning: Meaning, coverage: &Coverage) {
        if let Some(path) = self.path(meaning)
            && coverage.complete
        {
            let _ = self.write(&path, meaning, coverage);
        }
    }

    fn write(&self, path: &Path, meaning: Meaning, report: &impl Serialize) -> std::io::Result<()> {
        let report = serde_json::to_vec(report)?;
        let mut bytes = self.header(meaning, &report).into_bytes();
        bytes.push(b'\n');
        bytes.extend(report);
        if bytes.len() > MAX_ENTRY_BYTES {
            return Ok(());
        }
        private::write(path, &bytes, false)
    }

    /// Removes the oldest entries beyond the limit, and what was left half written.
    pub(crate) fn prune(&self) {
        if let Some(directory) = &self.directory {
            private::sweep(directory);
        }
        let mut entries = self.entries();
        entries.sort_by_key(|path| {
            let modified = std::fs::symlink_metadata(path).and_then(|m| m.modified());
            std::cmp::Reverse(modified.ok())
        });
        for path in entries.iter().skip(MAX_ENTRIES) {
            let _ = std::fs::remove_file(path);
        }
    }

    /// Removes all entries.
    pub(crate) fn clear(&self) {
        for path in self.entries() {
            let _ = std::fs::remove_file(path);
        }
    }

    /// Files that are named as entries are; nothing else in the directory is touched.
    fn entries(&self) -> Vec<PathBuf> {
        let read = self
            .directory
            .as_ref()
            .and_then(|d| std::fs::read_dir(d).ok());
        let ours = |path: &PathBuf| {
            let name = path.file_stem().and_then(|n| n.to_str()).unwrap_or("");
            path.extension().is_some_and(|e| e == "json")
                && name.len() == 32
                && name.bytes().all(|b| b.is_ascii_hexdigit())
        };
        let paths = read.into_iter().flatten().flatten().map(|e| e.path());
        paths.filter(ours).collect()
    }
}

fn is_final(report: &QueryReport) -> bool {
    matches!(report.verdict, Verdict::Satisfied | Verdict::Violated)
}

/// Where this tool keeps what it can do without: `ZONELENS_CACHE_DIR`, else the platform's place.
pub(crate) fn base_directory() -> Option<PathBuf> {
    platform::folder("ZONELENS_CACHE_DIR")
        .or_else(|| Some(platform::cache_directory()?.join("zonelens")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fresh(name: &str) -> Cache {
        let base =
            std::env::temp_dir().join(format!("zonelens-cache-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&base);
        Cache {
            directory: Some(base.join("results")),
            version: "1".into(),
        }
    }

    fn kept(cache: &Cache) -> (Meaning, PathBuf) {
        let meaning = Meaning::of_bytes([7; 16]);
        let report = QueryReport::without_run("A[] x", 1, Verdict::Satisfied, None);
        cache.store(meaning, &report);
        assert_eq!(cache.load(meaning).expect("kept").query, "A[] x");
        (meaning, cache.path(meaning).expect("a place"))
    }

    fn gone(cache: &Cache) {
        let base = cache.directory.as_ref().and_then(|d| d.parent());
        let _ = std::fs::remove_dir_all(base.expect("a parent"));
    }

    #[test]
    fn a_changed_entry_is_dropped() {
        let cache = fresh("changed");
        let (meaning, path) = kept(&cache);
        let text = std::fs::read_to_string(&path).expect("readable");
        let changed = text.replace("\"satisfied\"", "\"violated\"");
        assert_ne!(text, changed);
        std::fs::write(&path, changed).expect("written");
        assert!(cache.load(meaning).is_none());
        assert!(!path.exists());
        // An entry under another name, and one of another version.
        let other = Meaning::of_bytes([8; 16]);
        kept(&cache);
        std::fs::copy(&path, cache.path(other).expect("a place")).expect("copied");
        assert!(cache.load(other).is_none());
        assert!(cache.load(meaning).is_some());
        let newer = Cache {
            version: "2".into(),
            ..cache.clone()
        };
        assert!(newer.load(meaning).is_none());
        gone(&cache);
    }

    #[test]
    #[cfg(unix)]
    fn only_small_regular_files_are_read() {
        let cache = fresh("regular");
        let (meaning, path) = kept(&cache);
        let good = std::fs::read(&path).expect("readable");
        let elsewhere = path.with_file_name("elsewhere");
        std::fs::write(&elsewhere, &good).expect("written");
        std::fs::remove_file(&path).expect("removed");
        std::os::unix::fs::symlink(&elsewhere, &path).expect("linked");
        assert!(cache.load(meaning).is_none());
        assert!(elsewhere.exists(), "the link goes, not what it leads to");
        assert!(path.symlink_metadata().is_err());
        // Would be read for ever, or waited for.
        std::os::unix::fs::symlink("/dev/zero", &path).expect("linked");
        assert!(cache.load(meaning).is_none());
        let fifo = std::process::Command::new("mkfifo").arg(&path).status();
        if fifo.is_ok_and(|s| s.success()) {
            assert!(cache.load(meaning).is_none());
        }
        let mut large = good.clone();
        large.resize(MAX_ENTRY_BYTES + 1, b' ');
        std::fs::write(&path, large).expect("written");
        assert!(cache.load(meaning).is_none());
        // A directory that is a link is no place to keep results in.
        let directory = cache.directory.clone().expect("a place");
        let real = directory.with_file_name("real");
        std::fs::rename(&directory, &real).expect("moved");
        std::os::unix::fs::symlink(&real, &directory).expect("linked");
        std::fs::write(real.join(path.file_name().expect("a name")), &good).expect("written");
        assert!(cache.load(meaning).is_none());
        gone(&cache);
    }

    #[test]
    #[cfg(unix)]
    fn nobody_else_can_read_them() {
        use std::os::unix::fs::PermissionsExt;
        let cache = fresh("modes");
        let (_, path) = kept(&cache);
        let mode = |path: &Path| path.metadata().expect("there").permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        let directory = path.parent().expect("a directory");
        assert_eq!(mode(directory), 0o700);
        std::fs::set_permissions(directory, std::fs::Permissions::from_mode(0o755)).expect("set");
        kept(&cache);
        assert_eq!(mode(directory), 0o700);
        gone(&cache);
    }

    #[test]
    fn what_was_left_half_written_goes() {
        let cache = fresh("stale");
        let (_, path) = kept(&cache);
        let old = path.with_extension("json.1-1.tmp");
        let new = path.with_extension("json.1-2.tmp");
        for path in [&old, &new] {
            std::fs::write(path, "half").expect("written");
        }
        let hour = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
        let file = std::fs::File::options().write(true).open(&old);
        file.and_then(|f| f.set_modified(hour)).expect("set");
        cache.prune();
        assert!(!old.exists() && new.exists() && path.exists());
        gone(&cache);
    }
}
