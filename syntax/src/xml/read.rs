//! Builds the items of an XML file from its plan.

use super::dom;
use super::plan::{
    Plan, PlanEdge, PlanItem, PlanLocation, PlanMember, PlanQuery, PlanTemplate, TextId, plan,
};
use crate::ast::{
    Branchpoint, Edge, Expectation, Feature, FileKind, Graphics, Ident, Item, ItemKind, Location,
    Member, MemberKind, Placed, Process, QueryKind, Section, Unsupported,
};
use crate::build::{Builder, RawItem};
use crate::chunk::{Chunk, Region, Store};
use crate::error::SyntaxError;
use crate::grammar::P;
use crate::lexer::{Mode, Token, Tokens};
use crate::source::{SourceFile, system_line_errors};
use crate::span::Span;
use crate::split::next_item;
use crate::text_map::TextMap;
use crate::xta::raw_item;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Items of an earlier parse by their raw text and, for those of a declaration, its section: the
/// tree depends on nothing else.
pub(super) type OldItems<'a> = FxHashMap<(&'a str, Option<Section>), &'a Arc<Item>>;

/// The key of items that are whole elements.
const WHOLE: Option<Section> = None;

/// An item with its tokens.
enum Prepared {
    Plain(u32, u32, RawItem, Section),
    Template(Box<PlanTemplate>, Vec<PreparedMember>, Option<Chunk>),
    Query(Box<PlanQuery>, Option<Chunk>),
    Lsc(Span),
    Old(Placed<Item>),
}

enum PreparedMember {
    Declaration(u32, u32, RawItem),
    Location(Box<PlanLocation>, [Option<Chunk>; 2]),
    Branchpoint(Span, Ident, Graphics),
    Init(Span, Ident),
    Edge(Box<PlanEdge>, Box<[Option<Chunk>; 5]>),
}

/// Parses an XML file, reusing what `old` has already parsed from the same text.
pub(crate) fn parse(text: Arc<str>, old: Option<&SourceFile>) -> SourceFile {
    let doc = dom::read(&text);
    let mut file_errors = doc.errors;
    let Some(root) = doc.root else {
        if file_errors.is_empty() {
            file_errors.push(SyntaxError::new(
                "syntax/xml",
                "there is no <nta> element: this is not a model",
                Span::START,
            ));
        }
        return SourceFile {
            kind: FileKind::Xml,
            items: Vec::new(),
            file_errors,
            reach: Vec::new(),
            sections: Vec::new(),
            text,
        };
    };
    // Recovery from errors depends on the text before them, so only well-formed documents share
    // templates.
    let sound = |errors: &[SyntaxError]| errors.iter().all(|e| e.code != "syntax/xml");
    let old = old.filter(|old| sound(&old.file_errors) && sound(&file_errors));
    let known = old.map(|old| old_items(old, &old.items));
    let known = known.unwrap_or_default();
    let mut plan = plan(&text, &root, &|template| {
        known.contains_key(&(template, WHOLE))
    });
    file_errors.append(&mut plan.errors);
    let sections = plan.items.iter().filter_map(|item| match item {
        PlanItem::Declarations(_, section, span) => Some((*span, *section)),
        _ => None,
    });
    let sections = sections.collect();
    let items = items(&text, plan, &known);
    if let Some(system) = root.child("system") {
        let end = system.content.end;
        file_errors.extend(system_line_errors(
            &items,
            Span::new(system.content.start.min(end), end),
        ));
    }
    let reach = items.iter().map(|i| i.len).collect();
    SourceFile {
        kind: FileKind::Xml,
        items,
        file_errors,
        reach,
        sections,
        text: text.clone(),
    }
}

/// The items of a plan for `raw`; those in `known` with the same text are reused.
pub(super) fn items(raw: &str, plan: Plan, known: &OldItems<'_>) -> Vec<Placed<Item>> {
    let mut store = Store::default();
    let mut prepare = Prepare {
        texts: &plan.texts,
        store: &mut store,
    };
    let mut prepared = Vec::new();
    for item in plan.items {
        match item {
            PlanItem::Declarations(text, section, _) => {
                let verbatim = matches!(plan.texts[text].map, TextMap::Shift(_));
                for (offset, len, item) in prepare.declarations(text, None) {
                    let span = Span::new(offset, offset + len);
                    let own = &raw[span.range()];
                    let old = known.get(&(own, Some(section)));
                    prepared.push(match old.filter(|_| verbatim && is_verbatim(own)) {
                        Some(node) => Prepared::Old(placed(span, Arc::clone(node))),
                        None => Prepared::Plain(offset, len, item, section),
                    });
                }
            }
            PlanItem::Template(template) => prepared.push(prepare.template(template)),
            PlanItem::Known(span) => {
                if let Some(node) = known.get(&(&raw[span.range()], WHOLE)) {
                    prepared.push(Prepared::Old(placed(span, Arc::clone(node))));
                }
            }
            PlanItem::Query(query) => {
                prepared.push(match known.get(&(&raw[query.span.range()], WHOLE)) {
                    Some(node) => Prepared::Old(placed(query.span, Arc::clone(node))),
                    None => {
                        let formula = query
                            .formula
                            .map(|id| prepare.formula(id, query.span.start));
                        Prepared::Query(query, formula)
                    }
                });
            }
            PlanItem::Lsc(span) => prepared.push(Prepared::Lsc(span)),
        }
    }
    let builder = Builder::new(&store);
    prepared.into_iter().map(|p| build(&builder, p)).collect()
}

/// Whether the text means the same inside and outside CDATA.
fn is_verbatim(raw: &str) -> bool {
    !raw.contains(['&', '<']) && !raw.contains("]]>")
}

/// Items of an earlier parse by their text.
pub(super) fn old_items<'a>(
    old: &'a SourceFile,
    items: impl IntoIterator<Item = &'a Placed<Item>>,
) -> OldItems<'a> {
    let keyed = |i: &'a Placed<Item>| {
        let section = match &i.node.kind {
            _ if is_whole(&i.node) => WHOLE,
            ItemKind::Process(_) | ItemKind::Unsupported(_) => return None,
            _ => Some(i.node.section),
        };
        Some(((old.slice(i.span()), section), &i.node))
    };
    items.into_iter().filter_map(keyed).collect()
}

/// Whether an item is a whole element: a template or a query.
pub(super) fn is_whole(item: &Item) -> bool {
    match item.kind {
        ItemKind::Process(ref process) => process.graphics.is_some(),
        ItemKind::Query(_) => item.section == Section::Queries,
        _ => false,
    }
}

fn placed(span: Span, node: Arc<Item>) -> Placed<Item> {
    Placed {
        offset: span.start,
        len: span.len(),
        node,
    }
}

/// Creates tokens from the planned texts.
struct Prepare<'p, 't> {
    texts: &'t [dom::Decoded],
    store: &'p mut Store<'t>,
}

impl<'t> Prepare<'_, 't> {
    fn region(&self, id: TextId) -> Region<'t> {
        let decoded = &self.texts[id];
        Region {
            text: &decoded.text,
            map: &decoded.map,
        }
    }

    /// Splits a text into declarations: raw offset, raw length, tokens. Spans inside are relative
    /// to each declaration.
    fn declarations(&mut self, id: TextId, base: Option<u32>) -> Vec<(u32, u32, RawItem)> {
        let region = self.region(id);
        let mut out = Vec::new();
        let mut from = 0;
        while let Some(piece) = next_item(region.text, from) {
            let end = piece.end;
            let (start, stop) = (region.map.start(from), region.map.end(end));
            let empty = piece.tokens.is_empty();
            let raw = raw_item(self.store, region, from, piece, &Default::default());
            if !empty {
                out.push((start - base.unwrap_or(0), stop.max(start) - start, raw));
            }
            from = end;
        }
        out
    }

    /// The tokens of a label; spans are relative to `base`.
    fn label(&mut self, id: TextId, base: u32) -> Chunk {
        let region = self.region(id);
        let tokens: Vec<Token> = Tokens::new(region.text, 0, Mode::Model).collect();
        self.store
            .chunk(region, &tokens, base, region.text.len() as u32)
    }

    fn formula(&mut self, id: TextId, base: u32) -> Chunk {
        let region = self.region(id);
        let tokens: Vec<Token> = Tokens::new(region.text, 0, Mode::Query).collect();
        let mut chunk = self
            .store
            .chunk(region, &tokens, base, region.text.len() as u32);
        chunk.pragmas.clear();
        chunk
    }

    fn template(&mut self, mut template: Box<PlanTemplate>) -> Prepared {
        let base = template.span.start;
        let mut members = Vec::new();
        for member in std::mem::take(&mut template.members) {
            match member {
                PlanMember::Declarations(id) => {
                    let found = self.declarations(id, Some(base));
                    members.extend(
                        found
                            .into_iter()
                            .map(|(o, l, r)| PreparedMember::Declaration(o, l, r)),
                    );
                }
                PlanMember::Location(location) => {
                    let at = location.span.start;
                    let chunks = [location.invariant, location.rate]
                        .map(|id| id.map(|id| self.label(id, at)));
                    members.push(PreparedMember::Location(location, chunks));
                }
                PlanMember::Branchpoint {
                    span,
                    name,
                    graphics,
                } => {
                    members.push(PreparedMember::Branchpoint(span, name, graphics));
                }
                PlanMember::Init { span, target } => {
                    members.push(PreparedMember::Init(span, target))
                }
                PlanMember::Edge(edge) => {
                    let at = edge.span.start;
                    let chunks = edge.labels.map(|id| id.map(|id| self.label(id, at)));
                    members.push(PreparedMember::Edge(edge, Box::new(chunks)));
                }
            }
        }
        let parameter = template.parameter.map(|id| self.label(id, base));
        Prepared::Template(template, members, parameter)
    }
}

fn build(builder: &Builder<'_, '_>, prepared: Prepared) -> Placed<Item> {
    match prepared {
        Prepared::Old(item) => item,
        Prepared::Plain(offset, len, raw, section) => Placed {
            offset,
            len,
            node: Arc::new(builder.item(raw, section)),
        },
        Prepared::Lsc(span) => {
            let own = Span::new(0, span.len());
            let kind = ItemKind::Unsupported(Unsupported {
                feature: Feature::Lsc,
                names: Vec::new(),
                span: own,
            });
            let item = Item {
                kind,
                span: own,
                section: Section::Global,
                comments: Vec::new(),
                pragmas: Vec::new(),
                errors: Vec::new(),
            };
            placed(span, Arc::new(item))
        }
        Prepared::Query(query, formula) => {
            placed(query.span, Arc::new(query_item(builder, *query, formula)))
        }
        Prepared::Template(template, members, parameter) => {
            let span = template.span;
            placed(
                span,
                Arc::new(template_item(builder, *template, members, parameter)),
            )
        }
    }
}

fn query_item(builder: &Builder<'_, '_>, plan: PlanQuery, formula: Option<Chunk>) -> Item {
    let base = plan.span.start;
    let mut formula = formula.unwrap_or_default();
    let comments = std::mem::take(&mut formula.comments);
    let mut query = builder.query(formula);
    query.comment = plan.comment;
    query.results = plan.results;
    query.graphics = Some(Box::new(plan.graphics));
    query.expectation = plan
        .expectation
        .map(|(satisfied, span)| Expectation {
            satisfied,
            span: Span::new(span.start - base, span.end - base),
        })
        .or_else(|| {
            comments
                .iter()
                .find_map(|c| crate::build::expectation_comment(&c.text, c.span))
        });
    let own = Span::new(0, plan.span.len());
    if query.kind == QueryKind::Heading {
        query.span = own;
    }
    Item {
        kind: ItemKind::Query(query),
        span: own,
        section: Section::Queries,
        comments,
        pragmas: Vec::new(),
        errors: Vec::new(),
    }
}

fn template_item(
    builder: &Builder<'_, '_>,
    plan: PlanTemplate,
    members: Vec<PreparedMember>,
    parameter: Option<Chunk>,
) -> Item {
    let base = plan.span.start;
    let mut errors: Vec<SyntaxError> = plan
        .errors
        .into_iter()
        .map(|e| e.placed(|span| relative(span, base)))
        .collect();
    let mut comments = Vec::new();
    let params = parameter.and_then(|chunk| {
        let params = builder.parse(&builder.grammar.decl.bare_params, &chunk, &mut errors);
        errors.extend(chunk.errors);
        comments.extend(chunk.comments);
        params.filter(|p| !p.list.is_empty())
    });
    let members = members
        .into_iter()
        .map(|member| build_member(builder, member, base))
        .collect();
    let name = Ident {
        span: relative(plan.name.span, base),
        ..plan.name
    };
    let graphics = Some(Box::new(plan.graphics));
    let kind = ItemKind::Process(Process {
        name,
        params,
        members,
        graphics,
    });
    Item {
        kind,
        span: Span::new(0, plan.span.len()),
        section: Section::Global,
        comments,
        pragmas: Vec::new(),
        errors,
    }
}

fn relative(span: Span, base: u32) -> Span {
    Span::new(
        span.start.saturating_sub(base),
        span.end.saturating_sub(base),
    )
}

fn build_member(builder: &Builder<'_, '_>, member: PreparedMember, base: u32) -> Placed<Member> {
    let plain = |span: Span, kind: MemberKind| Placed {
        offset: span.start - base,
        len: span.len(),
        node: Arc::new(Member {
            kind,
            span: Span::new(0, span.len()),
            comments: Vec::new(),
            pragmas: Vec::new(),
            errors: Vec::new(),
        }),
    };
    match member {
        PreparedMember::Declaration(offset, len, raw) => {
            let item = builder.item(raw, Section::Template);
            Placed {
                offset,
                len,
                node: Arc::new(declaration_member(item)),
            }
        }
        PreparedMember::Branchpoint(span, name, graphics) => {
            let name = Ident {
                span: relative(name.span, span.start),
                ..name
            };
            let own = Span::new(0, span.len());
            let point = Branchpoint {
                name,
                graphics: Some(Box::new(graphics)),
                span: own,
            };
            plain(span, MemberKind::Branchpoints(vec![point]))
        }
        PreparedMember::Init(span, target) => plain(
            span,
            MemberKind::Init(Ident {
                span: relative(target.span, span.start),
                ..target
            }),
        ),
        PreparedMember::Location(location, chunks) => {
            build_location(builder, *location, chunks, base)
        }
        PreparedMember::Edge(edge, chunks) => build_edge(builder, *edge, *chunks, base),
    }
}

fn declaration_member(item: Item) -> Member {
    let Item {
        kind,
        span,
        comments,
        pragmas,
        errors,
        ..
    } = item;
    let kind = match kind {
        ItemKind::Var(v) => MemberKind::Var(v),
        ItemKind::Typedef(t) => MemberKind::Typedef(t),
        ItemKind::Function(f) => MemberKind::Function(f),
        ItemKind::Empty => MemberKind::Empty,
        ItemKind::Error(names) => MemberKind::Error(names),
        other => MemberKind::Misplaced(Box::new(other)),
    };
    Member {
        kind,
        span,
        comments,
        pragmas,
        errors,
    }
}

/// Collects comments, pragmas and errors of labels.
struct Labels<'b, 's, 't> {
    builder: &'b Builder<'s, 't>,
    comments: Vec<crate::ast::Comment>,
    pragmas: Vec<crate::ast::Pragma>,
    errors: Vec<SyntaxError>,
}

impl<'s, 't: 's> Labels<'_, 's, 't> {
    /// Parses a label; an empty text yields the default.
    fn read<T: Default>(&mut self, parser: &P<'s, T>, chunk: Option<Chunk>) -> T {
        let Some(mut chunk) = chunk else {
            return T::default();
        };
        self.errors
            .extend(self.builder.trailing_semicolon(&mut chunk));
        let value = self.builder.parse(parser, &chunk, &mut self.errors);
        self.errors.append(&mut chunk.errors);
        self.comments.append(&mut chunk.comments);
        self.pragmas
            .extend(self.builder.pragmas(std::mem::take(&mut chunk.pragmas)));
        value.unwrap_or_default()
    }

    fn finish(self, span: Span, base: u32, kind: MemberKind) -> Placed<Member> {
        let Labels {
            comments,
            pragmas,
            errors,
            ..
        } = self;
        let member = Member {
            kind,
            span: Span::new(0, span.len()),
            comments,
            pragmas,
            errors,
        };
        Placed {
            offset: span.start - base,
            len: span.len(),
            node: Arc::new(member),
        }
    }
}

fn build_location(
    builder: &Builder<'_, '_>,
    plan: PlanLocation,
    [invariant, rate]: [Option<Chunk>; 2],
    base: u32,
) -> Placed<Member> {
    let mut labels = Labels {
        builder,
        comments: Vec::new(),
        pragmas: Vec::new(),
        errors: Vec::new(),
    };
    let at = plan.span.start;
    let location = Location {
        name: Ident {
            span: relative(plan.name.span, at),
            ..plan.name
        },
        anonymous: plan.anonymous,
        invariant: labels.read(&builder.grammar.comma_expr, invariant),
        exponential_rate: labels.read(&builder.grammar.process.rate, rate),
        committed: plan.committed,
        urgent: plan.urgent,
        graphics: Some(Box::new(plan.graphics)),
        span: Span::new(0, plan.span.len()),
    };
    labels.finish(plan.span, base, MemberKind::States(vec![location]))
}

fn build_edge(
    builder: &Builder<'_, '_>,
    plan: PlanEdge,
    [select, guard, sync, assign, probability]: [Option<Chunk>; 5],
    base: u32,
) -> Placed<Member> {
    let mut labels = Labels {
        builder,
        comments: Vec::new(),
        pragmas: Vec::new(),
        errors: Vec::new(),
    };
    let at = plan.span.start;
    let process = &builder.grammar.process;
    let edge = Edge {
        source: Some(Ident {
            span: relative(plan.source.span, at),
            ..plan.source
        }),
        target: Ident {
            span: relative(plan.target.span, at),
            ..plan.target
        },
        controllable: plan.controllable,
        select: labels.read(&process.select, select),
        guard: labels.read(&builder.grammar.comma_expr, guard),
        sync: labels.read(&process.sync, sync),
        assign: labels.read(&process.assign, assign),
        probability: labels.read(&builder.grammar.comma_expr, probability),
        graphics: Some(Box::new(plan.graphics)),
        span: Span::new(0, plan.span.len()),
    };
    labels.finish(plan.span, base, MemberKind::Edge(edge))
}
