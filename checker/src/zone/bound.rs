//! Bounds of difference constraints: `x - y < c` or `x - y <= c` in one `i32`.
//!
//! A bound is `c << 1 | nonstrict`, so that the integer order is the order of tightness: `< c`
//! comes before `<= c`, which comes before `< c + 1`. [`INF`] is "no bound".

/// A bound: value and strictness in one integer.
pub(crate) type Bound = i32;

/// No bound.
pub(crate) const INF: Bound = i32::MAX;

/// `<= 0`, the diagonal of every consistent matrix.
pub(crate) const LE_ZERO: Bound = 1;

/// The largest magnitude of a constant in a zone. Sums of two bounds that stay below [`SUM_LIMIT`]
/// cannot wrap; a larger one marks the zone as overflowed.
pub(crate) const CONSTANT_LIMIT: i64 = 1 << 27;

/// The largest encoded magnitude that the kernels add.
pub(crate) const SUM_LIMIT: i32 = 1 << 29;

/// `< c`
pub(crate) const fn lt(c: i32) -> Bound {
    c << 1
}

/// `<= c`
pub(crate) const fn le(c: i32) -> Bound {
    (c << 1) | 1
}

/// The constant of a finite bound.
pub(crate) const fn value(b: Bound) -> i32 {
    b >> 1
}

/// Whether a finite bound is strict.
pub(crate) const fn is_strict(b: Bound) -> bool {
    b & 1 == 0
}

/// The sum of two bounds: strict if either is. Finite operands must be within [`SUM_LIMIT`].
#[inline(always)]
pub(crate) const fn add(a: Bound, b: Bound) -> Bound {
    if a == INF || b == INF {
        INF
    } else {
        a.wrapping_add(b).wrapping_sub((a | b) & 1)
    }
}

/// The bound of the complement: `not (x - y <= c)` is `y - x < -c`. Only for finite bounds.
pub(crate) const fn negate(b: Bound) -> Bound {
    1 - b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_tightness() {
        assert!(lt(3) < le(3) && le(3) < lt(4) && lt(-1) < le(-1) && le(1000) < INF);
    }

    #[test]
    fn sums_are_strict_if_a_part_is() {
        assert_eq!(add(le(2), le(3)), le(5));
        assert_eq!(add(lt(2), le(3)), lt(5));
        assert_eq!(add(lt(-2), lt(3)), lt(1));
        assert_eq!(add(INF, lt(3)), INF);
    }

    #[test]
    fn negation_is_the_complement() {
        assert_eq!(negate(le(3)), lt(-3));
        assert_eq!(negate(lt(3)), le(-3));
        assert_eq!(negate(negate(lt(-7))), lt(-7));
    }
}
