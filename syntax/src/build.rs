//! From chunks of tokens to items, members and queries.

use crate::ast::{
    Expectation, Expr, Feature, Ident, Item, ItemKind, Member, MemberKind, Pragma, PragmaKind,
    Process, Query, QueryKind, Section, Unsupported,
};
use crate::chunk::{Chunk, RawPragma, Store, too_deep};
use crate::error::SyntaxError;
use crate::grammar::decl::{Shape, shape};
use crate::grammar::query::{Head, head};
use crate::grammar::{Grammar, P, Spanned, missing, run};
use crate::span::Span;
use crate::token::TokenKind as K;
use smol_str::SmolStr;

/// An item before parsing.
#[derive(Debug)]
pub(crate) struct RawItem {
    pub chunk: Chunk,
    pub body: RawBody,
}

/// The content of an item besides its own tokens.
#[derive(Debug)]
pub(crate) enum RawBody {
    /// Nothing.
    Plain,
    /// A process; its chunk is the header.
    Process {
        members: Vec<RawMember>,
        open: bool,
        closed: bool,
        span: Span,
    },
    /// `query { … }` and lines of `.q` files: the formula's own tokens.
    Query(Chunk),
}

/// A member before parsing; `reused` is a member with the same text from an earlier parse.
#[derive(Debug)]
pub(crate) struct RawMember {
    pub offset: u32,
    pub len: u32,
    pub chunk: Chunk,
    pub edge: Option<RawEdge>,
    pub reused: Option<std::sync::Arc<Member>>,
}

/// Facts about an edge that follow from its position in the list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawEdge {
    /// No comma joins it to the edge before it.
    pub stray: bool,
    /// Another edge seems to follow.
    pub another: bool,
}

/// Parses items from a store of tokens.
pub(crate) struct Builder<'s, 't> {
    pub store: &'s Store<'t>,
    pub grammar: Grammar<'s>,
}

const UNEXPECTED: &str = "syntax/unexpected";

impl<'s, 't: 's> Builder<'s, 't> {
    pub(crate) fn new(store: &'s Store<'t>) -> Builder<'s, 't> {
        Builder {
            store,
            grammar: Grammar::new(),
        }
    }

    pub(crate) fn tokens(&self, chunk: &Chunk) -> &'s [Spanned<'s>] {
        self.store.slice(chunk)
    }

    /// Removes a `;` from the end of an XML label: `.xta` has one there, XML does not.
    pub(crate) fn trailing_semicolon(&self, chunk: &mut Chunk) -> Option<SyntaxError> {
        let (last, span) = self.tokens(chunk).last()?;
        if last.kind != K::Semi {
            return None;
        }
        chunk.tokens.end -= 1;
        let span = crate::grammar::to_span(*span);
        let message = "a label in an XML file has no `;` at its end: remove it";
        let error = SyntaxError::new(UNEXPECTED, message, span);
        Some(error.repair("Remove the `;`", span, "").safe())
    }

    /// Runs a parser over a chunk, unless the resulting tree would be too deep.
    pub(crate) fn parse<T>(
        &self,
        parser: &P<'s, T>,
        chunk: &Chunk,
        errors: &mut Vec<SyntaxError>,
    ) -> Option<T> {
        self.parse_tokens(parser, self.tokens(chunk), chunk.end, UNEXPECTED, errors)
    }

    fn parse_tokens<T>(
        &self,
        parser: &P<'s, T>,
        tokens: &'s [Spanned<'s>],
        end: u32,
        code: &'static str,
        errors: &mut Vec<SyntaxError>,
    ) -> Option<T> {
        if let Some(error) = too_deep(tokens) {
            errors.push(error);
            return None;
        }
        // Errors at the end are reported after the last token, not after the comments that follow
        // it.
        let end = tokens.last().map_or(end, |(_, span)| span.end);
        run(parser, tokens, end, code, errors)
    }

    pub(crate) fn item(&self, raw: RawItem, section: Section) -> Item {
        let RawItem { mut chunk, body } = raw;
        let mut errors = std::mem::take(&mut chunk.errors);
        let mut span = chunk.span;
        let kind = match body {
            RawBody::Plain => self.plain_item(&chunk, &mut errors),
            RawBody::Query(formula) => {
                let mut query = self.query(formula);
                query.expectation = chunk
                    .comments
                    .iter()
                    .rev()
                    .find_map(|c| expectation_comment(&c.text, c.span));
                if query.kind == QueryKind::Heading && section == Section::Queries {
                    ItemKind::Empty
                } else {
                    ItemKind::Query(query)
                }
            }
            RawBody::Process {
                members,
                open,
                closed,
                span: whole,
            } => {
                span = whole;
                self.process_item(&chunk, members, (open, closed), whole, &mut errors)
            }
        };
        let pragmas = self.pragmas(std::mem::take(&mut chunk.pragmas));
        Item {
            kind,
            span,
            section,
            comments: chunk.comments,
            pragmas,
            errors,
        }
    }

    fn plain_item(&self, chunk: &Chunk, errors: &mut Vec<SyntaxError>) -> ItemKind {
        let tokens = self.tokens(chunk);
        let decl = &self.grammar.decl;
        let kind = match shape(tokens) {
            Shape::Empty => {
                if let Some((_, span)) = tokens.first() {
                    errors.push(SyntaxError::new(
                        UNEXPECTED,
                        "a `;` without a declaration: remove it",
                        crate::grammar::to_span(*span),
                    ));
                }
                return ItemKind::Empty;
            }
            Shape::Var => self.parse(&decl.var, chunk, errors).map(ItemKind::Var),
            Shape::Typedef => self
                .parse(&decl.typedef, chunk, errors)
                .map(ItemKind::Typedef),
            Shape::Scalarset => self.parse(&decl.scalarset, chunk, errors),
            Shape::Function => self
                .parse(&decl.function, chunk, errors)
                .map(ItemKind::Function),
            Shape::Instantiation => self.parse(&decl.instantiation, chunk, errors),
            Shape::ChanPriority => self.parse(&decl.chan_priority, chunk, errors),
            Shape::System => {
                let before = errors.len();
                let line = self.parse(&decl.system, chunk, errors);
                // A separate code, because a broken system line is not a missing one.
                errors[before..]
                    .iter_mut()
                    .filter(|e| e.code == UNEXPECTED)
                    .for_each(|e| e.code = "syntax/system");
                line
            }
            Shape::Progress => self.parse(&decl.progress, chunk, errors),
            Shape::Gantt => self.parse(&decl.gantt, chunk, errors),
            Shape::BeforeUpdate => self
                .parse(&decl.updates, chunk, errors)
                .map(ItemKind::BeforeUpdate),
            Shape::AfterUpdate => self
                .parse(&decl.updates, chunk, errors)
                .map(ItemKind::AfterUpdate),
            Shape::Dynamic => Some(self.unsupported(chunk, Feature::DynamicTemplate)),
            Shape::Import => Some(self.unsupported(chunk, Feature::Import)),
            Shape::EcdarInterface => Some(self.unsupported(chunk, Feature::EcdarInterface)),
            // Both are split off earlier; only broken text gets here.
            Shape::Process | Shape::QueryBlock => None,
        };
        kind.unwrap_or_else(|| ItemKind::Error(salvaged(tokens)))
    }

    /// A language construct that is recognised, but not analysed. The names before a `(` are those
    /// it declares.
    fn unsupported(&self, chunk: &Chunk, feature: Feature) -> ItemKind {
        let tokens = self.tokens(chunk);
        let names = tokens
            .windows(2)
            .filter(|pair| pair[0].0.kind == K::Ident && pair[1].0.kind == K::LParen)
            .map(|pair| Ident {
                name: pair[0].0.text.into(),
                span: crate::grammar::to_span(pair[0].1),
            })
            .collect();
        ItemKind::Unsupported(Unsupported {
            feature,
            names,
            span: chunk.span,
        })
    }

    fn process_item(
        &self,
        header: &Chunk,
        members: Vec<RawMember>,
        (open, closed): (bool, bool),
        span: Span,
        errors: &mut Vec<SyntaxError>,
    ) -> ItemKind {
        let found = self.parse(&self.grammar.process.header, header, errors);
        if !open {
            errors.push(SyntaxError::new(
                UNEXPECTED,
                "a process needs a body: `process P() { state s; init s; }`",
                Span::new(span.end.saturating_sub(1), span.end),
            ));
        } else if !closed {
            errors.push(SyntaxError::new(
                "syntax/unclosed",
                "this process is not closed: a `}` is missing",
                Span::new(header.span.start, header.span.end),
            ));
        }
        let (name, params) = found.unwrap_or_else(|| (self.guess_name(header), None));
        let members = members
            .into_iter()
            .map(|raw| crate::ast::Placed {
                offset: raw.offset,
                len: raw.len,
                node: match raw.reused {
                    Some(node) => node,
                    None => std::sync::Arc::new(self.member(raw.chunk, raw.edge)),
                },
            })
            .collect();
        ItemKind::Process(Process {
            name,
            params,
            members,
            graphics: None,
        })
    }

    /// The name of a process whose header is broken, so that uses of the name cause no further
    /// errors.
    fn guess_name(&self, header: &Chunk) -> Ident {
        let name = self.tokens(header).iter().find(|(t, _)| t.kind == K::Ident);
        match name {
            Some((t, span)) => Ident {
                name: t.text.into(),
                span: crate::grammar::to_span(*span),
            },
            None => Ident {
                name: SmolStr::default(),
                span: header.span,
            },
        }
    }

    fn member(&self, mut chunk: Chunk, edge: Option<RawEdge>) -> Member {
        let mut errors = std::mem::take(&mut chunk.errors);
        let kind = self.member_kind(&chunk, edge.is_some(), &mut errors);
        if let (Some(edge), MemberKind::Edge(_)) = (edge, &kind) {
            self.edge_marks(&chunk, edge, &mut errors);
        }
        let pragmas = self.pragmas(std::mem::take(&mut chunk.pragmas));
        Member {
            kind,
            span: chunk.span,
            comments: chunk.comments,
            pragmas,
            errors,
        }
    }

    /// Checks that edges are separated by commas and that the last one ends with `;`.
    fn edge_marks(&self, chunk: &Chunk, edge: RawEdge, errors: &mut Vec<SyntaxError>) {
        let Some(((first, start), (last, end))) =
            self.tokens(chunk).first().zip(self.tokens(chunk).last())
        else {
            return;
        };
        if edge.stray && first.kind != K::Trans {
            errors.push(SyntaxError::new(
                UNEXPECTED,
                "edges are separated by `,`: write `,` in place of the `;` before this one",
                crate::grammar::to_span(*start),
            ));
        }
        if !matches!(last.kind, K::Comma | K::Semi) {
            errors.push(match edge.another {
                true => missing(",", "this edge", end.end),
                false => missing(";", "the last edge", end.end),
            });
        }
    }

    fn member_kind(&self, chunk: &Chunk, edge: bool, errors: &mut Vec<SyntaxError>) -> MemberKind {
        let tokens = self.tokens(chunk);
        let process = &self.grammar.process;
        let section = tokens.first().map(|(t, _)| t.kind);
        let urgent_channel = matches!(
            tokens.get(1).map(|(t, _)| t.kind),
            Some(K::Chan | K::Broadcast | K::Const | K::Meta)
        );
        let kind = match section {
            _ if edge => self
                .parse(&process.edge, chunk, errors)
                .map(MemberKind::Edge),
            Some(K::Ident) if self.is_meant_state(tokens) => self
                .parse(&process.states, chunk, errors)
                .map(MemberKind::States),
            Some(K::State) => self
                .parse(&process.states, chunk, errors)
                .map(MemberKind::States),
            Some(K::Branchpoint) => self
                .parse(&process.branchpoints, chunk, errors)
                .map(MemberKind::Branchpoints),
            Some(K::Commit) => self
                .parse(&process.names, chunk, errors)
                .map(MemberKind::Commit),
            Some(K::Urgent) if !urgent_channel => self
                .parse(&process.names, chunk, errors)
                .map(MemberKind::Urgent),
            Some(K::Init) => self
                .parse(&process.init, chunk, errors)
                .map(MemberKind::Init),
            _ => Some(match self.plain_item(chunk, errors) {
                ItemKind::Var(v) => MemberKind::Var(v),
                ItemKind::Typedef(t) => MemberKind::Typedef(t),
                ItemKind::Function(f) => MemberKind::Function(f),
                ItemKind::Empty => MemberKind::Empty,
                ItemKind::Error(names) => MemberKind::Error(names),
                other => MemberKind::Misplaced(Box::new(other)),
            }),
        };
        kind.unwrap_or_else(|| MemberKind::Error(Vec::new()))
    }

    /// Recognises `stat A { x <= 5 }, B;`. Without the brace it could be a declaration, which only
    /// name resolution can decide.
    fn is_meant_state(&self, tokens: &[Spanned<'_>]) -> bool {
        let kind = |i: usize| tokens.get(i).map(|(t, _)| t.kind);
        kind(1) == Some(K::Ident)
            && kind(2) == Some(K::LBrace)
            && crate::similar::is_close(tokens[0].0.text, K::State.text())
    }

    pub(crate) fn pragmas(&self, raw: Vec<RawPragma>) -> Vec<Pragma> {
        let mut out: Vec<Pragma> = Vec::with_capacity(raw.len());
        for pragma in raw {
            let RawPragma {
                span,
                word,
                rest,
                rest_span,
                query,
            } = pragma;
            let kind = match (word.as_str(), query) {
                ("query", Some(chunk)) => PragmaKind::Query(Box::new(self.query(chunk))),
                ("expect", _) => {
                    let expectation = match rest.as_str() {
                        "satisfied" => Some(Expectation {
                            satisfied: true,
                            span: rest_span,
                        }),
                        "violated" => Some(Expectation {
                            satisfied: false,
                            span: rest_span,
                        }),
                        _ => None,
                    };
                    if let Some(query) =
                        query_before(&mut out, |p| matches!(p, PragmaKind::Every(_)))
                    {
                        query.expectation = expectation;
                    }
                    PragmaKind::Expect(expectation)
                }
                ("every", _) => {
                    let set: SmolStr = rest.split_whitespace().next().unwrap_or("").into();
                    let query = query_before(&mut out, |p| matches!(p, PragmaKind::Expect(_)));
                    if let Some(query) = query.filter(|_| !set.is_empty()) {
                        query.every = Some(set.clone());
                    }
                    PragmaKind::Every(set)
                }
                ("allow", _) => {
                    let code: SmolStr = rest.split_whitespace().next().unwrap_or("").into();
                    let code_span = Span::new(rest_span.start, rest_span.start + code.len() as u32);
                    PragmaKind::Allow { code, code_span }
                }
                ("xml", _) => PragmaKind::Xml(rest.into()),
                (word, _) => PragmaKind::Unknown(word.into()),
            };
            out.push(Pragma { kind, span });
        }
        out
    }

    /// Parses a formula. The errors inside have codes `query/…`.
    pub(crate) fn query(&self, mut chunk: Chunk) -> Query {
        let mut errors = std::mem::take(&mut chunk.errors);
        let tokens = self.tokens(&chunk);
        let kind = self.query_kind(tokens, chunk.end, &mut errors);
        for error in &mut errors {
            error.code = "query/syntax";
        }
        Query {
            kind,
            text: folded(tokens),
            span: chunk.span,
            expectation: None,
            every: None,
            comment: None,
            results: Vec::new(),
            graphics: None,
            errors,
        }
    }

    /// A single state formula; fails with at least one error.
    pub(crate) fn expression(&self, mut chunk: Chunk) -> Result<Expr, Vec<SyntaxError>> {
        let mut errors = std::mem::take(&mut chunk.errors);
        let tokens = self.tokens(&chunk);
        let parser = &self.grammar.query.state;
        let parsed = self.parse_tokens(parser, tokens, chunk.end, UNEXPECTED, &mut errors);
        for error in &mut errors {
            error.code = "query/syntax";
        }
        match parsed {
            Some(expression) if errors.is_empty() => Ok(expression),
            _ => Err(errors),
        }
    }

    fn query_kind(
        &self,
        tokens: &'s [Spanned<'s>],
        end: u32,
        errors: &mut Vec<SyntaxError>,
    ) -> QueryKind {
        let parsers = &self.grammar.query;
        let kind = match head(tokens) {
            Head::Nothing => return QueryKind::Heading,
            Head::Unsupported(family) => return QueryKind::Unsupported(family),
            Head::Path(path, skip) => self
                .parse_tokens(&parsers.state, &tokens[skip..], end, UNEXPECTED, errors)
                .map(|e| QueryKind::Path(path, e)),
            Head::Bounds(kind, skip) => self
                .parse_tokens(&parsers.bounds, &tokens[skip..], end, UNEXPECTED, errors)
                .map(|(condition, exprs)| QueryKind::Bounds {
                    kind,
                    condition,
                    exprs,
                }),
            Head::LeadsTo if !tokens.iter().any(|(t, _)| t.kind == K::LeadsTo) => {
                let span = tokens
                    .first()
                    .map_or(Span::START, |(_, s)| crate::grammar::to_span(*s));
                errors.push(SyntaxError::new(
                    UNEXPECTED,
                    "a query begins with `A[]`, `E<>`, `A<>`, `E[]`, `sup`, `inf` or `bounds`, or has the form `p --> q`",
                    span,
                ));
                None
            }
            Head::LeadsTo => self
                .parse_tokens(&parsers.leads_to, tokens, end, UNEXPECTED, errors)
                .map(|(p, q)| QueryKind::LeadsTo(p, q)),
        };
        kind.unwrap_or(QueryKind::Error)
    }
}

/// The text of a formula, with each run of blanks and comments folded to one blank.
fn folded(tokens: &[Spanned<'_>]) -> SmolStr {
    let mut out = String::new();
    let mut end = None;
    for (tok, span) in tokens {
        if end.is_some_and(|end| end < span.start) {
            out.push(' ');
        }
        out.push_str(tok.text);
        end = Some(span.end);
    }
    out.into()
}

/// The names that a declaration with an error seems to declare: those outside brackets and
/// initialisers after which a declarator ends or continues. Without them, each use of such a name
/// would be reported as well, at each keystroke.
fn salvaged(tokens: &[Spanned<'_>]) -> Vec<Ident> {
    let mut out = Vec::new();
    let mut depth = 0_usize;
    let mut in_initialiser = false;
    for (i, (token, span)) in tokens.iter().enumerate() {
        match token.kind {
            K::LParen | K::LBracket | K::LBrace => depth += 1,
            K::RParen | K::RBracket | K::RBrace => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            K::Assign => in_initialiser = true,
            K::Comma => in_initialiser = false,
            K::Ident if !in_initialiser => {
                let next = tokens.get(i + 1).map(|(t, _)| t.kind);
                // A name at the very beginning is a type, or the name of an instantiation.
                let ends = match next {
                    Some(K::Assign) => true,
                    None | Some(K::Comma | K::Semi | K::LBracket | K::LParen | K::LBrace) => i > 0,
                    Some(_) => false,
                };
                if ends {
                    out.push(Ident {
                        name: token.text.into(),
                        span: crate::grammar::to_span(*span),
                    });
                }
            }
            _ => {}
        }
    }
    out
}

/// Parses `/* EXPECT:T */` or `/* EXPECT:F,10s,20MB */`. The other outcomes (MT, MF, ERR) cannot be
/// checked.
pub(crate) fn expectation_comment(text: &str, span: Span) -> Option<Expectation> {
    let at = text.find("EXPECT:")?;
    let word: String = text[at + 7..]
        .chars()
        .take_while(|c| c.is_ascii_alphabetic())
        .collect();
    match word.as_str() {
        "T" => Some(Expectation {
            satisfied: true,
            span,
        }),
        "F" => Some(Expectation {
            satisfied: false,
            span,
        }),
        _ => None,
    }
}

/// The query that the next `//@ expect` or `//@ every` line belongs to. A line of the other kind
/// may stand between them.
fn query_before(pragmas: &mut [Pragma], between: fn(&PragmaKind) -> bool) -> Option<&mut Query> {
    let mut lines = pragmas.iter_mut().rev().skip_while(|p| between(&p.kind));
    match &mut lines.next()?.kind {
        PragmaKind::Query(query) => Some(query),
        _ => None,
    }
}
