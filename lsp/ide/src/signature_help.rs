//! The parameters of the function or template whose arguments are being written.

use crate::names::Names;
use zonelens_analysis::ide::DefKind;

/// A signature with the parameter that is being written.
pub struct Signature {
    /// `int f(int a, bool b)`
    pub label: String,
    /// The parameters as they stand in the label.
    pub parameters: Vec<String>,
    /// Which one, from 0.
    pub active: usize,
}

/// How far back an opening parenthesis is searched for.
const MAX_BACK: usize = 4096;

/// The signature at `offset`.
pub fn signature(names: &Names, offset: u32) -> Option<Signature> {
    let text = names.snapshot.masked();
    let mut end = (offset as usize).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    // Parentheses of other labels have nothing to do with this one.
    let start = names.snapshot.text_span(offset)?.start as usize;
    let (open, active) = open_parenthesis(text.get(start..end)?)?;
    let open = start + open;
    let before = text[..open].trim_end();
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name = &before[before.trim_end_matches(part).len()..];
    let visible = names.index.visible(open as u32);
    let definition = visible
        .into_iter()
        .filter_map(|id| names.index.definition(id))
        .find(|d| d.name == name)?;
    if !matches!(definition.kind, DefKind::Function | DefKind::Template) {
        return None;
    }
    let label = definition.detail.clone();
    let inside = label.split_once('(')?.1.rsplit_once(')')?.0;
    let parameters: Vec<String> = split_top(inside);
    Some(Signature {
        label,
        active: active.min(parameters.len().saturating_sub(1)),
        parameters,
    })
}

/// The innermost open parenthesis, and how many commas of its own follow it.
fn open_parenthesis(text: &str) -> Option<(usize, usize)> {
    let (mut depth, mut commas) = (0, 0);
    for (i, byte) in text.bytes().enumerate().rev().take(MAX_BACK) {
        match byte {
            b')' | b']' => depth += 1,
            b'(' | b'[' if depth > 0 => depth -= 1,
            b'(' => return Some((i, commas)),
            b'[' | b';' | b'{' | b'}' => return None,
            b',' if depth == 0 => commas += 1,
            _ => {}
        }
    }
    None
}

/// Splits at commas outside brackets.
fn split_top(text: &str) -> Vec<String> {
    let (mut out, mut depth, mut start) = (Vec::new(), 0, 0);
    for (i, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                out.push(text[start..i].trim().to_owned());
                start = i + 1;
            }
            _ => {}
        }
    }
    let last = text[start..].trim();
    if !last.is_empty() {
        out.push(last.to_owned());
    }
    out
}
