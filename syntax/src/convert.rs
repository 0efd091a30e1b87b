//! Lossless conversion between `.xml` and `.xta`.
//!
//! Data that `.xta` has no syntax for goes into one-line `//@ xml` comments before the construct it
//! belongs to: an XML fragment without the texts of the model, because those are written as `.xta`.
//! Sections, whose exact text matters, begin with such a line, too. In the other direction,
//! comments of an `.xta` file outside declarations and labels go into XML comments that begin with
//! `@ xta`.

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

pub(crate) use clauses::is_name;
pub use plain::to_plain_xta;
pub use sketch::{EdgePlaces, NodePlaces, Places, Point, Sketch, SketchEdge, SketchNode, sketches};

use crate::SourceFile;
use crate::ast::FileKind;
use crate::error::SyntaxError;
use crate::span::Span;

/// The prolog for a model that has none.
const PROLOG: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<!DOCTYPE nta PUBLIC '-//Uppaal Team//DTD Flat System 1.6//EN' 'http://www.it.uu.se/research/group/darts/uppaal/flat-1_6.dtd'>";

/// Converts the model to `.xta` text. Fails, with the reasons, if it has syntax errors or names
/// that `.xta` does not allow.
pub fn to_xta(file: &SourceFile) -> Result<String, Vec<SyntaxError>> {
    refuse(file)?;
    match file.kind {
        FileKind::Xta => Ok(file.text.to_string()),
        FileKind::Query => Err(vec![no_model()]),
        FileKind::Xml => readable(xta_writer::write(&file.text)?, FileKind::Xta),
    }
}

/// Converts the model to UPPAAL's XML; elements without coordinates are put on a grid. Fails, with
/// the reasons, if the model has syntax errors or edges between unknown locations.
pub fn to_xml(file: &SourceFile) -> Result<String, Vec<SyntaxError>> {
    to_xml_drawn(file, &layout::on_a_grid)
}

/// Converts the model to UPPAAL's XML; `layout` chooses coordinates for elements that have none.
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

/// Checks that the result can be read again: an unreadable text would lose the model.
fn readable(text: String, kind: FileKind) -> Result<String, Vec<SyntaxError>> {
    let Some(error) = syntax_errors(&SourceFile::parse(text.as_str(), kind)).pop() else {
        return Ok(text);
    };
    let message = match kind {
        FileKind::Xml => format!(
            "this model cannot be written as XML because the result has an error: {}; look for a `//@ xml` line that causes it",
            error.message
        ),
        _ => format!(
            "this model cannot be written as `.xta` because the result has an error: {}",
            error.message
        ),
    };
    Err(vec![SyntaxError::new(
        "syntax/convert",
        message,
        Span::START,
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

/// The errors of the model. Errors of queries do not matter, because query texts are copied.
fn syntax_errors(file: &SourceFile) -> Vec<SyntaxError> {
    let mut errors = file.errors();
    errors.retain(|e| e.code.starts_with("syntax/"));
    errors
}

fn no_model() -> SyntaxError {
    SyntaxError::new(
        "syntax/convert",
        "a query file contains no model; convert the `.xta` or `.xml` it belongs to",
        Span::START,
    )
}
