//! The typed syntax tree that every other part of the tool reads.
//!
//! One tree serves `.xta`, `.xml` and `.q`. Spans are byte offsets in the *file* (for XML: the raw
//! file, entities included), relative to the nearest enclosing [`Placed`] node: an item for its own
//! text, a member for the text inside a process. Code that walks the tree adds up the offsets on
//! the way down.

mod around;
mod decl;
mod expr;
mod item;
mod process;
mod query;
mod types;

pub use around::parts_around;
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

/// A shared node and its position in its parent. Equal text parses to equal nodes, so an edit
/// elsewhere changes only `offset`.
#[derive(Clone, PartialEq)]
pub struct Placed<T> {
    /// Position of the first byte, relative to the parent node (to the file for items).
    pub offset: u32,
    /// Length in bytes, including leading trivia.
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

/// A name and its source range.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Ident {
    /// The text of the name.
    pub name: SmolStr,
    /// The source range of the name.
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
    /// Chooses the kind by the file name extension; any unknown extension is read as `.xta`.
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
