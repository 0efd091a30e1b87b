//! Collects the parts of an XML model from the items of an `.xta` file.
//!
//! `//@ xml` lines mark where sections begin. Without them, declarations up to the last process are
//! global and the rest belongs to the system section.

use super::node::{Node, many_lines, read_fragment};
use super::template::{Template, collect_template, tidy};
use super::xml_query::XmlQuery;
use crate::SourceFile;
use crate::ast::{Item, ItemKind, Placed, Pragma, PragmaKind, Query};
use crate::error::SyntaxError;
use crate::span::Span;

/// A model about to be written as XML.
#[derive(Default)]
pub(crate) struct Model {
    pub prolog: Option<String>,
    pub root: Option<Node>,
    pub blocks: Vec<Block>,
}

/// A child of `<nta>`.
pub(crate) enum Block {
    Section(Section),
    Template(Box<Template>),
    /// `<lsc>`, `<imports>` and comments, copied unchanged.
    Raw(String),
    Queries(Node, Vec<XmlQuery>),
}

/// `<declaration>`, `<instantiation>` or `<system>`.
pub(crate) struct Section {
    pub node: Node,
    pub text: String,
    /// Whether a marker started the section, so that its text is copied byte for byte.
    pub exact: bool,
}

/// A comment outside declarations and labels, to be written as an XML comment.
#[derive(Clone, Debug)]
pub(crate) enum Note {
    /// `//…` or `/*…*/`
    Xta(String),
    /// The content of an XML comment.
    Xml(String),
}

pub(crate) fn collect(file: &SourceFile) -> Result<Model, Vec<SyntaxError>> {
    let last_process = file
        .items
        .iter()
        .rposition(|i| matches!(i.node.kind, ItemKind::Process(_)));
    let mut collector = Collector {
        text: &file.text,
        model: Model::default(),
        errors: Vec::new(),
        current: None,
        pending: String::new(),
        template: None,
        last_process,
        system_seen: false,
    };
    for (index, item) in file.items.iter().enumerate() {
        collector.item(index, item);
    }
    collector.finish()
}

/// A piece of text between `//@` lines, or such a line.
enum Piece<'a> {
    Text(&'a str),
    Pragma(&'a Pragma),
}

struct Collector<'a> {
    text: &'a str,
    model: Model,
    errors: Vec<SyntaxError>,
    /// The section that receives text, as an index into the blocks.
    current: Option<usize>,
    /// Text that belongs to whatever comes next.
    pending: String,
    /// The fragment for the next process.
    template: Option<Node>,
    last_process: Option<usize>,
    system_seen: bool,
}

impl<'a> Collector<'a> {
    fn item(&mut self, index: usize, item: &'a Placed<Item>) {
        let start = item.offset;
        let whole = Span::new(start, start + item.len);
        match &item.node.kind {
            ItemKind::Process(_) => {
                let body = start + item.node.span.start;
                self.pieces(Span::new(start, body), &item.node.pragmas, start);
                self.process(item);
            }
            ItemKind::Query(query) => {
                let body = item.node.span.shift(start);
                self.pieces(Span::new(start, body.start), &item.node.pragmas, start);
                self.query_block(query, body);
                self.pieces(Span::new(body.end, whole.end), &item.node.pragmas, start);
                self.settle("system");
            }
            kind => {
                let of_system = matches!(
                    kind,
                    ItemKind::Instantiation(_)
                        | ItemKind::System(_)
                        | ItemKind::Progress(_)
                        | ItemKind::Gantt(_)
                );
                self.system_seen |= of_system;
                let global = match self.last_process {
                    Some(last) => index < last,
                    None => !self.system_seen,
                };
                self.pieces(whole, &item.node.pragmas, start);
                self.settle(if global && !of_system {
                    "declaration"
                } else {
                    "system"
                });
            }
        }
    }

    /// Processes a part of the text and removes the `//@` lines with XML or queries from it.
    fn pieces(&mut self, range: Span, pragmas: &'a [Pragma], base: u32) {
        for piece in cut(self.text, range, pragmas, base) {
            match piece {
                Piece::Text(text) => match self.section() {
                    Some(section) => section.text.push_str(text),
                    None => self.pending.push_str(text),
                },
                Piece::Pragma(pragma) => self.pragma(pragma, base),
            }
        }
    }

    fn section(&mut self) -> Option<&mut Section> {
        match self.model.blocks.get_mut(self.current?) {
            Some(Block::Section(section)) => Some(section),
            _ => None,
        }
    }

    fn pragma(&mut self, pragma: &Pragma, base: u32) {
        match &pragma.kind {
            PragmaKind::Query(query) => self.query(query, pragma.span.shift(base)),
            PragmaKind::Xml(line) => self.marker(line, pragma.span.shift(base)),
            _ => {}
        }
    }

    fn marker(&mut self, line: &str, span: Span) {
        if line.contains("<!DOCTYPE") || line.starts_with("<?") {
            self.model.prolog = Some(many_lines(line).trim().to_owned());
            return;
        }
        if line.starts_with("<!--") {
            match comment_inside(line) {
                Some(inside) => {
                    self.close();
                    let raw = format!("<!--{inside}-->");
                    self.model.blocks.push(Block::Raw(raw));
                }
                None => self.errors.push(bad_fragment(NO_COMMENT, span)),
            }
            return;
        }
        let raw_children = ["<queries", "<query", "<heading"]
            .iter()
            .any(|tag| line.starts_with(tag));
        let node = match read_fragment(line, raw_children) {
            Ok(node) => node,
            Err(message) => {
                self.errors.push(bad_fragment(&message, span));
                return;
            }
        };
        match node.tag.as_str() {
            "nta" => self.model.root = Some(node),
            "declaration" | "instantiation" | "system" => {
                self.close();
                self.open(node, true);
            }
            "template" => {
                self.close();
                self.template = Some(node);
            }
            "queries" => {
                self.close();
                self.model.blocks.push(Block::Queries(node, Vec::new()));
            }
            "query" => match self.last_query() {
                Some(query) if query.fragment.is_none() => query.fragment = Some(node),
                _ => self.errors.push(bad_fragment(
                    "a <query> must follow a `//@ query` line",
                    span,
                )),
            },
            "heading" => self.add_query(XmlQuery::heading(node)),
            "lsc" | "imports" => {
                self.close();
                self.model.blocks.push(Block::Raw(many_lines(line)));
            }
            tag => {
                let message = format!("a <{tag}> does not belong here");
                self.errors.push(bad_fragment(&message, span));
            }
        }
    }

    fn open(&mut self, node: Node, exact: bool) {
        let text = std::mem::take(&mut self.pending);
        // Blanks between a process and the marker are layout, but comments there must not be lost.
        let mut text = Some(text)
            .filter(|t| !t.trim().is_empty())
            .unwrap_or_default();
        // Text without a marker comes first, in one element.
        let unmarked =
            |b: &Block| matches!(b, Block::Section(s) if s.node.tag == node.tag && !s.exact);
        if let Some(at) = self.model.blocks.iter().position(unmarked)
            && let Block::Section(section) = self.model.blocks.remove(at)
        {
            text = format!("{}\n{text}", tidy(&section.text));
        }
        self.current = Some(self.model.blocks.len());
        self.model
            .blocks
            .push(Block::Section(Section { node, text, exact }));
    }

    /// Ends the current section.
    fn close(&mut self) {
        if let Some(section) = self.section().filter(|s| s.exact)
            && section.text.ends_with('\n')
        {
            section.text.pop();
        }
        self.current = None;
    }

    /// Puts text that no marker has claimed into the section `tag`.
    fn settle(&mut self, tag: &str) {
        let text = std::mem::take(&mut self.pending);
        if text.trim().is_empty() {
            // Kept, so that blank lines between declarations stay.
            self.pending = text;
            return;
        }
        let found = self.model.blocks.iter_mut().rev().find_map(|b| match b {
            Block::Section(s) if s.node.tag == tag => Some(s),
            _ => None,
        });
        if let Some(section) = found {
            if section.exact && !section.text.ends_with('\n') {
                section.text.push('\n');
            }
            section.text.push_str(&text);
            return;
        }
        let at = match tag {
            "declaration" => 0,
            _ => {
                let blocks = &self.model.blocks;
                let last = blocks.iter().rposition(|b| !is_queries(b));
                last.map_or(0, |i| i + 1)
            }
        };
        let section = Section {
            node: Node::new(tag),
            text,
            exact: false,
        };
        self.model.blocks.insert(at, Block::Section(section));
    }

    fn last_query(&mut self) -> Option<&mut XmlQuery> {
        match self.model.blocks.iter_mut().rfind(|b| is_queries(b)) {
            Some(Block::Queries(_, queries)) => queries.last_mut(),
            _ => None,
        }
    }

    fn add_query(&mut self, query: XmlQuery) {
        match self.model.blocks.iter_mut().rfind(|b| is_queries(b)) {
            Some(Block::Queries(_, queries)) => queries.push(query),
            _ => {
                let block = Block::Queries(Node::new("queries"), vec![query]);
                self.model.blocks.push(block);
            }
        }
    }

    /// `//@ query FORMULA`
    fn query(&mut self, query: &Query, span: Span) {
        let line = self.text.get(span.range()).unwrap_or("");
        let rest = line.trim_start_matches("//@").trim_start();
        let formula = rest.strip_prefix("query").unwrap_or(rest).trim();
        self.add_query(XmlQuery::new(query, formula));
    }

    /// `query { FORMULA }`
    fn query_block(&mut self, query: &Query, span: Span) {
        let text = self.text.get(span.range()).unwrap_or("");
        let inside = text
            .split_once('{')
            .and_then(|(_, rest)| rest.rsplit_once('}'))
            .map_or(text, |(inside, _)| inside);
        self.add_query(XmlQuery::new(query, inside.trim()));
    }

    fn process(&mut self, item: &'a Placed<Item>) {
        self.close();
        let fragment = self.template.take();
        let pending = std::mem::take(&mut self.pending);
        let notes = comments_of(&pending).into_iter().map(Note::Xta).collect();
        match collect_template(self.text, item, fragment, notes) {
            Ok(template) => {
                for (query, span) in &template.queries {
                    self.query(query, *span);
                }
                let block = Block::Template(Box::new(template));
                self.model.blocks.push(block);
            }
            Err(mut errors) => self.errors.append(&mut errors),
        }
    }

    fn finish(mut self) -> Result<Model, Vec<SyntaxError>> {
        self.close();
        self.settle("system");
        let system = |b: &Block| matches!(b, Block::Section(s) if s.node.tag == "system");
        if !self.model.blocks.iter().any(system) {
            self.model.blocks.push(Block::Section(Section {
                node: Node::new("system"),
                text: String::new(),
                exact: false,
            }));
        }
        // XML readers expect the system after the templates and the queries last, wherever their
        // lines were.
        self.model.blocks.sort_by_key(|b| match b {
            Block::Section(s) if s.node.tag == "system" && !s.exact => 1,
            Block::Queries(..) => 2,
            _ => 0,
        });
        if self.errors.is_empty() {
            Ok(self.model)
        } else {
            Err(self.errors)
        }
    }
}

fn is_queries(block: &Block) -> bool {
    matches!(block, Block::Queries(..))
}

/// The comments of a text in order, without the `//@` lines that are removed from it.
pub(crate) fn comments_of(text: &str) -> Vec<String> {
    crate::lexer::lex(text, crate::lexer::Mode::Model)
        .into_iter()
        .filter(|t| t.kind.is_comment())
        .map(|t| text[t.start as usize..t.end as usize].to_owned())
        .collect()
}

/// Whether a `//@` line is removed from the text.
pub(crate) fn is_taken(kind: &PragmaKind) -> bool {
    matches!(
        kind,
        PragmaKind::Query(_) | PragmaKind::Expect(_) | PragmaKind::Xml(_)
    )
}

/// An error for a `//@ xml` line.
pub(crate) fn bad_fragment(message: &str, span: Span) -> SyntaxError {
    SyntaxError::new(
        "syntax/convert",
        format!("this `//@ xml` line cannot be read: {message}; correct it or remove it"),
        span,
    )
}

/// The message for a malformed comment.
pub(crate) const NO_COMMENT: &str = "the comment must end with `-->` and nothing may follow";

/// The content of the single XML comment that a line consists of.
pub(crate) fn comment_inside(line: &str) -> Option<String> {
    let inside = line.strip_prefix("<!--")?.strip_suffix("-->")?;
    (!inside.contains("-->")).then(|| many_lines(inside))
}

/// Cuts `range` at the `//@` lines to remove; each includes its line break if nothing else is on
/// the line.
fn cut<'a>(text: &'a str, range: Span, pragmas: &'a [Pragma], base: u32) -> Vec<Piece<'a>> {
    let mut out = Vec::new();
    let mut from = range.start as usize;
    let end = range.end as usize;
    for pragma in pragmas.iter().filter(|p| is_taken(&p.kind)) {
        let span = pragma.span.shift(base);
        if span.start < range.start || span.end > range.end {
            continue;
        }
        let before = &text[from..span.start as usize];
        let kept = before.trim_end_matches([' ', '\t']);
        let alone =
            kept.is_empty() && (from == 0 || text[..from].ends_with('\n')) || kept.ends_with('\n');
        out.push(Piece::Text(if alone { kept } else { before }));
        out.push(Piece::Pragma(pragma));
        from = span.end as usize;
        if alone {
            let rest = &text[from..end];
            let breaks = ["\r\n", "\n"].into_iter().find(|b| rest.starts_with(b));
            from += breaks.map_or(0, str::len);
        }
    }
    out.push(Piece::Text(&text[from.min(end)..end]));
    out
}

/// The `text` of a part of a process, without the lines to remove.
pub(crate) fn without_pragmas(text: &str, range: Span, pragmas: &[(Span, &PragmaKind)]) -> String {
    let owned: Vec<Pragma> = pragmas
        .iter()
        .map(|(span, kind)| Pragma {
            kind: (*kind).clone(),
            span: *span,
        })
        .collect();
    cut(text, range, &owned, 0)
        .into_iter()
        .filter_map(|p| match p {
            Piece::Text(text) => Some(text),
            Piece::Pragma(_) => None,
        })
        .collect()
}
