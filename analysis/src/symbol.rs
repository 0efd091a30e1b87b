//! What names stand for.

use crate::builtin::Builtin;
use crate::types::Type;
use smol_str::SmolStr;
use std::sync::Arc;
use zonelens_syntax::span::Span;

/// Unique number of a symbol within a model and its updates.
pub type SymId = u32;
/// Unique number of an item within a model and its updates.
pub type ItemId = u32;

/// A place: bytes relative to the start of an item. Items move without their contents changing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loc {
    /// The item; [`Loc::NOWHERE`] for what the language itself declares.
    pub item: ItemId,
    /// Bytes relative to it.
    pub span: Span,
}

impl Loc {
    /// No place in the text.
    pub const NOWHERE: Loc = Loc {
        item: u32::MAX,
        span: Span::new(0, 0),
    };
}

/// A declared name.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// Unique number.
    pub id: SymId,
    /// The name.
    pub name: SmolStr,
    /// Where it is declared.
    pub loc: Loc,
    /// What it is.
    pub kind: SymKind,
}

/// Two symbols agree if whoever saw the one would have read the same from the other; places do not count.
impl PartialEq for Symbol {
    fn eq(&self, other: &Symbol) -> bool {
        self.name == other.name && self.kind == other.kind
    }
}

/// What a name stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum SymKind {
    /// A variable, clock, channel or constant.
    Var(VarSym),
    /// A parameter of a function, a template or a partial instantiation.
    Param(ParamSym),
    /// A select, quantifier or loop variable.
    Bound(Type),
    /// A type, and whether it was declared `const`.
    Type(Type, bool),
    /// A function.
    Function(Arc<FnSig>),
    /// A function of the language.
    Builtin(Builtin),
    /// A template.
    Template(Arc<TemplateSig>),
    /// `P = Q(…);`
    Instance(Arc<TemplateSig>),
    /// A location; its index in the template.
    Location(u32),
    /// A branchpoint; its index in the template.
    Branchpoint(u32),
    /// Declared by something that is recognised, not analysed; silences follow-ups.
    Opaque,
}

/// A variable.
#[derive(Clone, Debug, PartialEq)]
pub struct VarSym {
    /// Its type.
    pub ty: Type,
    /// `const`
    pub constant: bool,
    /// `meta`
    pub meta: bool,
    /// The value of a constant that does not depend on parameters, flattened depth first.
    pub value: Option<Arc<[i32]>>,
    /// Where it lives.
    pub home: Home,
}

/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// Global.
    Global,
    /// A template.
    Template,
    /// A function.
    Function,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct ParamSym {
    /// Its type.
    pub ty: Type,
    /// By reference.
    pub reference: bool,
    /// `const`
    pub constant: bool,
    /// Whose parameter.
    pub of: ParamOf,
    /// Its position.
    pub position: u32,
}

/// Whose parameter it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamOf {
    /// A function's.
    Function,
    /// A template's.
    Template,
    /// A partial instantiation's.
    Instance,
}

/// The signature of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct ParamSig {
    /// Its name.
    pub name: SmolStr,
    /// Its type.
    pub ty: Type,
    /// By reference.
    pub reference: bool,
    /// `const`
    pub constant: bool,
    /// The function may write through it.
    pub written: bool,
    /// It occurs in the size of something, so it must be given a value.
    pub restricted: bool,
}

/// The signature of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct FnSig {
    /// Parameters.
    pub params: Vec<ParamSig>,
    /// Result.
    pub ret: Type,
    /// Whether it may change a variable outside itself other than through its parameters.
    pub writes: bool,
    /// Whether it reads variables of the state (so it is no constant).
    pub reads: bool,
    /// The number of symbols its body was checked under, to find the body.
    pub body: SymId,
}

/// The signature of a template or partial instantiation.
#[derive(Clone, Debug, PartialEq)]
pub struct TemplateSig {
    /// Parameters.
    pub params: Vec<ParamSig>,
    /// The number under which its body is found.
    pub body: SymId,
}

impl Symbol {
    /// The type of a value it stands for.
    pub fn value_type(&self) -> Option<&Type> {
        match &self.kind {
            SymKind::Var(v) => Some(&v.ty),
            SymKind::Param(p) => Some(&p.ty),
            SymKind::Bound(t) => Some(t),
            _ => None,
        }
    }

    /// Whether assignments to it are forbidden.
    pub fn is_constant(&self) -> bool {
        match &self.kind {
            SymKind::Var(v) => v.constant,
            SymKind::Param(p) => p.constant,
            SymKind::Bound(_) => true,
            _ => false,
        }
    }

    /// "variable", "type" …, for messages.
    pub fn what(&self) -> &'static str {
        match &self.kind {
            SymKind::Var(v) if v.constant => "a constant",
            SymKind::Var(v) => match v.ty.innermost() {
                Type::Clock => "a clock",
                Type::Chan(_) => "a channel",
                _ => "a variable",
            },
            SymKind::Param(_) => "a parameter",
            SymKind::Bound(_) => "a bound variable",
            SymKind::Type(..) => "a type",
            SymKind::Function(_) | SymKind::Builtin(_) => "a function",
            SymKind::Template(_) => "a template",
            SymKind::Instance(_) => "a process",
            SymKind::Location(_) => "a location",
            SymKind::Branchpoint(_) => "a branchpoint",
            SymKind::Opaque => "not analysed",
        }
    }
}
