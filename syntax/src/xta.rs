//! `.xta` files: split into items and parse each; after an edit, only the items that it can affect.

use crate::ast::{FileKind, Item, Member, MemberKind, Placed};
use crate::build::{Builder, RawBody, RawEdge, RawItem, RawMember};
use crate::chunk::{Region, Store};
use crate::lexer::{Mode, Token, Tokens};
use crate::source::{PLAIN_SECTION, SourceFile, members, system_line_errors};
use crate::span::Span;
use crate::split::{Piece, next_item, process_pieces};
use crate::text_map::TextMap;
use crate::token::TokenKind as K;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// An item that is either still to be parsed or reused.
enum Slot {
    New(u32, u32, RawItem),
    Old(Placed<Item>),
}

/// Members of the items that an edit affects, by their text, reused where the text is the same.
type OldMembers<'a> = FxHashMap<(bool, &'a str), &'a Arc<Member>>;

pub(crate) fn parse(text: Arc<str>) -> SourceFile {
    let map = TextMap::Shift(0);
    let region = Region {
        text: &text,
        map: &map,
    };
    let mut store = Store::default();
    let mut slots = Vec::new();
    let mut reach = Vec::new();
    let mut from = 0;
    while let Some(piece) = next_item(&text, from) {
        let end = piece.end;
        reach.push(piece.reach - from);
        slots.push(Slot::New(
            from,
            end - from,
            raw_item(&mut store, region, from, piece, &OldMembers::default()),
        ));
        from = end;
    }
    finish(&store, slots, reach, &text)
}

/// The file `old` after the bytes of `span` were replaced by `inserted` bytes, resulting in `text`.
pub(crate) fn reparse(old: &SourceFile, span: Span, inserted: u32, text: Arc<str>) -> SourceFile {
    let map = TextMap::Shift(0);
    let region = Region {
        text: &text,
        map: &map,
    };
    let mut store = Store::default();
    let first = old
        .items
        .iter()
        .zip(&old.reach)
        .position(|(item, reach)| item.offset + reach >= span.start);
    let first = first.unwrap_or(old.items.len());
    let mut slots: Vec<Slot> = old.items[..first].iter().cloned().map(Slot::Old).collect();
    let mut reach = old.reach[..first].to_vec();
    let mut from = old.items.get(first).map_or_else(
        || old.items.last().map_or(0, |i| i.offset + i.len),
        |i| i.offset,
    );
    let old_members = touched_members(old, first, span);
    let new_end = span.start + inserted;
    let shift = |offset: u32| offset - span.end + new_end;
    // Items that start after the edit: the old boundaries that splitting may reach again.
    let mut boundary = old.items.partition_point(|i| i.offset < span.end);
    let mut unchanged = first;
    loop {
        while old
            .items
            .get(boundary)
            .is_some_and(|i| shift(i.offset) < from)
        {
            boundary += 1;
        }
        if from >= new_end
            && old
                .items
                .get(boundary)
                .is_some_and(|i| shift(i.offset) == from)
        {
            slots.extend(old.items[boundary..].iter().map(|i| {
                Slot::Old(Placed {
                    offset: shift(i.offset),
                    ..i.clone()
                })
            }));
            reach.extend_from_slice(&old.reach[boundary..]);
            break;
        }
        let Some(piece) = next_item(&text, from) else {
            break;
        };
        let (end, len) = (piece.end, piece.end - from);
        reach.push(piece.reach - from);
        // Before the edit, the same bytes at the same offset are the same item.
        let same = old
            .items
            .get(unchanged)
            .filter(|i| end <= span.start && i.offset == from && i.len == len);
        match same {
            Some(item) => slots.push(Slot::Old(item.clone())),
            None => slots.push(Slot::New(
                from,
                len,
                raw_item(&mut store, region, from, piece, &old_members),
            )),
        }
        unchanged += 1;
        from = end;
    }
    finish(&store, slots, reach, &text)
}

/// The members of the items from `first` on that overlap the edit of `span`.
fn touched_members(old: &SourceFile, first: usize, span: Span) -> OldMembers<'_> {
    let mut out = OldMembers::default();
    for item in old.items[first..]
        .iter()
        .take_while(|i| i.offset <= span.end)
    {
        for member in members(item) {
            // The errors of a member may depend on its neighbours: members with errors are parsed
            // again.
            if member.node.errors.is_empty() && !matches!(member.node.kind, MemberKind::Error(_)) {
                let edge = matches!(member.node.kind, MemberKind::Edge(_));
                out.insert(
                    (edge, old.slice(member.span().shift(item.offset))),
                    &member.node,
                );
            }
        }
    }
    out
}

fn finish(store: &Store<'_>, slots: Vec<Slot>, reach: Vec<u32>, text: &Arc<str>) -> SourceFile {
    let items = build(store, slots);
    let shown = text.trim_end();
    let last = shown
        .char_indices()
        .next_back()
        .map_or(0, |(at, _)| at as u32);
    let file_errors = system_line_errors(&items, Span::new(last, shown.len() as u32));
    SourceFile {
        kind: FileKind::Xta,
        items,
        file_errors,
        reach,
        sections: Vec::new(),
        text: text.clone(),
    }
}

fn build(store: &Store<'_>, slots: Vec<Slot>) -> Vec<Placed<Item>> {
    let builder = Builder::new(store);
    slots
        .into_iter()
        .map(|slot| match slot {
            Slot::Old(item) => item,
            Slot::New(offset, len, raw) => Placed {
                offset,
                len,
                node: Arc::new(builder.item(raw, PLAIN_SECTION)),
            },
        })
        .collect()
}

/// Prepares the item that starts at `from` for the grammar.
pub(crate) fn raw_item<'t>(
    store: &mut Store<'t>,
    region: Region<'t>,
    from: u32,
    piece: Piece,
    old: &OldMembers<'_>,
) -> RawItem {
    let base = region.map.start(from);
    let mut significant = piece.tokens.iter().filter(|t| !t.kind.is_comment());
    let first = significant.next().copied();
    let second = significant.next().map(|t| t.kind);
    match first {
        Some(token) if token.kind == K::Process || is_meant_process(&piece.tokens) => {
            raw_process(store, region, base, piece, old)
        }
        Some(token) if second == Some(K::LBrace) && word(region.text, token) == "query" => {
            raw_query_block(store, region, base, piece)
        }
        _ => RawItem {
            chunk: store.declaration(region, &piece.tokens, base, piece.end),
            body: RawBody::Plain,
        },
    }
}

/// Whether an item is a process with another word in place of `process`, as in
/// `template P() { state …`: two names, and inside the brace a word that only processes use.
fn is_meant_process(tokens: &[Token]) -> bool {
    let significant = || {
        let kinds = tokens.iter().map(|t| t.kind);
        kinds.filter(|k| !k.is_comment())
    };
    let mut head = significant();
    if head.next() != Some(K::Ident) || head.next() != Some(K::Ident) {
        return false;
    }
    significant()
        .skip_while(|k| *k != K::LBrace)
        .any(|k| matches!(k, K::State | K::Init | K::Trans))
}

fn word(text: &str, token: Token) -> &str {
    &text[token.start as usize..token.end as usize]
}

fn raw_process<'t>(
    store: &mut Store<'t>,
    region: Region<'t>,
    base: u32,
    piece: Piece,
    old: &OldMembers<'_>,
) -> RawItem {
    let pieces = process_pieces(region.text, &piece.tokens);
    let header = &piece.tokens[pieces.header.clone()];
    let header_end = header.last().map_or(piece.end, |t| t.end);
    let mut chunk = store.chunk(region, header, base, header_end);
    let mut members = Vec::with_capacity(pieces.members.len());
    for m in &pieces.members {
        let (start, end) = (region.map.start(m.start), region.map.end(m.end));
        let text = &region.text[m.start as usize..m.end as usize];
        let reused = old.get(&(m.edge, text)).filter(|_| !m.stray);
        let reused = reused.map(|node| Arc::clone(node));
        let tokens = &piece.tokens[m.tokens.clone()];
        let member_chunk = match reused {
            Some(_) => Default::default(),
            None if m.edge => store.chunk(region, tokens, start, m.end),
            None => store.declaration(region, tokens, start, m.end),
        };
        members.push(RawMember {
            offset: start - base,
            len: end - start,
            chunk: member_chunk,
            edge: m.edge.then_some(RawEdge {
                stray: m.stray,
                another: m.another,
            }),
            reused,
        });
    }
    let tail: Vec<Token> = piece.tokens[pieces.tail.clone()].to_vec();
    let mut tail = store.chunk(region, &tail, base, piece.end);
    chunk.comments.append(&mut tail.comments);
    chunk.pragmas.append(&mut tail.pragmas);
    chunk.errors.append(&mut tail.errors);
    let last = piece
        .tokens
        .iter()
        .rev()
        .find(|t| !t.kind.is_comment())
        .map_or(piece.end, |t| t.end);
    let span = Span::new(chunk.span.start, region.map.end(last) - base);
    RawItem {
        chunk,
        body: RawBody::Process {
            members,
            open: pieces.open,
            closed: pieces.closed,
            span,
        },
    }
}

/// `query { FORMULA }`: the formula is lexed again with the keywords of queries.
fn raw_query_block<'t>(
    store: &mut Store<'t>,
    region: Region<'t>,
    base: u32,
    piece: Piece,
) -> RawItem {
    let open = piece
        .tokens
        .iter()
        .find(|t| t.kind == K::LBrace)
        .map_or(0, |t| t.end);
    let close = piece
        .tokens
        .iter()
        .rev()
        .find(|t| t.kind == K::RBrace)
        .map_or(piece.end, |t| t.start);
    let tokens: Vec<Token> =
        Tokens::new(&region.text[..close as usize], open, Mode::Query).collect();
    let outside: Vec<Token> = piece
        .tokens
        .iter()
        .copied()
        .filter(|t| t.end <= open || t.start >= close || t.kind.is_comment())
        .collect();
    let mut chunk = store.chunk(region, &outside, base, piece.end);
    let formula = store.chunk(region, &tokens, base, close);
    chunk.errors.retain(|e| e.code != "syntax/character");
    RawItem {
        chunk,
        body: RawBody::Query(crate::chunk::Chunk {
            comments: Vec::new(),
            pragmas: Vec::new(),
            ..formula
        }),
    }
}
