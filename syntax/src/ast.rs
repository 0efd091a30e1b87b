//! The typed syntax tree: what every other part of the tool reads.
//!
//! One tree serves `.xta`, `.xml` and `.q`. Spans are byte offsets in the *file* (for XML: the raw file, entities
//! included), relative to the nearest enclosing [`Placed`] node: items for their own text, members for what stands
//! inside a process. Whoever walks the tree adds the offsets on the way down.

mod decl;
mod expr;
mod item;
mod process;
mod query;
mod types;

pub use decl::*;
pub use expr::*;
pub use item::*;
pub use process::*;
pub use query::*;
pub use types::*;

use crate::span::Span;
use smol_str::SmolStr;
use std::fmt;
use std::sync::Arc;

/// A shared node with its place in its parent. Equal text parses to equal nodes, so an edit elsewhere only changes
/// `offset`.
#[derive(Clone, PartialEq)]
pub struct Placed<T> {
    /// First byte, relative to the parent node (the file for items).
    pub offset: u32,
    /// Length in bytes, leading trivia included.
    pub len: u32,
    /// The node itself.
    pub node: Arc<T>,
}

impl<T> Placed<T> {
    /// The bytes the node occupies, relative to its parent.
    pub fn span(&self) -> Span {
        Span::new(self.offset, self.offset + self.len)
    }
}

impl<T: fmt::Debug> fmt::Debug for Placed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {:?}", self.span(), self.node)
    }
}

/// A name and where it stands.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Ident {
    /// The text.
    pub name: SmolStr,
    /// Where it stands.
    pub span: Span,
}

impl fmt::Debug for Ident {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`{:?}", self.name, self.span)
    }
}

/// The notation of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// Textual model (`.xta`, `.ta`).
    Xta,
    /// UPPAAL's XML (`.xml`).
    Xml,
    /// Queries (`.q`).
    Query,
}

impl FileKind {
    /// By file name extension; anything unknown is read as `.xta`.
    pub fn from_path(path: &str) -> FileKind {
        match path
            .rsplit_once('.')
            .map(|(_, ext)| ext.to_ascii_lowercase())
            .as_deref()
        {
            Some("xml") => FileKind::Xml,
            Some("q") => FileKind::Query,
            _ => FileKind::Xta,
        }
    }
}
