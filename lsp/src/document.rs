//! Edits as clients send them, made to documents.

use crate::position::{self, Encoding, Point};
use ropey::Rope;
use zonelens_analysis::report::Options;
use zonelens_ide::Snapshot;
use zonelens_project::settings::Settings;
use zonelens_syntax::span::TextEdit;

/// What the client says changed.
pub(crate) enum Change {
    /// Everything.
    Full(String),
    /// The text between two positions.
    Range(Point, Point, String),
}

/// The document after `changes`, which apply one after the other.
pub(crate) fn edited(
    before: &Snapshot,
    version: i32,
    changes: Vec<Change>,
    encoding: Encoding,
) -> Snapshot {
    let mut rope = before.rope.clone();
    let mut edits = Some(Vec::new());
    for change in changes {
        match change {
            Change::Full(text) => {
                rope = Rope::from_str(&text);
                edits = None;
            }
            Change::Range(start, end, text) => {
                let span = position::span(&rope, start, end, encoding);
                let chars =
                    rope.byte_to_char(span.start as usize)..rope.byte_to_char(span.end as usize);
                let at = chars.start;
                rope.remove(chars);
                rope.insert(at, &text);
                if let Some(edits) = &mut edits {
                    edits.push(TextEdit { span, text });
                }
            }
        }
    }
    before.edited(version, rope, edits)
}

/// How the queries of a model are run: as the settings say, under the constants it was analysed
/// with, so that an answer belongs to what was judged here.
pub(crate) fn options(model: &Snapshot, settings: &Settings) -> Options {
    Options {
        constants: (**model.constants()).clone(),
        ..settings.options.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use zonelens_syntax::ast::FileKind;

    #[test]
    fn edits_reach_text_and_tree_alike() {
        let open = Snapshot::open(
            "file:///m.xta".into(),
            FileKind::Xta,
            1,
            "int a;\nint é;\n",
            Arc::default(),
        );
        assert_eq!(&*open.file().text, "int a;\nint é;\n");
        let at = |line, column| Point { line, column };
        let changes = vec![
            Change::Range(at(1, 4), at(1, 5), "bb".into()),
            Change::Range(at(0, 0), at(0, 0), "// 𝄞\n".into()),
            Change::Range(at(0, 5), at(1, 3), "\nbool".into()),
        ];
        let after = edited(&open, 2, changes, Encoding::Utf16);
        assert_eq!(after.rope.to_string(), "// 𝄞\nbool a;\nint bb;\n");
        assert_eq!(&*after.file().text, "// 𝄞\nbool a;\nint bb;\n");
        let again = edited(&after, 3, vec![Change::Full("x".into())], Encoding::Utf16);
        assert_eq!(&*again.file().text, "x");
        assert_eq!(again.version, 3);
    }
}
