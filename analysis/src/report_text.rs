//! Numbers of a report in words: the same on the command line, on a lens and in a hover.

use crate::report::{BoundsValue, LeastTime, QueryReport};

/// What was measured, a line for each expression: the end that was asked for, or both.
pub fn values(report: &QueryReport) -> Vec<String> {
    let values = match report.values.is_empty() {
        true => report.value.as_slice(),
        false => &report.values,
    };
    values.iter().map(|v| value(&report.query, v)).collect()
}

fn value(query: &str, value: &BoundsValue) -> String {
    let end = |what: &str, number: Option<i64>, strict: bool| match number {
        Some(n) if strict => format!("{what}: {n}, approached and never reached"),
        Some(n) => format!("{what}: {n}"),
        None => format!("{what}: none, it grows without bound"),
    };
    let query = query.trim_start();
    // Everything measured has a least value so far: clocks start at 0 and integers have ranges.
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
        false => format!("least time: more than {n} {units}, approached and never reached"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Verdict;

    fn lines(query: &str, value: BoundsValue) -> Vec<String> {
        let mut report = QueryReport::without_run(query, 1, Verdict::Satisfied, String::new());
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
        let none = ["supremum: none, it grows without bound"];
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
        let line = "least time: more than 1 unit, approached and never reached";
        assert_eq!(least_time(&least), line);
        (least.infimum, least.reached) = (4, true);
        assert_eq!(least_time(&least), "least time: 4 units");
    }
}
