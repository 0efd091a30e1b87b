//! Limits as users write them: `4G`, `90s`, `none`. The command line, `zonelens.toml` and editors
//! share this.

/// A configured limit. `None`, written `none` or 0, removes a limit that is set elsewhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit<T>(pub Option<T>);

/// The expected form of a memory limit, for messages.
pub const MEMORY: &str = "a number of bytes such as 500M or 4G, or none";
/// The expected form of a time limit, for messages.
pub const TIME: &str = "a time such as 60s, 500ms or 2m, or none";

/// The factors of units; `k` is 1024.
const BYTES: [(&str, f64); 4] = [
    ("k", (1u64 << 10) as f64),
    ("m", (1u64 << 20) as f64),
    ("g", (1u64 << 30) as f64),
    ("t", (1u64 << 40) as f64),
];
/// The factors of units; `ms` must come before the units that are its suffixes.
const SECONDS: [(&str, f64); 4] = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];

/// Parses a number of bytes: `4G`, `512MiB`, `100000`, `none`.
pub fn memory(text: &str) -> Result<Limit<u64>, String> {
    let lower = text.trim().to_ascii_lowercase();
    let bare = lower.strip_suffix('b').unwrap_or(&lower);
    let bare = bare.strip_suffix('i').unwrap_or(bare);
    amount(bare, &BYTES)
        .and_then(bytes)
        .ok_or_else(|| format!("write {MEMORY}"))
}

/// Parses a number of seconds: `60s`, `500ms`, `2m`, `1h`, `90`, `none`.
pub fn time(text: &str) -> Result<Limit<f64>, String> {
    amount(text.trim(), &SECONDS)
        .and_then(seconds)
        .ok_or_else(|| format!("write {TIME}"))
}

/// A limit on memory from a number of bytes.
pub fn bytes(amount: f64) -> Option<Limit<u64>> {
    // A conversion of a larger number would saturate.
    let fits = (0.0..u64::MAX as f64).contains(&amount);
    fits.then(|| Limit(Some(amount.ceil() as u64).filter(|n| *n > 0)))
}

/// A limit on time from a number of seconds.
pub fn seconds(amount: f64) -> Option<Limit<f64>> {
    let fits = amount.is_finite() && amount >= 0.0;
    fits.then(|| Limit(Some(amount).filter(|n| *n > 0.0)))
}

/// A limit on memory as text that [`memory`] reads.
pub fn memory_text(limit: Option<u64>) -> String {
    let Some(bytes) = limit else {
        return "none".to_owned();
    };
    let whole = |unit: f64| bytes.is_multiple_of(unit as u64);
    let unit = BYTES.iter().rev().find(|(_, unit)| whole(*unit));
    match unit {
        Some((name, unit)) => format!("{}{}", bytes / *unit as u64, name.to_uppercase()),
        None => bytes.to_string(),
    }
}

/// A limit on time as text that [`time`] reads.
pub fn time_text(limit: Option<f64>) -> String {
    limit.map_or("none".to_owned(), |seconds| format!("{seconds}s"))
}

fn amount(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    if text == "none" {
        return Some(0.0);
    }
    let mut found = units.iter();
    let found = found.find_map(|(suffix, unit)| Some((text.strip_suffix(suffix)?, *unit)));
    let (digits, unit) = found.unwrap_or((text, 1.0));
    Some(digits.trim().parse::<f64>().ok()? * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(memory("4G"), Ok(Limit(Some(4 << 30))));
        assert_eq!(memory("1.5 k"), Ok(Limit(Some(1536))));
        assert_eq!(memory("512MiB"), Ok(Limit(Some(512 << 20))));
        assert_eq!(memory("512mb"), Ok(Limit(Some(512 << 20))));
        assert_eq!(memory("1000"), Ok(Limit(Some(1000))));
        // Less than a byte is still a limit.
        assert_eq!(memory("0.1"), Ok(Limit(Some(1))));
        for wrong in ["", "x", "-1", "99999999T", "inf", "NaN", "4Q", "4bb", "G"] {
            assert!(memory(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times() {
        assert_eq!(time("60s"), Ok(Limit(Some(60.0))));
        assert_eq!(time("500ms"), Ok(Limit(Some(0.5))));
        assert_eq!(time("2m"), Ok(Limit(Some(120.0))));
        assert_eq!(time("1.5 h"), Ok(Limit(Some(5400.0))));
        assert_eq!(time("90"), Ok(Limit(Some(90.0))));
        for wrong in ["", "-1", "soon", "inf", "NaN", "s"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn texts_come_back() {
        for limit in [None, Some(1), Some(1 << 10), Some(3 << 29), Some(5 << 40)] {
            assert_eq!(memory(&memory_text(limit)), Ok(Limit(limit)));
        }
        assert_eq!(memory_text(Some(4 << 30)), "4G");
        for limit in [None, Some(0.25), Some(90.0)] {
            assert_eq!(time(&time_text(limit)), Ok(Limit(limit)));
        }
    }

    #[test]
    fn zero_and_none_are_no_limit() {
        for text in ["0", "none", "0k", " 0 "] {
            assert_eq!(memory(text), Ok(Limit(None)), "{text}");
        }
        for text in ["0", "none", "0ms", "0.0h"] {
            assert_eq!(time(text), Ok(Limit(None)), "{text}");
        }
    }
}
