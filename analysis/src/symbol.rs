//! Symbols: the meaning of names.

use crate::builtin::Builtin;
use crate::types::Type;
use smol_str::SmolStr;
use std::sync::Arc;
use zonelens_syntax::span::Span;

/// The unique id of a symbol within a model and its updates.
pub(crate) type SymId = u32;
/// The unique id of an item within a model and its updates.
pub(crate) type ItemId = u32;
/// The item of queries, which are not items of the file.
pub(crate) const QUERY_ITEM: ItemId = u32::MAX - 1;
/// The item of names that the language itself declares.
const NO_ITEM: ItemId = u32::MAX;

/// A location: a byte range relative to the start of an item, so that items can move without
/// changing their contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Loc {
    /// The item, or that of [`Loc::NOWHERE`] for predeclared names.
    pub item: ItemId,
    /// The byte range, relative to the item.
    pub span: Span,
}

impl Loc {
    /// A location outside the text.
    pub(crate) const NOWHERE: Loc = Loc {
        item: NO_ITEM,
        span: Span::new(0, 0),
    };
}

/// A declared name.
#[derive(Clone, Debug)]
pub(crate) struct Symbol {
    /// The unique id.
    pub id: SymId,
    /// The name.
    pub name: SmolStr,
    /// Where it is declared.
    pub loc: Loc,
    /// What the name denotes.
    pub kind: SymKind,
}

/// Symbols are equal if a user of one could not tell it from the other; ids and locations do not
/// count.
impl PartialEq for Symbol {
    fn eq(&self, other: &Symbol) -> bool {
        self.name == other.name && self.kind == other.kind
    }
}

/// What a name denotes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SymKind {
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
    /// A predeclared function.
    Builtin(Builtin),
    /// A template.
    Template(Arc<TemplateSig>),
    /// A partial instantiation, `P = Q(…);`.
    Instance(Arc<TemplateSig>),
    /// A location, with its index in the template.
    Location(u32),
    /// A branchpoint, with its index in the template.
    Branchpoint(u32),
    /// Declared by something that is recognised but not analysed. It suppresses follow-up errors.
    Opaque,
}

/// A variable.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct VarSym {
    /// Its type.
    pub ty: Type,
    /// `const`
    pub constant: bool,
    /// `meta`
    pub meta: bool,
    /// The value of a constant that does not depend on parameters, flattened depth first.
    pub value: Option<Arc<[i32]>>,
    /// Where it is declared.
    pub home: Home,
}

/// Where a variable is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    /// At the top level.
    Global,
    /// In a template.
    Template,
    /// In a function.
    Function,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ParamSym {
    /// Its type.
    pub ty: Type,
    /// Whether it is passed by reference.
    pub reference: bool,
    /// `const`
    pub constant: bool,
    /// What it is a parameter of.
    pub of: ParamOf,
    /// Its position in the parameter list.
    pub position: u32,
}

/// What a parameter belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParamOf {
    /// A function.
    Function,
    /// A template.
    Template,
    /// A partial instantiation.
    Instance,
}

/// The signature of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ParamSig {
    /// Its name.
    pub name: SmolStr,
    /// Its type.
    pub ty: Type,
    /// Whether it is passed by reference.
    pub reference: bool,
    /// `const`
    pub constant: bool,
    /// Whether the function may write through it.
    pub written: bool,
    /// Whether the size of something depends on it, so that it must be given a value.
    pub restricted: bool,
}

/// The signature of a function.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FnSig {
    /// Parameters.
    pub params: Vec<ParamSig>,
    /// The result type.
    pub ret: Type,
    /// Whether it may change variables outside itself, other than through its parameters.
    pub writes: bool,
    /// Whether it reads state variables, so that its calls are not constant.
    pub reads: bool,
    /// The id of its body.
    pub body: SymId,
}

/// The signature of a template or partial instantiation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TemplateSig {
    /// Parameters.
    pub params: Vec<ParamSig>,
    /// The id of its body.
    pub body: SymId,
}

impl Symbol {
    /// The type of the value it denotes, if it denotes one.
    pub(crate) fn value_type(&self) -> Option<&Type> {
        match &self.kind {
            SymKind::Var(v) => Some(&v.ty),
            SymKind::Param(p) => Some(&p.ty),
            SymKind::Bound(t) => Some(t),
            _ => None,
        }
    }

    /// Whether assignments to it are forbidden.
    pub(crate) fn is_constant(&self) -> bool {
        match &self.kind {
            SymKind::Var(v) => v.constant,
            SymKind::Param(p) => p.constant,
            SymKind::Bound(_) => true,
            _ => false,
        }
    }

    /// The kind with its article ("a variable", "a type"), for messages.
    pub(crate) fn what(&self) -> &'static str {
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
