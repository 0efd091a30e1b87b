//! Operators on numbers.

use super::fault::FaultKind;
use zonelens_analysis::network::BinaryOp;

/// Whether a comparison holds.
#[inline(always)]
pub(super) fn compare(op: BinaryOp, a: i32, b: i32) -> bool {
    match op {
        BinaryOp::Lt => a < b,
        BinaryOp::Le => a <= b,
        BinaryOp::Ge => a >= b,
        BinaryOp::Gt => a > b,
        BinaryOp::Eq => a == b,
        _ => a != b,
    }
}

/// Applies an operator. Between assignments, numbers have 32 bits and wrap around, as in UPPAAL
/// (models of processors rely on it). An assigned value must fit the range of its target, so a
/// wrapped number is rarely unnoticed.
#[inline]
pub(super) fn operate(op: BinaryOp, a: i32, b: i32) -> Result<i32, FaultKind> {
    let shift = |b: i32| {
        u32::try_from(b)
            .ok()
            .filter(|n| *n < 32)
            .ok_or(FaultKind::Shift(b))
    };
    match op {
        BinaryOp::Add => Ok(a.wrapping_add(b)),
        BinaryOp::Sub => Ok(a.wrapping_sub(b)),
        BinaryOp::Mul => Ok(a.wrapping_mul(b)),
        BinaryOp::Div if b == 0 => Err(FaultKind::DivisionByZero),
        BinaryOp::Div => a.checked_div(b).ok_or(FaultKind::Overflow),
        BinaryOp::Mod if b == 0 => Err(FaultKind::DivisionByZero),
        BinaryOp::Mod => a.checked_rem(b).ok_or(FaultKind::Overflow),
        BinaryOp::Pow => {
            let exponent = u32::try_from(b).map_err(|_| FaultKind::Power(b))?;
            Ok(a.wrapping_pow(exponent))
        }
        // A shift moves the 32 bits of its operand; the bits that are shifted out are lost.
        BinaryOp::Shl => Ok(a << shift(b)?),
        BinaryOp::Shr => Ok(a >> shift(b)?),
        BinaryOp::Min => Ok(a.min(b)),
        BinaryOp::Max => Ok(a.max(b)),
        BinaryOp::BitAnd => Ok(a & b),
        BinaryOp::BitXor => Ok(a ^ b),
        BinaryOp::BitOr => Ok(a | b),
        BinaryOp::And => Ok(i32::from(a != 0 && b != 0)),
        BinaryOp::Or => Ok(i32::from(a != 0 || b != 0)),
        BinaryOp::Xor => Ok(i32::from((a != 0) != (b != 0))),
        BinaryOp::Lt | BinaryOp::Le | BinaryOp::Ge | BinaryOp::Gt | BinaryOp::Eq | BinaryOp::Ne => {
            Ok(compare(op, a, b).into())
        }
    }
}
