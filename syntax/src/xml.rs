//! placeholder
use crate::ast::FileKind;
use crate::source::SourceFile;
use std::sync::Arc;
pub(crate) fn parse(text: Arc<str>, _old: Option<&SourceFile>) -> SourceFile {
    SourceFile {
        kind: FileKind::Xml,
        items: Vec::new(),
        file_errors: Vec::new(),
        reach: Vec::new(),
        text,
    }
}
