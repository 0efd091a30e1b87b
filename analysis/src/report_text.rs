//! A report as text: the same on the command line, in JUnit files, in code lenses and in hovers.

use crate::report::{BoundsValue, LeastTime, Progress, QueryReport, Reason, Verdict};

/// The name of a verdict, as in JSON.
pub fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Satisfied => "satisfied",
        Verdict::Violated => "violated",
        Verdict::Unknown => "unknown",
        Verdict::Error => "error",
    }
}

/// The text after the verdict if the author expects one: `, as expected`.
pub fn expectation(report: &QueryReport) -> String {
    match report.expected {
        Some(expected) if report.verdict == expected => ", as expected".to_owned(),
        Some(expected) => format!(", but it should be {}", verdict(expected)),
        None => String::new(),
    }
}

/// The reason in short form: the name of a limit, or what is wrong.
pub fn short_reason(report: &QueryReport) -> String {
    match &report.reason {
        None => "no reason given".to_owned(),
        Some(Reason::Memory(_)) => "memory limit".to_owned(),
        Some(Reason::Timeout(_)) => "time limit".to_owned(),
        Some(Reason::States(_)) => "state limit".to_owned(),
        Some(Reason::ModelError(sentence) | Reason::QueryError(sentence)) => sentence.clone(),
        Some(reason) => reason.to_string(),
    }
}

/// The counts and memory of a run; `None` if there was no run.
pub fn statistics(report: &QueryReport) -> Option<String> {
    let s = &report.statistics;
    if s.stored == 0 && s.explored == 0 {
        return None;
    }
    let plural = |n: u64| if n == 1 { "" } else { "s" };
    let memory = match s.peak_memory_bytes {
        0 => String::new(),
        peak => format!(", {}", bytes(peak)),
    };
    Some(format!(
        "{} state{} stored, {} explored, {} transition{}{memory}",
        grouped(s.stored),
        plural(s.stored),
        grouped(s.explored),
        grouped(s.transitions),
        plural(s.transitions)
    ))
}

/// The hint that a satisfied query says nothing.
pub fn vacuous(report: &QueryReport) -> Option<String> {
    let hint = report.vacuous.as_ref()?;
    Some(format!("vacuous: {}", hint.message))
}

/// The scalarsets that were reduced over, each as `pid (6 interchangeable elements)`.
pub fn scalarsets(report: &QueryReport) -> Vec<String> {
    let sets = report.symmetry.scalarsets.iter();
    let one = |set: &crate::report::ScalarsetReport| {
        let how = if set.detected { ", detected" } else { "" };
        format!("{} ({}{how})", set.name, set.group())
    };
    sets.map(one).collect()
}

/// The reductions that were used, one line each. Positions in the model begin with the name of its
/// file if `model` is given.
pub fn reductions(report: &QueryReport, model: Option<&str>) -> Vec<String> {
    let mut out = Vec::new();
    let sets = scalarsets(report);
    if !sets.is_empty() {
        let exact = match report.symmetry.canonical {
            true => "one representative per class",
            false => "some classes kept more than one representative",
        };
        out.push(format!("symmetry: {}; {exact}", sets.join(", ")));
    }
    if report.symmetrised {
        out.push("the query names elements and was made symmetric over them".to_owned());
    }
    if let Some(audit) = &report.symmetry.audit {
        out.push(format!(
            "symmetry audited: {} swaps on {} states changed nothing",
            grouped(audit.swaps),
            grouped(audit.states)
        ));
    }
    for e in &report.symmetry.excluded {
        let place = match model {
            Some(file) => format!("{file}:{}:{}", e.line, e.column),
            None => format!("line {}, column {}", e.line, e.column),
        };
        out.push(format!(
            "not reduced over {}: it breaks {} at {place}",
            e.name, e.rule
        ));
    }
    if !report.reductions.is_empty() {
        out.push(format!("reductions: {}", report.reductions.join(", ")));
    }
    out
}

/// The certificate: `certified (always, 253 zones, 35 kB)`; `None` if none was requested.
pub fn certificate(report: &QueryReport) -> Option<String> {
    if let Some(reason) = &report.uncertified {
        return Some(format!("no certificate: {reason}"));
    }
    let certificate = report.certificate.as_ref()?;
    let word = match certificate.checked {
        true => "certified",
        false => "certificate written, not checked",
    };
    let again = match (certificate.searched_again, certificate.symmetry) {
        (true, false) => ", searched again without symmetry",
        (true, true) => ", up to symmetry, searched again",
        (false, true) => ", up to symmetry",
        (false, false) => "",
    };
    Some(format!(
        "{word} ({}, {} zone{}, {}{again})",
        certificate.kind,
        grouped(certificate.zones),
        if certificate.zones == 1 { "" } else { "s" },
        bytes(certificate.bytes),
    ))
}

/// The measured bounds, one line for each expression: the end that the query asks for, or both.
pub fn values(report: &QueryReport) -> Vec<String> {
    let values = match report.values.is_empty() {
        true => report.value.as_slice(),
        false => &report.values,
    };
    values.iter().map(|v| value(&report.query, v)).collect()
}

fn value(query: &str, value: &BoundsValue) -> String {
    let end = |what: &str, number: Option<i64>, strict: bool| match number {
        Some(n) if strict => format!("{what}: {n}, approached but never reached"),
        Some(n) => format!("{what}: {n}"),
        None => format!("{what}: unbounded"),
    };
    let query = query.trim_start();
    // Every measured expression has a least value: clocks start at 0 and integers have ranges.
    if value.lower.is_none() && value.upper.is_none() {
        "no value: no reachable state satisfies the condition".to_owned()
    } else if query.starts_with("sup") {
        end("supremum", value.upper, value.upper_strict)
    } else if query.starts_with("inf") {
        end("infimum", value.lower, value.lower_strict)
    } else {
        format!("bounds: {}", interval(value))
    }
}

fn interval(value: &BoundsValue) -> String {
    let lower = match value.lower {
        Some(n) if value.lower_strict => format!("({n}"),
        Some(n) => format!("[{n}"),
        None => "(-∞".to_owned(),
    };
    let upper = match value.upper {
        Some(n) if value.upper_strict => format!("{n})"),
        Some(n) => format!("{n}]"),
        None => "∞)".to_owned(),
    };
    format!("{lower}, {upper}")
}

/// The time of the fastest runs.
pub fn least_time(least: &LeastTime) -> String {
    let (n, units) = (
        least.infimum,
        if least.infimum == 1 { "unit" } else { "units" },
    );
    match least.reached {
        true => format!("least time: {n} {units}"),
        false => format!("least time: more than {n} {units}, approached but never reached"),
    }
}

/// A number with its digits in groups, `41 200`. The separator is a no-break space, which terminals
/// do not wrap.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(c);
    }
    out
}

/// How far a run is: the stored states, and the states that it explores per second, `41 200 states,
/// 38k/s`. The same on the terminal, on lenses and in progress notifications.
pub fn progress(progress: &Progress) -> String {
    let speed = match progress.states_per_second {
        n @ 0..1_000 => n.to_string(),
        n @ 1_000..1_000_000 => format!("{}k", n / 1_000),
        n => format!("{:.1}M", n as f64 / 1e6),
    };
    format!("{} states, {speed}/s", grouped(progress.stored))
}

/// A duration in a readable unit.
pub fn seconds(value: f64) -> String {
    if value < 0.001 {
        "under 1 ms".to_owned()
    } else if value < 1.0 {
        format!("{:.0} ms", value * 1000.0)
    } else if value < 120.0 {
        format!("{value:.1} s")
    } else {
        format!("{} min {:02} s", value as u64 / 60, value as u64 % 60)
    }
}

/// A number of bytes in a readable unit.
pub fn bytes(value: u64) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    let mut amount = value as f64 / 1024.0;
    let mut unit = 0;
    while amount >= 1024.0 && unit + 1 < UNITS.len() {
        amount /= 1024.0;
        unit += 1;
    }
    if amount < 10.0 {
        format!("{amount:.1} {}", UNITS[unit])
    } else {
        format!("{amount:.0} {}", UNITS[unit])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(query: &str, value: BoundsValue) -> Vec<String> {
        let mut report = QueryReport::without_run(query, 1, Verdict::Satisfied, None);
        report.value = Some(value);
        values(&report)
    }

    #[test]
    fn bounds_are_intervals() {
        let value = BoundsValue {
            lower: Some(0),
            upper: None,
            lower_strict: false,
            upper_strict: false,
        };
        assert_eq!(lines("bounds: x", value.clone()), ["bounds: [0, ∞)"]);
        assert_eq!(lines("inf: x", value.clone()), ["infimum: 0"]);
        let none = ["supremum: unbounded"];
        assert_eq!(lines(" sup: x", value), none);
        let none = ["no value: no reachable state satisfies the condition"];
        assert_eq!(lines("sup{false}: x", BoundsValue::default()), none);
    }

    #[test]
    fn a_time_that_is_not_reached_is_named() {
        let mut least = LeastTime {
            infimum: 1,
            reached: false,
        };
        let line = "least time: more than 1 unit, approached but never reached";
        assert_eq!(least_time(&least), line);
        (least.infimum, least.reached) = (4, true);
        assert_eq!(least_time(&least), "least time: 4 units");
    }

    #[test]
    fn numbers_as_people_write_them() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1234567), "1\u{202f}234\u{202f}567");
        assert_eq!(seconds(0.0004), "under 1 ms");
        assert_eq!(seconds(0.25), "250 ms");
        assert_eq!(seconds(61.0), "61.0 s");
        assert_eq!(seconds(125.0), "2 min 05 s");
        assert_eq!(bytes(2048), "2.0 KB");
        assert_eq!(bytes(50 << 20), "50 MB");
    }
}
