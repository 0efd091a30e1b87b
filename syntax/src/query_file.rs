//! `.q` files: one formula per line, preceded by comments; `\` continues a line.

use crate::ast::{FileKind, Placed, Section};
use crate::build::{Builder, RawBody, RawItem};
use crate::chunk::{Chunk, Region, Store};
use crate::lexer::{Mode, Token, Tokens};
use crate::source::SourceFile;
use crate::text_map::TextMap;
use crate::token::TokenKind as K;
use std::sync::Arc;

pub(crate) fn parse(text: Arc<str>) -> SourceFile {
    let map = TextMap::Shift(0);
    let region = Region {
        text: &text,
        map: &map,
    };
    let mut store = Store::default();
    let mut raws = Vec::new();
    let tokens: Vec<Token> = Tokens::new(&text, 0, Mode::Query).collect();
    let mut next = 0;
    let mut from = 0;
    while (from as usize) < text.len() {
        let count = line_tokens(&text, &tokens[next..]);
        let item = &tokens[next..next + count];
        let last = next + count == tokens.len();
        let end = if last {
            text.len() as u32
        } else {
            item.last().map_or(text.len() as u32, |t| t.end)
        };
        raws.push((
            from,
            end - from,
            raw_item(&mut store, region, item, from, end),
        ));
        next += count;
        from = end;
    }
    let builder = Builder::new(&store);
    let items = raws
        .into_iter()
        .map(|(offset, len, raw)| Placed {
            offset,
            len,
            node: Arc::new(builder.item(raw, Section::Queries)),
        })
        .collect::<Vec<_>>();
    let reach = items.iter().map(|i: &Placed<_>| i.len).collect();
    SourceFile {
        kind: FileKind::Query,
        items,
        file_errors: Vec::new(),
        reach,
        sections: Vec::new(),
        text: text.clone(),
    }
}

/// The number of tokens of the next item: comments, one formula, and comments after it on its line.
fn line_tokens(text: &str, tokens: &[Token]) -> usize {
    let mut formula = false;
    let mut depth = 0i32;
    for (i, token) in tokens.iter().enumerate() {
        if formula && i > 0 {
            let gap = &text[tokens[i - 1].end as usize..token.start as usize];
            let breaks = real_line_break(gap);
            // Inside brackets a formula continues, unless the next line clearly begins another one.
            if breaks
                && (depth <= 0 || token.kind.is_comment() || begins_formula(text, &tokens[i..]))
            {
                return i;
            }
        }
        match token.kind {
            K::LParen | K::LBracket | K::LBrace => depth += 1,
            K::RParen | K::RBracket | K::RBrace => depth -= 1,
            _ => {}
        }
        formula |= !token.kind.is_comment();
    }
    tokens.len()
}

/// Whether `gap` contains a line break without a `\` before it.
fn real_line_break(gap: &str) -> bool {
    let mut continued = false;
    for c in gap.chars() {
        match c {
            '\\' => continued = true,
            '\n' if continued => continued = false,
            '\n' => return true,
            '\r' | ' ' | '\t' => {}
            _ => continued = false,
        }
    }
    gap.contains('\r') && !gap.contains('\n')
}

fn begins_formula(text: &str, tokens: &[Token]) -> bool {
    let [first, second, ..] = tokens else {
        return false;
    };
    let word = &text[first.start as usize..first.end as usize];
    matches!(word, "A" | "E") && matches!(second.kind, K::LBracket | K::Lt)
}

fn raw_item<'t>(
    store: &mut Store<'t>,
    region: Region<'t>,
    tokens: &[Token],
    from: u32,
    end: u32,
) -> RawItem {
    let base = region.map.start(from);
    let comments: Vec<Token> = tokens
        .iter()
        .copied()
        .filter(|t| t.kind.is_comment())
        .collect();
    let formula: Vec<Token> = tokens
        .iter()
        .copied()
        .filter(|t| !t.kind.is_comment())
        .collect();
    let mut chunk = store.chunk(region, &comments, base, end);
    let formula = store.chunk(region, &formula, base, end);
    chunk.span = formula.span;
    RawItem {
        chunk,
        body: RawBody::Query(formula),
    }
}

/// The tokens of a formula that is a separate text.
pub(crate) fn formula<'t>(store: &mut Store<'t>, text: &'t str, map: &'t TextMap) -> Chunk {
    let region = Region { text, map };
    let tokens: Vec<Token> = Tokens::new(text, 0, Mode::Query).collect();
    let mut chunk = store.chunk(region, &tokens, region.map.start(0), text.len() as u32);
    chunk.pragmas.clear();
    chunk
}
