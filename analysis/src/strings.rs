//! Numbers for strings. Strings are constants that can only be compared, so any number will do as
//! long as different strings have different numbers.

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use std::sync::{LazyLock, Mutex, PoisonError};

static NUMBERS: LazyLock<Mutex<FxHashMap<SmolStr, i32>>> = LazyLock::new(Mutex::default);

/// The number of a string, fixed while the program runs. It depends on the order in which strings
/// were read, so nothing else may depend on its value.
pub(crate) fn number(text: &str) -> i32 {
    let mut numbers = NUMBERS.lock().unwrap_or_else(PoisonError::into_inner);
    let next = i32::try_from(numbers.len()).unwrap_or(i32::MAX);
    *numbers.entry(SmolStr::new(text)).or_insert(next)
}
