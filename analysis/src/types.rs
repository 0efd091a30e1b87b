//! Types: structural for ranges, records and arrays, nominal for scalarsets.

use crate::hir::Expr;
use crate::symbol::Loc;
use smol_str::SmolStr;
use std::fmt;
use std::sync::Arc;

/// The range of a plain `int`.
pub const DEFAULT_INT: (i32, i32) = (-32768, 32767);

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Type {
    /// An invalid type that was reported; compatible with everything.
    Error,
    /// The type of functions without a result.
    Void,
    /// `bool`
    Bool,
    /// `int[lo,hi]`
    Int(IntType),
    /// An element of a scalarset.
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
    /// A process, or a family of processes with all its arguments (queries).
    Process,
}

/// An integer range. In `scalarset` notation, it may hold the elements of a set.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct IntType {
    /// The least value.
    pub lo: Bound,
    /// The greatest value.
    pub hi: Bound,
    /// The set whose elements it holds, if it was declared by `scalarset pid[3];`.
    pub set: Option<Arc<ScalarSet>>,
}

/// A number that is known now, or once the parameters of the template are.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Bound {
    /// A known number.
    Known(i32),
    /// An expression over parameters of the template.
    Expr(Arc<Expr>),
}

impl Bound {
    /// The value, if it is known.
    pub(crate) fn known(&self) -> Option<i32> {
        match self {
            Bound::Known(v) => Some(*v),
            Bound::Expr(_) => None,
        }
    }
}

/// A set of interchangeable elements. Sets are identified by their declaration, not by their size.
#[derive(Debug)]
pub(crate) struct ScalarSet {
    /// The unique id.
    pub id: u32,
    /// The name shown to users.
    pub name: SmolStr,
    /// The number of elements.
    pub size: Bound,
    /// Where it is declared.
    pub loc: Loc,
    /// Whether it is declared inside a template, so that each process has its own set.
    pub local: bool,
    /// Whether it is a `scalarset` parameter, which stands for the set it is instantiated with.
    pub parameter: bool,
}

impl PartialEq for ScalarSet {
    fn eq(&self, other: &ScalarSet) -> bool {
        self.id == other.id
    }
}

/// The properties of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChanType {
    /// `urgent`
    pub urgent: bool,
    /// `broadcast`
    pub broadcast: bool,
}

/// One array dimension, created by [`Type::array`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ArrayType {
    /// [`Type::Int`] or [`Type::Scalar`].
    pub index: Type,
    /// The type of the entries.
    pub element: Type,
    extent: Extent,
}

/// A record, created by [`Type::record`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StructType {
    /// The fields in order.
    pub fields: Vec<(SmolStr, Type)>,
    extent: Extent,
}

/// The number of parts that a walk over a type visits. Types share their parts: forty typedefs that
/// each use the previous one twice are small in memory, but a walk over them never ends. The extent
/// is therefore computed from the extents of the parts before any walk, and a type beyond
/// [`Extent::MAX`] is never created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Fields, dimensions and values, counted at every occurrence; the entries of an array
    /// are counted once.
    pub parts: u64,
    /// The nesting depth of arrays and records.
    pub height: u32,
}

impl Extent {
    /// The largest extent of a type.
    pub(crate) const MAX: Extent = Extent {
        parts: 2_000,
        height: 250,
    };

    /// Whether a type of this extent is allowed.
    pub(crate) fn fits(self) -> bool {
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

/// The most parts of a type that a message writes out.
const SHOWN_PARTS: u64 = 100;

/// Classes of clock conditions, from the most to the least restricted: a condition allowed in an
/// invariant is allowed in a guard, and one allowed in a guard is allowed in a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CondClass {
    /// Allowed in invariants, guards and queries.
    Invariant,
    /// Allowed in guards and queries.
    Guard,
    /// Allowed in queries only.
    Constraint,
}

impl Type {
    /// A range with known ends.
    pub(crate) fn int(lo: i32, hi: i32) -> Type {
        Type::Int(IntType {
            lo: Bound::Known(lo),
            hi: Bound::Known(hi),
            set: None,
        })
    }

    /// The plain `int`.
    pub(crate) fn default_int() -> Type {
        Type::int(DEFAULT_INT.0, DEFAULT_INT.1)
    }

    /// The type of a computed integer: 32 bits.
    pub(crate) fn any_int() -> Type {
        Type::int(i32::MIN, i32::MAX)
    }

    /// An array dimension over `element`, or its extent if it is too large.
    pub(crate) fn array(index: Type, element: Type) -> Result<Type, Extent> {
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

    /// A record, or its extent if it is too large.
    pub(crate) fn record(fields: Vec<(SmolStr, Type)>) -> Result<Type, Extent> {
        let extent = Extent::around(fields.iter().map(|(_, t)| t));
        let make = || Type::Struct(Arc::new(StructType { fields, extent }));
        extent.fits().then(make).ok_or(extent)
    }

    /// The extent of the type.
    pub(crate) fn extent(&self) -> Extent {
        match self {
            Type::Array(a) => a.extent,
            Type::Struct(s) => s.extent,
            _ => Extent {
                parts: 1,
                height: 0,
            },
        }
    }

    /// Whether it is the type of something invalid that was reported.
    pub(crate) fn is_error(&self) -> bool {
        matches!(self, Type::Error)
    }

    /// Whether it is an integer or boolean.
    pub(crate) fn is_integral(&self) -> bool {
        matches!(self, Type::Int(_) | Type::Bool | Type::Error)
    }

    /// Whether it is an integer, boolean or double.
    pub(crate) fn is_number(&self) -> bool {
        self.is_integral() || matches!(self, Type::Double)
    }

    /// Whether it can be used where a stochastic model needs a number: clocks included.
    pub(crate) fn is_number_or_clock(&self) -> bool {
        self.is_number() || matches!(self, Type::Clock)
    }

    /// The scalarset, if the type is declared with `scalar[n]`.
    pub(crate) fn scalar(&self) -> Option<&Arc<ScalarSet>> {
        match self {
            Type::Scalar(set) => Some(set),
            _ => None,
        }
    }

    /// The scalarset of a value or index, in either notation.
    pub(crate) fn any_set(&self) -> Option<&Arc<ScalarSet>> {
        match self {
            Type::Scalar(set) => Some(set),
            Type::Int(int) => int.set.as_ref(),
            _ => None,
        }
    }

    /// The number of cells of a value, if it is known.
    pub(crate) fn known_leaves(&self) -> Option<u64> {
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

    /// The ends of the range, if it is known to be empty.
    pub(crate) fn empty_range(&self) -> Option<(i32, i32)> {
        match self {
            Type::Int(int) => int.lo.known().zip(int.hi.known()).filter(|(a, b)| a > b),
            _ => None,
        }
    }

    /// The first empty range in this type that a variable would need a value of. An array over an
    /// empty range has no entries, so it needs no values.
    pub(crate) fn needs_empty(&self) -> Option<(i32, i32)> {
        match self {
            Type::Array(a) if a.index.empty_range().is_some() => None,
            Type::Array(a) => a.element.needs_empty(),
            Type::Struct(s) => s.fields.iter().find_map(|(_, t)| t.needs_empty()),
            other => other.empty_range(),
        }
    }

    /// The type of the entries, after all dimensions.
    pub(crate) fn innermost(&self) -> &Type {
        match self {
            Type::Array(a) => a.element.innermost(),
            other => other,
        }
    }

    /// Whether `test` holds for the type or a part of it.
    pub(crate) fn contains(&self, test: &dyn Fn(&Type) -> bool) -> bool {
        test(self)
            || match self {
                Type::Array(a) => test(&a.index) || a.element.contains(test),
                Type::Struct(s) => s.fields.iter().any(|(_, t)| t.contains(test)),
                _ => false,
            }
    }

    /// Whether it is an array or record, which is copied and compared as a whole.
    pub(crate) fn is_composite(&self) -> bool {
        matches!(self, Type::Array(_) | Type::Struct(_))
    }
}

fn bounds_agree(a: &Bound, b: &Bound) -> bool {
    match (a, b) {
        (Bound::Known(a), Bound::Known(b)) => a == b,
        _ => true,
    }
}

/// Whether two index types denote the same dimension.
pub(crate) fn same_index(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Int(a), Type::Int(b)) => bounds_agree(&a.lo, &b.lo) && bounds_agree(&a.hi, &b.hi),
        (Type::Scalar(a), Type::Scalar(b)) => a == b,
        (Type::Error, _) | (_, Type::Error) => true,
        _ => false,
    }
}

/// Whether two types hold equivalent data: ranges of integers do not matter, but index ranges,
/// field names and scalarsets do.
pub(crate) fn equivalent(a: &Type, b: &Type) -> bool {
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
