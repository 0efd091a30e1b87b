//! All that differs between platforms: priorities, process limits, child processes, where caches
//! are.
//!
//! | | Linux | other Unix, macOS | Windows |
//! |---|---|---|---|
//! | low priority of workers | `nice` | `nice` | started with idle priority |
//! | hard limit above the memory limit | `RLIMIT_AS` | `RLIMIT_AS` (macOS does not enforce it) | none |
//! | worker ends with its server | its input closes | its input closes | its input closes |
//! | server ends with its client | `pidfd`, `POLLHUP` | asked twice a second, `POLLHUP` | its input closes |
//! | console window of a worker | there is none | there is none | suppressed |
//! | memory comes back | one arena, `malloc_trim` (GNU libc) | the system's allocator | the system's allocator |
//!
//! Only Linux is tested. Without a hard limit, only the checker's own limit applies.

use std::path::PathBuf;
use tokio::process::Command;

/// Gives this process the lowest priority; called by a worker.
#[cfg(unix)]
pub fn lowest_priority() {
    // If the priority cannot be lowered, the worker continues with its own.
    let _ = rustix::process::nice(19);
}

/// Gives this process the lowest priority: here, this is done when the worker is started.
#[cfg(not(unix))]
pub fn lowest_priority() {}

/// A hard limit above the memory limit of the checker: an allocation far beyond it fails, which
/// ends this process.
#[cfg(unix)]
pub fn cap_address_space(limit: u64) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let old = getrlimit(Resource::As);
    // The address space is larger than the memory in use: stacks and allocator arenas are reserved
    // without being used.
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

/// A hard limit above the memory limit of the checker: not available on this platform.
#[cfg(not(unix))]
pub fn cap_address_space(_limit: u64) {}

/// The functions of GNU libc that control how it keeps memory.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code)] // There is no safe way to ask.
mod malloc {
    use std::ffi::c_int;

    /// The parameter for the maximum number of arenas.
    pub(super) const ARENA_MAX: c_int = -8;

    // SAFETY: declared as in malloc.h; both functions take the allocator's locks and only change
    // free memory.
    unsafe extern "C" {
        pub(super) safe fn mallopt(parameter: c_int, value: c_int) -> c_int;
        pub(super) safe fn malloc_trim(pad: usize) -> c_int;
    }
}

/// Makes all threads allocate from one arena, at no measurable cost in time: with one arena per
/// thread, each keeps megabytes that the others could use. Must be called before threads are
/// started.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn share_memory() {
    malloc::mallopt(malloc::ARENA_MAX, 1);
}

/// Returns free memory to the system. GNU libc keeps free memory below a small object that is still
/// in use: 43 MB after a few hundred models of which none is open any more, 19 MB after this call.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn give_memory_back() {
    malloc::malloc_trim(0);
}

/// Makes all threads allocate from one arena: not needed on this platform.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn share_memory() {}

/// Returns free memory to the system: not needed on this platform.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn give_memory_back() {}

/// The polling interval where no event is available.
#[cfg(unix)]
const LOOK_AGAIN: std::time::Duration = std::time::Duration::from_millis(400);

/// Waits until the other end of standard input is closed; returns `false` if that cannot be
/// determined.
#[cfg(unix)]
pub fn input_closed() -> bool {
    use rustix::event::{PollFd, PollFlags, poll};
    let stdin = std::io::stdin();
    loop {
        // No events are requested: a hang-up is always reported, and unread input does not wake the
        // thread.
        let mut fds = [PollFd::new(&stdin, PollFlags::empty())];
        match poll(&mut fds, None) {
            Ok(_) if fds[0].revents().contains(PollFlags::HUP) => return true,
            Err(rustix::io::Errno::INTR) => {}
            // A file, or something that cannot be polled.
            Ok(_) | Err(_) => return false,
        }
    }
}

/// Waits until the other end of standard input is closed: not available on this platform.
#[cfg(not(unix))]
pub fn input_closed() -> bool {
    false
}

/// Waits until a process has ended; returns `false` if it does not exist in the first place: the
/// process id of a client in another container has no meaning here.
#[cfg(unix)]
pub fn process_gone(id: u32) -> bool {
    use rustix::process::{Pid, test_kill_process};
    let Some(pid) = i32::try_from(id).ok().and_then(Pid::from_raw) else {
        return false;
    };
    let there = || !matches!(test_kill_process(pid), Err(rustix::io::Errno::SRCH));
    if !there() {
        return false;
    }
    #[cfg(target_os = "linux")]
    if let Ok(process) = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()) {
        use rustix::event::{PollFd, PollFlags, poll};
        loop {
            let mut fds = [PollFd::new(&process, PollFlags::IN)];
            match poll(&mut fds, None) {
                Ok(_) => return true,
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => break,
            }
        }
    }
    while there() {
        std::thread::sleep(LOOK_AGAIN);
    }
    true
}

/// Waits until a process has ended: not available on this platform.
#[cfg(not(unix))]
pub fn process_gone(_id: u32) -> bool {
    false
}

/// Ends a child process immediately.
#[cfg(unix)]
pub fn end_process(id: u32) {
    use rustix::process::{Pid, Signal, kill_process};
    if let Some(pid) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// Ends a child process immediately: on this platform it ends when its input closes.
#[cfg(not(unix))]
pub fn end_process(_id: u32) {}

/// Configures `command` to start a background process that does not outlive its parent.
pub fn background(command: &mut Command) -> &mut Command {
    #[cfg(windows)]
    {
        const CREATE_NO_WINDOW: u32 = 0x0800_0000;
        const IDLE_PRIORITY_CLASS: u32 = 0x0000_0040;
        command.creation_flags(CREATE_NO_WINDOW | IDLE_PRIORITY_CLASS);
    }
    command.kill_on_drop(true)
}

/// The folder for caches, which can be deleted without harm.
pub fn cache_directory() -> Option<PathBuf> {
    if cfg!(target_os = "macos") {
        Some(folder("HOME")?.join("Library/Caches"))
    } else if cfg!(windows) {
        folder("LOCALAPPDATA")
    } else {
        folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")))
    }
}

/// The folder that an environment variable names; relative paths are ignored, because they have no
/// meaning for a server.
pub fn folder(variable: &str) -> Option<PathBuf> {
    let value = std::env::var_os(variable).filter(|v| !v.is_empty())?;
    Some(PathBuf::from(value)).filter(|path| path.is_absolute())
}
