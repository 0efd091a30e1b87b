//! Strings are constants that can only be compared, so any number will do for each, as long as no two share one.

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use std::sync::{LazyLock, Mutex, PoisonError};

static NUMBERS: LazyLock<Mutex<FxHashMap<SmolStr, i32>>> = LazyLock::new(Mutex::default);

/// The number of a string, the same as long as the program runs. Which one it is depends on what was read before, and
/// nothing may depend on that.
pub fn number(text: &str) -> i32 {
    let mut numbers = NUMBERS.lock().unwrap_or_else(PoisonError::into_inner);
    let next = i32::try_from(numbers.len()).unwrap_or(i32::MAX);
    *numbers.entry(SmolStr::new(text)).or_insert(next)
}
