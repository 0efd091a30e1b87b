//! Types as the analysis sees them: structural for ranges, records and arrays, nominal for scalar sets.

use crate::hir::Expr;
use crate::symbol::Loc;
use smol_str::SmolStr;
use std::fmt;
use std::sync::Arc;

/// The range of a plain `int`.
pub const DEFAULT_INT: (i32, i32) = (-32768, 32767);

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// Something wrong that was reported already; agrees with everything.
    Error,
    /// No value.
    Void,
    /// `bool`
    Bool,
    /// `int[lo,hi]`
    Int(IntType),
    /// An element of a scalar set.
    Scalar(Arc<ScalarSet>),
    /// `double`
    Double,
    /// `string`
    Str,
    /// `clock`
    Clock,
    /// `chan`
    Chan(ChanType),
    /// An array dimension.
    Array(Arc<ArrayType>),
    /// A record.
    Struct(Arc<StructType>),
    /// A condition over clocks.
    Cond(CondClass),
    /// A difference of clocks.
    Diff,
    /// `x'`
    Rate,
    /// A process or a family of processes applied to all its arguments (queries).
    Process,
}

/// An integer range, with the scalarset of the papers' notation whose elements it holds.
#[derive(Clone, Debug, PartialEq)]
pub struct IntType {
    /// Least value.
    pub lo: Bound,
    /// Greatest value.
    pub hi: Bound,
    /// The scalarset of the notation where elements are integers (`scalarset pid[3];`).
    pub set: Option<Arc<ScalarSet>>,
}

/// A number known now or once the template's parameters are.
#[derive(Clone, Debug, PartialEq)]
pub enum Bound {
    /// Known.
    Known(i32),
    /// Depends on parameters of the template.
    Expr(Arc<Expr>),
}

impl Bound {
    /// The value where it is known.
    pub fn known(&self) -> Option<i32> {
        match self {
            Bound::Known(v) => Some(*v),
            Bound::Expr(_) => None,
        }
    }
}

/// A set of interchangeable elements. Identity is the declaration, not the size.
#[derive(Debug)]
pub struct ScalarSet {
    /// Unique number.
    pub id: u32,
    /// The name people know it by.
    pub name: SmolStr,
    /// Number of elements.
    pub size: Bound,
    /// Where it is declared.
    pub loc: Loc,
    /// Declared inside a template: one set per process.
    pub local: bool,
    /// A `scalarset` parameter, which stands for the set it is instantiated with.
    pub parameter: bool,
}

impl PartialEq for ScalarSet {
    fn eq(&self, other: &ScalarSet) -> bool {
        self.id == other.id
    }
}

/// What a channel may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChanType {
    /// `urgent`
    pub urgent: bool,
    /// `broadcast`
    pub broadcast: bool,
}

/// One array dimension; made by [`Type::array`].
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayType {
    /// [`Type::Int`] or [`Type::Scalar`].
    pub index: Type,
    /// What the entries are.
    pub element: Type,
    extent: Extent,
}

/// A record; made by [`Type::record`].
#[derive(Clone, Debug, PartialEq)]
pub struct StructType {
    /// Fields in order.
    pub fields: Vec<(SmolStr, Type)>,
    extent: Extent,
}

/// How much a walk over a type visits. Types share their parts, so forty typedefs that each name the one before twice
/// are small in memory while a walk over them never ends. The extent is therefore known before any walk: it is added
/// up from the parts, which know theirs, and what exceeds [`Extent::MAX`] never becomes a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Fields, dimensions and values, each counted as often as it occurs; an array counts one entry.
    pub parts: u64,
    /// How many arrays and records are nested.
    pub height: u32,
}

impl Extent {
    /// What a type may have.
    pub const MAX: Extent = Extent {
        parts: 2_000,
        height: 250,
    };

    /// Whether a type may be this large.
    pub fn fits(self) -> bool {
        self.parts <= Extent::MAX.parts && self.height <= Extent::MAX.height
    }

    fn around<'a>(parts: impl Iterator<Item = &'a Type>) -> Extent {
        let own = Extent {
            parts: 1,
            height: 1,
        };
        parts.fold(own, |sum, part| {
            let part = part.extent();
            Extent {
                parts: sum.parts.saturating_add(part.parts),
                height: sum.height.max(part.height.saturating_add(1)),
            }
        })
    }
}

/// More parts than this are not written out in a message.
const SHOWN_PARTS: u64 = 100;

/// Classes of clock conditions, weakest demands first: what may stand in an invariant may stand in a guard, and what may
/// stand in a guard may be asked in a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CondClass {
    /// May stand in an invariant.
    Invariant,
    /// May stand in a guard.
    Guard,
    /// May stand in a query only.
    Constraint,
}

impl Type {
    /// A range with known ends.
    pub fn int(lo: i32, hi: i32) -> Type {
        Type::Int(IntType {
            lo: Bound::Known(lo),
            hi: Bound::Known(hi),
            set: None,
        })
    }

    /// The plain `int`.
    pub fn default_int() -> Type {
        Type::int(DEFAULT_INT.0, DEFAULT_INT.1)
    }

    /// The type of a computed integer.
    pub fn any_int() -> Type {
        Type::int(i32::MIN, i32::MAX)
    }

    /// An array dimension around `element`; what such a type would have if it is too large.
    pub fn array(index: Type, element: Type) -> Result<Type, Extent> {
        let extent = Extent::around(std::iter::once(&element));
        let make = || {
            Type::Array(Arc::new(ArrayType {
                index,
                element,
                extent,
            }))
        };
        extent.fits().then(make).ok_or(extent)
    }

    /// A record; what such a type would have if it is too large.
    pub fn record(fields: Vec<(SmolStr, Type)>) -> Result<Type, Extent> {
        let extent = Extent::around(fields.iter().map(|(_, t)| t));
        let make = || Type::Struct(Arc::new(StructType { fields, extent }));
        extent.fits().then(make).ok_or(extent)
    }

    /// How much a walk over it visits.
    pub fn extent(&self) -> Extent {
        match self {
            Type::Array(a) => a.extent,
            Type::Struct(s) => s.extent,
            _ => Extent {
                parts: 1,
                height: 0,
            },
        }
    }

    /// Whether it was reported already.
    pub fn is_error(&self) -> bool {
        matches!(self, Type::Error)
    }

    /// Integers and booleans.
    pub fn is_integral(&self) -> bool {
        matches!(self, Type::Int(_) | Type::Bool | Type::Error)
    }

    /// Integers, booleans and doubles.
    pub fn is_number(&self) -> bool {
        self.is_integral() || matches!(self, Type::Double)
    }

    /// What may stand where a number of a stochastic model is read: clocks included.
    pub fn is_number_or_clock(&self) -> bool {
        self.is_number() || matches!(self, Type::Clock)
    }

    /// The scalar set, if it is a declared scalar.
    pub fn scalar(&self) -> Option<&Arc<ScalarSet>> {
        match self {
            Type::Scalar(set) => Some(set),
            _ => None,
        }
    }

    /// The scalar set of a value or index, in either notation.
    pub fn any_set(&self) -> Option<&Arc<ScalarSet>> {
        match self {
            Type::Scalar(set) => Some(set),
            Type::Int(int) => int.set.as_ref(),
            _ => None,
        }
    }

    /// Number of values a value of it consists of, where that is known.
    pub fn known_leaves(&self) -> Option<u64> {
        match self {
            Type::Array(a) => {
                let len = match &a.index {
                    Type::Int(int) => i64::from(int.hi.known()?) - i64::from(int.lo.known()?) + 1,
                    Type::Scalar(set) => i64::from(set.size.known()?),
                    _ => return None,
                };
                let len = u64::try_from(len).unwrap_or(0);
                Some(len.saturating_mul(a.element.known_leaves()?))
            }
            Type::Struct(s) => s.fields.iter().try_fold(0u64, |sum, (_, t)| {
                Some(sum.saturating_add(t.known_leaves()?))
            }),
            _ => Some(1),
        }
    }

    /// The ends of a range that is known to have no value.
    pub fn empty_range(&self) -> Option<(i32, i32)> {
        match self {
            Type::Int(int) => int.lo.known().zip(int.hi.known()).filter(|(a, b)| a > b),
            _ => None,
        }
    }

    /// The first range without a value that a variable of this type would have to hold a value of. An array over an empty
    /// range has no entries, so it needs none.
    pub fn needs_empty(&self) -> Option<(i32, i32)> {
        match self {
            Type::Array(a) if a.index.empty_range().is_some() => None,
            Type::Array(a) => a.element.needs_empty(),
            Type::Struct(s) => s.fields.iter().find_map(|(_, t)| t.needs_empty()),
            other => other.empty_range(),
        }
    }

    /// What is left after all dimensions.
    pub fn innermost(&self) -> &Type {
        match self {
            Type::Array(a) => a.element.innermost(),
            other => other,
        }
    }

    /// Whether `test` holds of it or of a part of it.
    pub fn contains(&self, test: &dyn Fn(&Type) -> bool) -> bool {
        test(self)
            || match self {
                Type::Array(a) => test(&a.index) || a.element.contains(test),
                Type::Struct(s) => s.fields.iter().any(|(_, t)| t.contains(test)),
                _ => false,
            }
    }

    /// Whether a value of it can be copied and compared as a whole.
    pub fn is_composite(&self) -> bool {
        matches!(self, Type::Array(_) | Type::Struct(_))
    }
}

fn bounds_agree(a: &Bound, b: &Bound) -> bool {
    match (a, b) {
        (Bound::Known(a), Bound::Known(b)) => a == b,
        _ => true,
    }
}

/// Whether two index types span the same dimension.
pub fn same_index(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Int(a), Type::Int(b)) => bounds_agree(&a.lo, &b.lo) && bounds_agree(&a.hi, &b.hi),
        (Type::Scalar(a), Type::Scalar(b)) => a == b,
        (Type::Error, _) | (_, Type::Error) => true,
        _ => false,
    }
}

/// Structural equivalence of stored data: ranges of integers do not matter, index ranges, field names and scalar
/// sets do.
pub fn equivalent(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Error, _) | (_, Type::Error) => true,
        (Type::Int(_) | Type::Bool, Type::Int(_) | Type::Bool) => true,
        (Type::Scalar(a), Type::Scalar(b)) => a == b,
        (Type::Array(a), Type::Array(b)) => {
            same_index(&a.index, &b.index) && equivalent(&a.element, &b.element)
        }
        (Type::Struct(a), Type::Struct(b)) => {
            a.fields.len() == b.fields.len()
                && a.fields
                    .iter()
                    .zip(&b.fields)
                    .all(|((n, t), (m, u))| n == m && equivalent(t, u))
        }
        (Type::Chan(_), Type::Chan(_)) => true,
        (a, b) => a == b,
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Error => write!(f, "unknown"),
            Type::Void => write!(f, "void"),
            Type::Bool => write!(f, "bool"),
            Type::Int(int) => match (&int.set, &int.lo, &int.hi) {
                (Some(set), _, _) => write!(f, "{}", set.name),
                (None, Bound::Known(lo), Bound::Known(hi)) => {
                    if (*lo, *hi) == DEFAULT_INT || (*lo, *hi) == (i32::MIN, i32::MAX) {
                        write!(f, "int")
                    } else {
                        write!(f, "int[{lo},{hi}]")
                    }
                }
                _ => write!(f, "int[…]"),
            },
            Type::Scalar(set) => write!(f, "{}", set.name),
            Type::Double => write!(f, "double"),
            Type::Str => write!(f, "string"),
            Type::Clock => write!(f, "clock"),
            Type::Chan(c) => {
                if c.urgent {
                    write!(f, "urgent ")?;
                }
                if c.broadcast {
                    write!(f, "broadcast ")?;
                }
                write!(f, "chan")
            }
            Type::Array(_) => {
                write!(f, "{}", self.innermost())?;
                let mut at = self;
                while let Type::Array(a) = at {
                    match &a.index {
                        Type::Int(IntType {
                            lo: Bound::Known(0),
                            hi: Bound::Known(hi),
                            set: None,
                        }) => write!(f, "[{}]", i64::from(*hi) + 1)?,
                        index => write!(f, "[{index}]")?,
                    }
                    at = &a.element;
                }
                Ok(())
            }
            Type::Struct(s) if s.extent.parts > SHOWN_PARTS => write!(f, "struct {{ … }}"),
            Type::Struct(s) => {
                write!(f, "struct {{ ")?;
                for (name, ty) in &s.fields {
                    write!(f, "{ty} {name}; ")?;
                }
                write!(f, "}}")
            }
            Type::Cond(_) => write!(f, "clock condition"),
            Type::Diff => write!(f, "clock difference"),
            Type::Rate => write!(f, "clock rate"),
            Type::Process => write!(f, "process"),
        }
    }
}
