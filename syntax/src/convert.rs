//! Between `.xml` and `.xta`, with nothing lost.
//!
//! What `.xta` has no words for stands in one-line `//@ xml` comments before what it belongs to: an XML fragment with
//! the model's own texts left out, because those are written as `.xta`. Sections, whose exact text matters, begin
//! with such a line too. The other way round, comments of an `.xta` file that stand in no declaration or label go
//! into XML comments that begin with `@ xta`.

mod clauses;
mod collect;
mod layout;
mod node;
mod plain;
mod sketch;
mod template;
mod xml_query;
mod xml_writer;
mod xta_query;
mod xta_writer;

pub use plain::to_plain_xta;
pub use sketch::{EdgePlaces, NodePlaces, Places, Point, Sketch, SketchEdge, SketchNode, sketches};

use crate::SourceFile;
use crate::ast::FileKind;
use crate::error::SyntaxError;
use crate::span::Span;

/// The heading of a model that has none of its own.
const PROLOG: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<!DOCTYPE nta PUBLIC '-//Uppaal Team//DTD Flat System 1.6//EN' 'http://www.it.uu.se/research/group/darts/uppaal/flat-1_6.dtd'>";

/// The model as `.xta` text. Refused, with the reasons, if it has syntax errors or names that `.xta` cannot hold.
pub fn to_xta(file: &SourceFile) -> Result<String, Vec<SyntaxError>> {
    refuse(file)?;
    match file.kind {
        FileKind::Xta => Ok(file.text.to_string()),
        FileKind::Query => Err(vec![no_model()]),
        FileKind::Xml => readable(xta_writer::write(&file.text)?, FileKind::Xta),
    }
}

/// The model as UPPAAL's XML, what has no place yet on a grid. Refused, with the reasons, if it has syntax errors or
/// edges between unknown locations.
pub fn to_xml(file: &SourceFile) -> Result<String, Vec<SyntaxError>> {
    to_xml_drawn(file, &layout::on_a_grid)
}

/// The model as UPPAAL's XML, with `layout` to say where things are drawn that have no place yet.
pub fn to_xml_drawn(
    file: &SourceFile,
    layout: &dyn Fn(&Sketch) -> Places,
) -> Result<String, Vec<SyntaxError>> {
    refuse(file)?;
    match file.kind {
        FileKind::Xml => Ok(file.text.to_string()),
        FileKind::Query => Err(vec![no_model()]),
        FileKind::Xta => {
            let model = collect::collect(file)?;
            readable(xml_writer::write(model, layout)?, FileKind::Xml)
        }
    }
}

/// A text that cannot be read again would be a loss: better none.
fn readable(text: String, kind: FileKind) -> Result<String, Vec<SyntaxError>> {
    let Some(error) = syntax_errors(&SourceFile::parse(text.as_str(), kind)).pop() else {
        return Ok(text);
    };
    let message = match kind {
        FileKind::Xml => format!(
            "this model cannot be written as XML: there, {}; look for a `//@ xml` line that says so",
            error.message
        ),
        _ => format!(
            "this model cannot be written as `.xta`: there, {}",
            error.message
        ),
    };
    Err(vec![SyntaxError::new(
        "syntax/convert",
        message,
        Span::default(),
    )])
}

fn refuse(file: &SourceFile) -> Result<(), Vec<SyntaxError>> {
    let errors = syntax_errors(file);
    if errors.is_empty() {
        Ok(())
    } else {
        Err(errors)
    }
}

/// Errors of the model; those of queries do not matter, their text is copied.
fn syntax_errors(file: &SourceFile) -> Vec<SyntaxError> {
    let mut errors = file.errors();
    errors.retain(|e| e.code.starts_with("syntax/"));
    errors
}

fn no_model() -> SyntaxError {
    SyntaxError::new(
        "syntax/convert",
        "a query file holds no model; convert the `.xta` or `.xml` it belongs to",
        Span::default(),
    )
}
