//! Processor time, so that a test about work does not fail because the machine is busy.

use std::time::Duration;

/// The processor time of this thread so far; zero where the system does not report it.
pub fn processor_time() -> Duration {
    let report = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = report.split_whitespace().next();
    Duration::from_nanos(nanoseconds.and_then(|n| n.parse().ok()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_time() {
        let before = processor_time();
        let mut sum = 0u64;
        let mut rounds = 0;
        while processor_time() == before && rounds < 10_000 {
            rounds += 1;
            sum = (0..100_000u64).fold(sum, |a, b| std::hint::black_box(a ^ b));
        }
        let reported = std::path::Path::new("/proc/thread-self/schedstat").exists();
        assert!(!reported || processor_time() > before, "{sum}");
    }
}
