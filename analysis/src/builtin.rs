//! Functions, constants and types that the language predeclares. A model may redeclare these names;
//! its own declaration then wins.

use crate::symbol::{Home, Loc, SymKind, Symbol, VarSym};
use crate::types::Type;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use std::sync::Arc;

/// A predeclared function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Builtin {
    /// `abs` of an integer.
    Abs,
    /// `fint`: truncates a double to an integer.
    Fint,
    /// Returns a double; holds the number of arguments.
    ToDouble(u8),
    /// Returns an integer; holds the number of arguments.
    ToInt(u8),
}

impl Builtin {
    /// The number of arguments.
    pub(crate) fn arity(self) -> usize {
        match self {
            Builtin::Abs | Builtin::Fint => 1,
            Builtin::ToDouble(n) | Builtin::ToInt(n) => n as usize,
        }
    }

    /// The result type.
    pub(crate) fn ret(self) -> Type {
        match self {
            Builtin::Abs | Builtin::Fint | Builtin::ToInt(_) => Type::any_int(),
            Builtin::ToDouble(_) => Type::Double,
        }
    }
}

const TO_DOUBLE_1: &[&str] = &[
    "fabs",
    "exp",
    "exp2",
    "expm1",
    "ln",
    "log",
    "log10",
    "log2",
    "log1p",
    "sqrt",
    "cbrt",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "erf",
    "erfc",
    "tgamma",
    "lgamma",
    "ceil",
    "floor",
    "trunc",
    "round",
    "logb",
    "random",
    "random_poisson",
];
const TO_DOUBLE_2: &[&str] = &[
    "fmod",
    "fmax",
    "fmin",
    "fdim",
    "pow",
    "hypot",
    "atan2",
    "ldexp",
    "nextafter",
    "copysign",
    "random_arcsine",
    "random_beta",
    "random_gamma",
    "random_normal",
    "random_weibull",
];
const TO_DOUBLE_3: &[&str] = &["fma", "random_tri"];
const TO_INT_1: &[&str] = &["ilogb", "isfinite", "isinf", "isnan", "isnormal", "signbit"];
const TO_INT_2: &[&str] = &["isunordered"];
const INTS: &[(&str, i32)] = &[
    ("INT8_MIN", i8::MIN as i32),
    ("INT8_MAX", i8::MAX as i32),
    ("UINT8_MAX", u8::MAX as i32),
    ("INT16_MIN", i16::MIN as i32),
    ("INT16_MAX", i16::MAX as i32),
    ("UINT16_MAX", u16::MAX as i32),
    ("INT32_MIN", i32::MIN),
    ("INT32_MAX", i32::MAX),
];
const DOUBLES: &[&str] = &[
    "FLT_MIN",
    "FLT_MAX",
    "FLT_EPSILON",
    "DBL_MIN",
    "DBL_MAX",
    "DBL_EPSILON",
    "M_PI",
    "M_PI_2",
    "M_PI_4",
    "M_E",
    "M_LOG2E",
    "M_LOG10E",
    "M_LN2",
    "M_LN10",
    "M_1_PI",
    "M_2_PI",
    "M_2_SQRTPI",
    "M_SQRT2",
    "M_SQRT1_2",
];
const TYPES: &[(&str, i32, i32)] = &[
    ("int8_t", i8::MIN as i32, i8::MAX as i32),
    ("uint8_t", 0, u8::MAX as i32),
    ("int16_t", i16::MIN as i32, i16::MAX as i32),
    ("uint16_t", 0, u16::MAX as i32),
    ("int32_t", i32::MIN, i32::MAX),
];

/// The first id of a model's own symbols; the predeclared ones are below it.
pub(crate) const FIRST_USER_SYMBOL: u32 = 1000;

/// The outermost scope, which contains all predeclared names.
pub(crate) fn symbols() -> FxHashMap<SmolStr, Arc<Symbol>> {
    let mut out = FxHashMap::default();
    let mut add = |name: &str, kind: SymKind| {
        let id = out.len() as u32;
        let symbol = Symbol {
            id,
            name: name.into(),
            loc: Loc::NOWHERE,
            kind,
        };
        out.insert(SmolStr::new(name), Arc::new(symbol));
    };
    add("abs", SymKind::Builtin(Builtin::Abs));
    add("fint", SymKind::Builtin(Builtin::Fint));
    for (names, builtin) in [
        (TO_DOUBLE_1, Builtin::ToDouble(1)),
        (TO_DOUBLE_2, Builtin::ToDouble(2)),
        (TO_DOUBLE_3, Builtin::ToDouble(3)),
        (TO_INT_1, Builtin::ToInt(1)),
        (TO_INT_2, Builtin::ToInt(2)),
    ] {
        for name in names {
            add(name, SymKind::Builtin(builtin));
        }
    }
    let constant = |ty: Type, value: Option<i32>| {
        SymKind::Var(VarSym {
            ty,
            constant: true,
            meta: false,
            value: value.map(|v| Arc::from([v].as_slice())),
            home: Home::Global,
        })
    };
    for &(name, value) in INTS {
        add(name, constant(Type::any_int(), Some(value)));
    }
    for name in DOUBLES {
        add(name, constant(Type::Double, None));
    }
    add("string", SymKind::Type(Type::Str, false));
    for &(name, lo, hi) in TYPES {
        add(name, SymKind::Type(Type::int(lo, hi), false));
    }
    out
}
