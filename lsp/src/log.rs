//! The log, and what is written when something panics. Never a word of a model: only places in the
//! program.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

static LOG: Mutex<Option<File>> = Mutex::new(None);
static PATH: OnceLock<PathBuf> = OnceLock::new();

static CRASH: Mutex<Option<PathBuf>> = Mutex::new(None);

/// The newest crash report that was not told yet.
pub(crate) fn take_crash() -> Option<PathBuf> {
    CRASH.lock().ok()?.take()
}

/// Where the log is, if one is written.
pub(crate) fn path() -> Option<PathBuf> {
    PATH.get().cloned()
}

/// Opens the log: `file`, else the file named by `ZONELENS_LOG`, else none. Panics go there and
/// into a crash report in `crashes`.
pub(crate) fn start(file: Option<&Path>, crashes: Option<PathBuf>) -> std::io::Result<()> {
    let named = std::env::var_os("ZONELENS_LOG").filter(|v| !v.is_empty());
    let path = file.map(Path::to_owned).or(named.map(PathBuf::from));
    if let Some(path) = path {
        let opened = OpenOptions::new().create(true).append(true).open(&path)?;
        let _ = PATH.set(std::path::absolute(&path).unwrap_or(path));
        if let Ok(mut log) = LOG.lock() {
            *log = Some(opened);
        }
    }
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        usual(panic);
        let place = panic
            .location()
            .map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
        write(&format!("panic at {place}"));
        if let Some(report) = crashes.as_deref().and_then(|d| crash_report(d, &place)) {
            write(&format!("crash report: {}", report.display()));
            if let Ok(mut last) = CRASH.lock() {
                *last = Some(report);
            }
        }
    }));
    Ok(())
}

/// Writes a line with the time; nothing without a log.
pub(crate) fn write(line: &str) {
    if let Ok(mut log) = LOG.lock()
        && let Some(file) = log.as_mut()
    {
        let _ = writeln!(file, "{} {line}", seconds());
    }
}

/// The panic's message is left out: it may quote the text that caused it.
fn crash_report(directory: &Path, place: &str) -> Option<PathBuf> {
    crate::private::directory(directory).ok()?;
    let path = directory.join(format!("crash-{}-{}.txt", seconds(), std::process::id()));
    let backtrace = std::backtrace::Backtrace::force_capture();
    let thread = std::thread::current();
    let text = format!(
        "zonelens {}\npanic at {place}\nthread {}\n\n{backtrace}\n",
        env!("CARGO_PKG_VERSION"),
        thread.name().unwrap_or("without a name")
    );
    crate::private::write(&path, text.as_bytes(), false).ok()?;
    Some(path)
}

fn seconds() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| d.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crash_report_says_where_and_nothing_of_the_model() {
        let directory = std::env::temp_dir().join(format!("zonelens-log-{}", std::process::id()));
        start(None, Some(directory.clone())).expect("started");
        let secret = "int secret_variable;";
        let thread = std::thread::spawn(move || panic!("cannot parse {secret}"));
        assert!(thread.join().is_err());
        let report = take_crash().expect("a report");
        let text = std::fs::read_to_string(&report).expect("readable");
        assert!(text.contains("panic at lsp/src/log.rs:"), "{text}");
        assert!(!text.contains("secret_variable"), "{text}");
        assert_eq!(take_crash(), None);
        std::fs::remove_dir_all(directory).expect("removed");
    }
}
