//! All that differs between platforms: priorities, process limits, child processes, where caches are.
//!
//! | | Linux | other Unix, macOS | Windows |
//! |---|---|---|---|
//! | worker gives way | `nice` | `nice` | started with idle priority |
//! | wall behind the memory limit | `RLIMIT_AS` | `RLIMIT_AS` (macOS does not enforce it) | none |
//! | worker ends with its server | its input closes | its input closes | its input closes |
//! | console window of a worker | there is none | there is none | suppressed |
//! | memory comes back | one arena (GNU libc) | the system's allocator | the system's allocator |
//!
//! Only Linux is tested. Where there is no wall the checker's own limit is all there is.

use std::path::PathBuf;
use tokio::process::Command;

/// Gives way to everything else on the machine: for a worker, about itself.
#[cfg(unix)]
pub fn lowest_priority() {
    // Not being allowed to be nicer is no reason to stop.
    let _ = rustix::process::nice(19);
}

/// Gives way to everything else on the machine: done by who starts the worker.
#[cfg(not(unix))]
pub fn lowest_priority() {}

/// A wall behind the checker's own memory limit: an allocation far beyond it fails, and with it this process.
#[cfg(unix)]
pub fn cap_address_space(limit: u64) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let old = getrlimit(Resource::As);
    // Address space is more than memory: stacks and allocator arenas are reserved without being used.
    let wanted = limit.saturating_mul(2).saturating_add(2 << 30);
    let allowed = old.maximum.map_or(wanted, |m| m.min(wanted));
    let _ = setrlimit(
        Resource::As,
        Rlimit {
            current: Some(allowed),
            maximum: old.maximum,
        },
    );
}

/// A wall behind the checker's own memory limit: not available here.
#[cfg(not(unix))]
pub fn cap_address_space(_limit: u64) {}

/// How GNU libc is told to let memory go.
///
/// It gives every thread an arena of its own and grows what it keeps for later with what was freed before; one small
/// object that lives on then holds megabytes, and a server that holds one keeps forty. With one arena and a fixed bound
/// it keeps little more than it uses, at no measurable cost in time. Both are only read when a process starts, so the
/// server starts itself again in its own place.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const ALLOCATOR: [(&str, &str); 2] = [
    ("MALLOC_ARENA_MAX", "1"),
    ("MALLOC_TRIM_THRESHOLD_", "131072"),
];

/// Lets memory that is free go back to the system; starts this program again in the same process if that takes it.
/// What the user chose stays.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn give_memory_back() {
    use std::os::unix::process::CommandExt;
    if ALLOCATOR
        .iter()
        .any(|(name, _)| std::env::var_os(name).is_some())
    {
        return;
    }
    let mut words = std::env::args_os();
    let (Some(name), Ok(program)) = (words.next(), std::env::current_exe()) else {
        return;
    };
    // Only comes back when it failed, and then the server runs as it is.
    let _failed = std::process::Command::new(program)
        .arg0(name)
        .args(words)
        .envs(ALLOCATOR)
        .exec();
}

/// Lets memory that is free go back to the system: nothing to do here.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn give_memory_back() {}

/// Makes `command` start a process in the background that does not outlive what started it.
pub(crate) fn background(command: &mut Command) -> &mut Command {
    #[cfg(windows)]
    {
        const CREATE_NO_WINDOW: u32 = 0x0800_0000;
        const IDLE_PRIORITY_CLASS: u32 = 0x0000_0040;
        command.creation_flags(CREATE_NO_WINDOW | IDLE_PRIORITY_CLASS);
    }
    // The checker's threads do want arenas of their own.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    for (name, _) in ALLOCATOR {
        command.env_remove(name);
    }
    command.kill_on_drop(true)
}

/// The folder for what a program can do without.
pub(crate) fn cache_directory() -> Option<PathBuf> {
    if cfg!(target_os = "macos") {
        Some(folder("HOME")?.join("Library/Caches"))
    } else if cfg!(windows) {
        folder("LOCALAPPDATA")
    } else {
        folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")))
    }
}

/// The folder an environment variable names; a relative one means nothing to a server.
pub(crate) fn folder(variable: &str) -> Option<PathBuf> {
    let value = std::env::var_os(variable).filter(|v| !v.is_empty())?;
    Some(PathBuf::from(value)).filter(|path| path.is_absolute())
}
