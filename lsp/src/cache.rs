//! Verdicts kept on disk under what they belong to, so that they survive a restart.
//!
//! One file per answer, named by its meaning. Whatever cannot be read, or says something else inside than its name, is
//! as good as not there. `unknown` and `error` are never kept: more time or memory may change them.

use crate::meaning::Meaning;
use crate::platform;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use zonelens_analysis::report::{QueryReport, Verdict};

/// Changes whenever the form of entries does.
const FORMAT: u32 = 1;
/// Entries kept; the oldest go first.
const MAX_ENTRIES: usize = 2000;
/// A larger answer is not worth its place.
const MAX_ENTRY_BYTES: usize = 8 << 20;

#[derive(Serialize, Deserialize)]
struct Entry {
    format: u32,
    meaning: String,
    report: QueryReport,
}

/// The results on disk; does nothing when there is no place for them.
#[derive(Clone, Debug)]
pub struct Cache {
    directory: Option<PathBuf>,
}

impl Cache {
    /// In `ZONELENS_CACHE_DIR`, else where the platform keeps caches.
    pub fn from_environment() -> Cache {
        let directory = base_directory().map(|base| base.join("results"));
        Cache { directory }
    }

    fn path(&self, meaning: Meaning) -> Option<PathBuf> {
        let directory = self.directory.as_ref()?;
        Some(directory.join(format!("{}.json", meaning.to_hex())))
    }

    /// The kept answer, if there is one.
    pub fn load(&self, meaning: Meaning) -> Option<QueryReport> {
        let path = self.path(meaning)?;
        let size = std::fs::metadata(&path).ok()?.len();
        if size > MAX_ENTRY_BYTES as u64 {
            return None;
        }
        let bytes = std::fs::read(path).ok()?;
        let entry: Entry = serde_json::from_slice(&bytes).ok()?;
        let ours = entry.format == FORMAT && entry.meaning == meaning.to_hex();
        (ours && is_final(&entry.report)).then_some(entry.report)
    }

    /// Keeps an answer. Failing to is no reason to bother anybody.
    pub fn store(&self, meaning: Meaning, report: &QueryReport) {
        if let Some(path) = self.path(meaning)
            && is_final(report)
        {
            let _ = write(&path, meaning, report);
        }
    }

    /// Removes the oldest entries beyond the limit.
    pub fn prune(&self) {
        let mut entries = self.entries();
        entries.sort_by_key(|path| {
            let modified = std::fs::metadata(path).and_then(|m| m.modified());
            std::cmp::Reverse(modified.ok())
        });
        for path in entries.iter().skip(MAX_ENTRIES) {
            let _ = std::fs::remove_file(path);
        }
    }

    /// Removes all entries.
    pub fn clear(&self) {
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

/// Writes beside and renames, so that a reader never sees half an entry.
fn write(path: &Path, meaning: Meaning, report: &QueryReport) -> std::io::Result<()> {
    let entry = Entry {
        format: FORMAT,
        meaning: meaning.to_hex(),
        report: report.clone(),
    };
    let bytes = serde_json::to_vec(&entry)?;
    if bytes.len() > MAX_ENTRY_BYTES {
        return Ok(());
    }
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory)?;
    }
    let beside = path.with_extension(format!("{}.tmp", std::process::id()));
    std::fs::write(&beside, bytes)?;
    std::fs::rename(&beside, path)
}

/// Where this tool keeps what it can do without: `ZONELENS_CACHE_DIR`, else the platform's place.
pub fn base_directory() -> Option<PathBuf> {
    platform::folder("ZONELENS_CACHE_DIR")
        .or_else(|| Some(platform::cache_directory()?.join("zonelens")))
}
