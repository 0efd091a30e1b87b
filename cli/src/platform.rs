//! What differs between platforms: priorities and process limits.
//!
//! Tested on Linux. On other Unix systems the same calls are used untested; on Windows neither is done, and the
//! checker's own limits are all there is.

/// Gives way to everything else on the machine.
#[cfg(unix)]
pub fn lowest_priority() {
    // Not being allowed to be nicer is no reason to stop.
    let _ = rustix::process::nice(19);
}

/// Gives way to everything else on the machine.
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
