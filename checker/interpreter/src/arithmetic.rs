//! Arithmetic of the interpreter, independent of the arithmetic of compiled code.

use super::eval::{Eval, fail};
use zonelens_analysis::network::BinaryOp;

/// The result of an operation.
pub(super) fn arithmetic(op: BinaryOp, a: i64, b: i64) -> Eval<i64> {
    let truth = |b: bool| Ok(i64::from(b));
    let result = match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div | BinaryOp::Mod if b == 0 => return fail("division by zero"),
        BinaryOp::Div | BinaryOp::Mod if a == i64::from(i32::MIN) && b == -1 => {
            return fail("the result does not fit 32 bits");
        }
        BinaryOp::Div => a / b,
        BinaryOp::Mod => a % b,
        BinaryOp::Pow if b < 0 => return fail("power with a negative exponent"),
        BinaryOp::Pow => {
            // Modulo 2^64 and then modulo 2^32 is modulo 2^32.
            a.wrapping_pow(u32::try_from(b).unwrap_or(u32::MAX))
        }
        BinaryOp::Shl | BinaryOp::Shr if !(0..32).contains(&b) => {
            return fail("shift by an impossible amount");
        }
        BinaryOp::Shl => i64::from(((a << b) & 0xffff_ffff) as u32 as i32),
        BinaryOp::Shr => a >> b,
        BinaryOp::Min => a.min(b),
        BinaryOp::Max => a.max(b),
        BinaryOp::BitAnd => a & b,
        BinaryOp::BitXor => a ^ b,
        BinaryOp::BitOr => a | b,
        BinaryOp::Lt => return truth(a < b),
        BinaryOp::Le => return truth(a <= b),
        BinaryOp::Ge => return truth(a >= b),
        BinaryOp::Gt => return truth(a > b),
        BinaryOp::Eq => return truth(a == b),
        BinaryOp::Ne => return truth(a != b),
        BinaryOp::And => return truth(a != 0 && b != 0),
        BinaryOp::Or => return truth(a != 0 || b != 0),
        BinaryOp::Xor => return truth((a != 0) != (b != 0)),
    };
    Ok(wrap(result))
}

/// Numbers have 32 bits between assignments.
pub(super) fn wrap(value: i64) -> i64 {
    i64::from(value as i32)
}
