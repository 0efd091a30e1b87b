//! From the server's own types to those of the protocol.

use crate::code_lens::Lens;
use crate::diagnostics::Finding;
use crate::from_proto;
use crate::position::{self, Encoding, Point};
use std::collections::HashMap;
use std::str::FromStr;
use std::sync::Arc;
use tower_lsp_server::ls_types as lsp;
use zonelens_analysis::diagnostic::{Diagnostic, Severity};
use zonelens_analysis::ide::DefKind;
use zonelens_ide::Snapshot;
use zonelens_ide::call_hierarchy::Caller;
use zonelens_ide::code_action::{Action, Kind};
use zonelens_ide::completion::Proposal;
use zonelens_ide::document_link::Link;
use zonelens_ide::folding_range::Fold;
use zonelens_ide::names::Target;
use zonelens_ide::semantic_tokens::Token;
use zonelens_ide::signature_help::Signature;
use zonelens_ide::trace::Hint;
use zonelens_ide::workspace_symbol::Found;
use zonelens_syntax::span::{Span, TextEdit};

/// A document with the encoding agreed on: what spans need to become ranges.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    /// The document.
    pub snapshot: &'a Arc<Snapshot>,
    /// The unit of columns: UTF-8, UTF-16 or UTF-32.
    pub encoding: Encoding,
}

impl Place<'_> {
    /// The byte at a position.
    pub(crate) fn offset(&self, position: lsp::Position) -> u32 {
        let point = from_proto::point(position);
        position::offset(&self.snapshot.rope, point, self.encoding)
    }

    /// The bytes of a range, in order even if the client mixed them up.
    pub(crate) fn span(&self, range: lsp::Range) -> Span {
        let (start, end) = (self.offset(range.start), self.offset(range.end));
        Span::new(start.min(end), start.max(end))
    }

    /// A position.
    pub(crate) fn position(&self, offset: u32) -> lsp::Position {
        let rope = &self.snapshot.rope;
        let Point { line, column } = match self.snapshot.lines_if_known() {
            Some(lines) => position::point_by(lines, rope, offset, self.encoding),
            None => position::point(rope, offset, self.encoding),
        };
        lsp::Position::new(line, column)
    }

    /// A range.
    pub(crate) fn range(&self, span: Span) -> lsp::Range {
        lsp::Range::new(self.position(span.start), self.position(span.end))
    }

    /// A text edit.
    pub(crate) fn edit(&self, edit: &TextEdit) -> lsp::TextEdit {
        lsp::TextEdit::new(self.range(edit.span), edit.text.clone())
    }
}

/// A URI; `None` if the text is none (it came from the client, so it is one).
pub(crate) fn uri(text: &str) -> Option<lsp::Uri> {
    lsp::Uri::from_str(text).ok()
}

/// A severity.
pub(crate) fn severity(severity: Severity) -> lsp::DiagnosticSeverity {
    match severity {
        Severity::Error => lsp::DiagnosticSeverity::ERROR,
        Severity::Warning => lsp::DiagnosticSeverity::WARNING,
        Severity::Info => lsp::DiagnosticSeverity::INFORMATION,
        Severity::Hint => lsp::DiagnosticSeverity::HINT,
    }
}

/// What a finding is about, with its places in other documents.
pub(crate) fn finding(place: Place<'_>, finding: &Finding) -> lsp::Diagnostic {
    let mut out = diagnostic(place, &finding.diagnostic);
    let elsewhere = finding.elsewhere.iter().filter_map(|(target, message)| {
        Some(lsp::DiagnosticRelatedInformation {
            location: location(target, place.encoding)?,
            message: message.clone(),
        })
    });
    let elsewhere: Vec<_> = elsewhere.collect();
    if !elsewhere.is_empty() {
        out.related_information
            .get_or_insert_default()
            .extend(elsewhere);
    }
    out
}

/// A diagnostic.
pub(crate) fn diagnostic(place: Place<'_>, d: &Diagnostic) -> lsp::Diagnostic {
    let related = uri(&place.snapshot.uri).map(|uri| {
        d.related
            .iter()
            .map(|r| lsp::DiagnosticRelatedInformation {
                location: lsp::Location::new(uri.clone(), place.range(r.span)),
                message: r.message.clone(),
            })
            .collect::<Vec<_>>()
    });
    let unused = [
        "lint/never-happens",
        "lint/never-read",
        "lint/unused-select",
        "lint/clock-never-read",
    ];
    let tags = unused
        .contains(&d.code)
        .then(|| vec![lsp::DiagnosticTag::UNNECESSARY]);
    lsp::Diagnostic {
        range: place.range(d.span),
        severity: Some(severity(d.severity)),
        code: Some(lsp::NumberOrString::String(d.code.to_owned())),
        code_description: None,
        source: Some("zonelens".to_owned()),
        message: d.message.clone(),
        related_information: related.filter(|r| !r.is_empty()),
        tags,
        data: None,
    }
}

/// A lens.
pub(crate) fn code_lens(place: Place<'_>, lens: Lens) -> lsp::CodeLens {
    let start = place.position(lens.span.start);
    let end = place.position(lens.span.end);
    // A lens must not span lines: some clients drop it.
    let end = if end.line == start.line { end } else { start };
    lsp::CodeLens {
        range: lsp::Range::new(start, end),
        command: Some(lsp::Command {
            title: lens.title,
            command: lens.command.to_owned(),
            arguments: (!lens.command.is_empty()).then(|| vec![lens.argument]),
        }),
        data: None,
    }
}

/// A place in some document.
pub(crate) fn location(target: &Target, encoding: Encoding) -> Option<lsp::Location> {
    let place = Place {
        snapshot: &target.snapshot,
        encoding,
    };
    Some(lsp::Location::new(
        uri(&target.snapshot.uri)?,
        place.range(target.span),
    ))
}

/// The version of a document that edits are meant for; `None` for one that the client has not
/// opened.
pub(crate) type VersionOf<'a> = &'a dyn Fn(&Arc<Snapshot>) -> Option<i32>;

/// Edits of documents. With `versions` each document's edits say which version they are meant for,
/// so that a client that has gone on refuses them instead of changing something else.
pub(crate) fn workspace_edit(
    documents: &[(Arc<Snapshot>, Vec<TextEdit>)],
    encoding: Encoding,
    versions: Option<VersionOf<'_>>,
) -> lsp::WorkspaceEdit {
    let converted = documents.iter().filter_map(|(snapshot, edits)| {
        let place = Place { snapshot, encoding };
        let edits: Vec<_> = edits.iter().map(|e| place.edit(e)).collect();
        Some((snapshot, uri(&snapshot.uri)?, edits))
    });
    let Some(version) = versions else {
        return lsp::WorkspaceEdit {
            changes: Some(converted.map(|(_, uri, edits)| (uri, edits)).collect()),
            ..lsp::WorkspaceEdit::default()
        };
    };
    let documents = converted.map(|(snapshot, uri, edits)| lsp::TextDocumentEdit {
        text_document: lsp::OptionalVersionedTextDocumentIdentifier {
            uri,
            version: version(snapshot),
        },
        edits: edits.into_iter().map(lsp::OneOf::Left).collect(),
    });
    lsp::WorkspaceEdit {
        document_changes: Some(lsp::DocumentChanges::Edits(documents.collect())),
        ..lsp::WorkspaceEdit::default()
    }
}

/// The protocol's word for a kind of change.
pub(crate) fn action_kind(kind: Kind) -> lsp::CodeActionKind {
    match kind {
        Kind::QuickFix => lsp::CodeActionKind::QUICKFIX,
        Kind::Extract => lsp::CodeActionKind::REFACTOR_EXTRACT,
        Kind::Rewrite => lsp::CodeActionKind::REFACTOR_REWRITE,
    }
}

/// A change that is offered; `link` adds the page of the diagnostic that it repairs.
pub(crate) fn code_action(
    place: Place<'_>,
    action: &Action,
    link: &dyn Fn(&mut lsp::Diagnostic),
) -> Option<lsp::CodeActionOrCommand> {
    let repaired = action.diagnostic.as_ref().map(|d| {
        let mut diagnostic = diagnostic(place, d);
        link(&mut diagnostic);
        vec![diagnostic]
    });
    let edits = action.edits.iter().map(|e| place.edit(e)).collect();
    let changes = HashMap::from([(uri(&place.snapshot.uri)?, edits)]);
    Some(lsp::CodeActionOrCommand::CodeAction(lsp::CodeAction {
        title: action.title.clone(),
        kind: Some(action_kind(action.kind)),
        diagnostics: repaired,
        edit: Some(lsp::WorkspaceEdit {
            changes: Some(changes),
            ..lsp::WorkspaceEdit::default()
        }),
        is_preferred: Some(action.preferred),
        ..lsp::CodeAction::default()
    }))
}

fn symbol_kind(kind: Option<DefKind>) -> lsp::SymbolKind {
    match kind {
        None => lsp::SymbolKind::BOOLEAN,
        Some(DefKind::Constant) => lsp::SymbolKind::CONSTANT,
        Some(DefKind::Variable | DefKind::Clock | DefKind::Bound) => lsp::SymbolKind::VARIABLE,
        Some(DefKind::Parameter) => lsp::SymbolKind::TYPE_PARAMETER,
        Some(DefKind::Channel) => lsp::SymbolKind::EVENT,
        Some(DefKind::Type) => lsp::SymbolKind::STRUCT,
        Some(DefKind::Field) => lsp::SymbolKind::FIELD,
        Some(DefKind::Function) => lsp::SymbolKind::FUNCTION,
        Some(DefKind::Template) => lsp::SymbolKind::CLASS,
        Some(DefKind::Process) => lsp::SymbolKind::OBJECT,
        Some(DefKind::Location | DefKind::Branchpoint) => lsp::SymbolKind::ENUM_MEMBER,
    }
}

/// The protocol's number for a kind of definition; without one, for a query.
pub(crate) fn symbol_number(kind: Option<DefKind>) -> u32 {
    // The type has no other way to its number.
    let number = serde_json::to_value(symbol_kind(kind)).ok();
    let number = number.and_then(|n| u32::try_from(n.as_u64()?).ok());
    number.unwrap_or_default()
}

/// A foldable range.
pub(crate) fn folding_range(fold: &Fold) -> lsp::FoldingRange {
    lsp::FoldingRange {
        start_line: fold.lines.0,
        end_line: fold.lines.1,
        kind: fold.comment.then_some(lsp::FoldingRangeKind::Comment),
        ..lsp::FoldingRange::default()
    }
}

/// Nested selections; `None` if there is none.
pub(crate) fn selection_range(place: Place<'_>, spans: &[Span]) -> Option<lsp::SelectionRange> {
    let mut out = None;
    for span in spans.iter().rev() {
        out = Some(lsp::SelectionRange {
            range: place.range(*span),
            parent: out.map(Box::new),
        });
    }
    out
}

/// A proposal; `written` says how its text is written where it goes.
pub(crate) fn completion_item(
    proposal: Proposal,
    written: &dyn Fn(&str) -> String,
) -> lsp::CompletionItem {
    let kind = match proposal.kind {
        None if proposal.snippet.is_some() => lsp::CompletionItemKind::SNIPPET,
        None => lsp::CompletionItemKind::KEYWORD,
        Some(DefKind::Constant) => lsp::CompletionItemKind::CONSTANT,
        Some(DefKind::Channel) => lsp::CompletionItemKind::EVENT,
        Some(DefKind::Type) => lsp::CompletionItemKind::STRUCT,
        Some(DefKind::Field) => lsp::CompletionItemKind::FIELD,
        Some(DefKind::Function) => lsp::CompletionItemKind::FUNCTION,
        Some(DefKind::Template) => lsp::CompletionItemKind::CLASS,
        Some(DefKind::Process) => lsp::CompletionItemKind::MODULE,
        Some(DefKind::Location | DefKind::Branchpoint) => lsp::CompletionItemKind::ENUM_MEMBER,
        Some(_) => lsp::CompletionItemKind::VARIABLE,
    };
    let escaped = || {
        let text = written(&proposal.label);
        (text != proposal.label).then_some(text)
    };
    lsp::CompletionItem {
        insert_text: proposal.snippet.map(str::to_owned).or_else(escaped),
        label: proposal.label,
        kind: Some(kind),
        detail: Some(proposal.detail).filter(|d| !d.is_empty()),
        insert_text_format: proposal.snippet.map(|_| lsp::InsertTextFormat::SNIPPET),
        ..lsp::CompletionItem::default()
    }
}

/// Tokens as differences to the one before, five numbers for each.
pub(crate) fn token_numbers(place: Place<'_>, tokens: &[Token]) -> Vec<u32> {
    let lines = place.snapshot.lines();
    let mut data = Vec::with_capacity(tokens.len() * 5);
    let (mut line, mut last) = (0, (0, 0));
    for token in tokens {
        line = lines.line_from(line, token.span.start);
        let (start, length) = match lines.ascii_columns(line, token.span) {
            Some((column, length)) => ((line, column), length),
            None => {
                let range = place.range(token.span);
                if range.start.line != range.end.line {
                    continue;
                }
                let (from, to) = (range.start.character, range.end.character);
                ((range.start.line, from), to - from)
            }
        };
        let from = if start.0 == last.0 { last.1 } else { 0 };
        let place = [start.0 - last.0, start.1 - from, length];
        data.extend(place.into_iter().chain([token.kind, token.modifiers]));
        last = start;
    }
    data
}

/// A hint; `kind` where the protocol has a word for it.
pub(crate) fn inlay_hint(
    place: Place<'_>,
    hint: &Hint,
    kind: Option<lsp::InlayHintKind>,
) -> lsp::InlayHint {
    lsp::InlayHint {
        position: place.position(hint.offset),
        label: lsp::InlayHintLabel::String(hint.label.clone()),
        kind,
        text_edits: None,
        tooltip: None,
        padding_left: Some(true),
        padding_right: Some(true),
        data: None,
    }
}

/// A signature.
pub(crate) fn signature_help(signature: Signature) -> lsp::SignatureHelp {
    let active = signature.active as u32;
    let parameter = |text: String| lsp::ParameterInformation {
        label: lsp::ParameterLabel::Simple(text),
        documentation: None,
    };
    lsp::SignatureHelp {
        signatures: vec![lsp::SignatureInformation {
            label: signature.label,
            documentation: None,
            parameters: Some(signature.parameters.into_iter().map(parameter).collect()),
            active_parameter: Some(active),
        }],
        active_signature: Some(0),
        active_parameter: Some(active),
    }
}

/// A declaration somewhere.
pub(crate) fn workspace_symbol(found: &Found, encoding: Encoding) -> Option<lsp::WorkspaceSymbol> {
    Some(lsp::WorkspaceSymbol {
        name: found.name.clone(),
        kind: symbol_kind(Some(found.kind)),
        tags: None,
        container_name: found.container.clone(),
        location: lsp::OneOf::Left(location(&found.target, encoding)?),
        data: None,
    })
}

/// An end of calls.
pub(crate) fn caller(caller: &Caller, encoding: Encoding) -> Option<lsp::CallHierarchyItem> {
    let place = Place {
        snapshot: &caller.target.snapshot,
        encoding,
    };
    Some(lsp::CallHierarchyItem {
        name: caller.name.clone(),
        kind: symbol_kind(Some(caller.kind)),
        tags: None,
        detail: Some(caller.detail.clone()),
        uri: uri(&caller.target.snapshot.uri)?,
        range: place.range(caller.full),
        selection_range: place.range(caller.target.span),
        data: None,
    })
}

/// A link.
pub(crate) fn document_link(place: Place<'_>, link: &Link) -> Option<lsp::DocumentLink> {
    Some(lsp::DocumentLink {
        range: place.range(link.span),
        target: Some(uri(&link.target)?),
        tooltip: Some(link.tooltip.clone()),
        data: None,
    })
}

/// Tokens from plain numbers.
pub(crate) fn tokens_of(numbers: &[u32]) -> Vec<lsp::SemanticToken> {
    let token = |five: &[u32]| match *five {
        [
            delta_line,
            delta_start,
            length,
            token_type,
            token_modifiers_bitset,
        ] => Some(lsp::SemanticToken {
            delta_line,
            delta_start,
            length,
            token_type,
            token_modifiers_bitset,
        }),
        _ => None,
    };
    numbers.chunks(5).filter_map(token).collect()
}

/// Markdown about a place.
pub(crate) fn hover(place: Place<'_>, span: Span, value: String) -> lsp::Hover {
    lsp::Hover {
        contents: lsp::HoverContents::Markup(lsp::MarkupContent {
            kind: lsp::MarkupKind::Markdown,
            value,
        }),
        range: Some(place.range(span)),
    }
}
