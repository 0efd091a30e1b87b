//! Delays as users write them: whole numbers, fractions and decimal numbers.

use crate::windows::Interval;

/// The greatest denominator that a session works with.
pub(super) const MOST_UNIT: i64 = 1 << 40;

/// A delay that is not negative, in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fraction {
    numerator: i64,
    denominator: i64,
}

impl Fraction {
    /// The delay `numerator / denominator`; `None` if it is negative or its denominator is not
    /// allowed.
    pub fn new(numerator: i64, denominator: i64) -> Option<Fraction> {
        if numerator < 0 || denominator <= 0 {
            return None;
        }
        let divisor = gcd(numerator, denominator).max(1);
        let (numerator, denominator) = (numerator / divisor, denominator / divisor);
        (denominator <= MOST_UNIT).then_some(Fraction {
            numerator,
            denominator,
        })
    }

    /// A whole number; negative ones count as 0.
    pub(super) fn whole(number: i64) -> Fraction {
        Fraction {
            numerator: number.max(0),
            denominator: 1,
        }
    }

    /// Reads `3`, `3/2` or `1.5`.
    pub fn read(text: &str) -> Result<Fraction, String> {
        let refused = || {
            format!(
                "`{text}` is not a delay; write a number that is not negative, such as 2, 3/2 or 1.5"
            )
        };
        let digits = |t: &str| -> Option<i64> {
            let plain = !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
            plain.then(|| t.parse().ok()).flatten()
        };
        let read = || {
            let text = text.trim();
            if let Some((n, d)) = text.split_once('/') {
                return Fraction::new(digits(n.trim())?, digits(d.trim())?);
            }
            if let Some((whole, rest)) = text.split_once('.') {
                let scale = 10i64.checked_pow(u32::try_from(rest.len()).ok()?)?;
                let whole = digits(whole)?.checked_mul(scale)?;
                return Fraction::new(whole.checked_add(digits(rest)?)?, scale);
            }
            Fraction::new(digits(text)?, 1)
        };
        read().ok_or_else(refused)
    }

    /// The denominator.
    pub fn denominator(self) -> i64 {
        self.denominator
    }

    /// Whether it is less than another one.
    pub fn is_less(self, other: Fraction) -> bool {
        let product = |a: i64, b: i64| i128::from(a) * i128::from(b);
        product(self.numerator, other.denominator) < product(other.numerator, self.denominator)
    }

    /// The delay as a number of parts of a unit that the denominator divides.
    pub fn parts(self, unit: i64) -> Option<i64> {
        self.numerator.checked_mul(unit / self.denominator)
    }
}

/// The least common multiple of two denominators, if it is not too large for a session.
pub(super) fn common(a: i64, b: i64) -> Option<i64> {
    let product = (a / gcd(a, b).max(1)).checked_mul(b)?;
    (product <= MOST_UNIT).then_some(product)
}

fn gcd(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The delay that a run takes from an interval: the least one or, if that is excluded, the next
/// number above it that is as round as the interval allows.
pub(super) fn earliest(interval: &Interval, unit: i64) -> Option<Fraction> {
    match interval.from_open {
        false => Fraction::new(interval.from, unit),
        true => inside(interval, unit),
    }
}

/// A delay above the lower end of an interval and inside it, as round as possible.
pub(super) fn inside(interval: &Interval, unit: i64) -> Option<Fraction> {
    let (from, unit) = (i128::from(interval.from), i128::from(unit));
    let fits = |n: i128, parts: i128| {
        // n / parts < to / unit
        let to = |to: i64| {
            let (a, b) = (n * unit, i128::from(to) * parts);
            a < b || a == b && !interval.to_open
        };
        interval.to.is_none_or(to)
    };
    (0..=40).find_map(|k| {
        let parts = 1i128 << k;
        let n = (from * parts).div_euclid(unit) + 1;
        let found = Fraction::new(i64::try_from(n).ok()?, i64::try_from(parts).ok()?);
        found.filter(|_| fits(n, parts))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(i64, i64)> {
        let found = Fraction::read(text).ok()?;
        Some((found.numerator, found.denominator))
    }

    #[test]
    fn delays_are_read_as_people_write_them() {
        assert_eq!(read("3"), Some((3, 1)));
        assert_eq!(read(" 6/4 "), Some((3, 2)));
        assert_eq!(read("1/3"), Some((1, 3)));
        assert_eq!(read("0.25"), Some((1, 4)));
        assert_eq!(read("1/1099511627776"), Some((1, 1 << 40)));
        for wrong in [
            "",
            "-1",
            "+1",
            "1/0",
            "1/",
            "/2",
            "x",
            "1e3",
            "1.",
            ".5",
            "1/2/3",
            "1/1099511627777",
            "99999999999999999999",
            "0.00000000000000000001",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn open_intervals_give_round_delays() {
        let interval = |from, to: Option<i64>, to_open| Interval {
            from,
            from_open: true,
            to,
            to_open,
        };
        let at = |i: &Interval, unit| inside(i, unit).map(|f| (f.numerator, f.denominator));
        assert_eq!(at(&interval(3, Some(5), true), 1), Some((4, 1)));
        assert_eq!(at(&interval(3, Some(4), false), 1), Some((4, 1)));
        assert_eq!(at(&interval(3, Some(4), true), 1), Some((7, 2)));
        assert_eq!(at(&interval(1, Some(2), true), 3), Some((1, 2)));
        assert_eq!(at(&interval(2, None, true), 3), Some((1, 1)));
        let narrow = interval((1 << 40) - 1, Some(1 << 40), true);
        assert_eq!(at(&narrow, 1 << 40), None);
        assert_eq!(common(6, 4), Some(12));
        assert_eq!(common(1 << 40, 3), None);
    }
}
