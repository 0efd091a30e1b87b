//! The size of a set in the text of a model: where it stands, and where else it is used.

use super::{Layout, Refusal};
use crate::ide::{DefKind, Index};
use crate::network::{Base, IndexRange, Network, Scalarset, Shape};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::{BinaryOp, Expr, ExprKind, ItemKind, Placed, TypeBase, TypeExpr};
use zonelens_syntax::span::Span;

/// What is changed to change the size.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// The constant, if the size is one.
    pub constant: Option<String>,
    /// The number, or the use of the constant.
    pub span: Span,
    /// Whether elements are integers, so that numbers and ranges may mean them.
    pub integers: bool,
    text: String,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Source {
    /// The text (if it differs) and the constants of another size.
    pub(crate) fn with(
        &self,
        file: &SourceFile,
        constants: &BTreeMap<String, i64>,
        n: u32,
    ) -> (Option<String>, BTreeMap<String, i64>) {
        let mut constants = constants.clone();
        match &self.constant {
            Some(name) => {
                constants.insert(name.clone(), i64::from(n));
                (None, constants)
            }
            None => {
                let (start, end) = (self.span.start as usize, self.span.end as usize);
                let text = format!("{}{n}{}", &file.text[..start], &file.text[end..]);
                (Some(text), constants)
            }
        }
    }
}

fn refuse(message: String, span: Span) -> Refusal {
    Refusal::new("every/size", message, span)
}

/// Finds the size of a set. Only a name or a number is one; the upper end of a range of integers
/// may be one less than the size.
pub(crate) fn find(file: &SourceFile, set: &Scalarset) -> Result<Source, Refusal> {
    let mut found: Option<(Expr, u32, bool)> = None;
    for item in &file.items {
        let inside = |span: Span| {
            let span = span.shift(item.offset);
            span.start <= set.span.start && set.span.end <= span.end
        };
        match &item.node.kind {
            ItemKind::ScalarsetDecl { name, size } if name.name == set.name => {
                found = Some((size.clone(), item.offset, true));
            }
            ItemKind::Typedef(t) => {
                let named = t
                    .names
                    .iter()
                    .any(|d| d.name.name == set.name && d.dims.is_empty());
                let size = match &t.ty.base {
                    TypeBase::Scalar(e) => Some((e, false)),
                    TypeBase::Scalarset(e) => Some((e, true)),
                    _ => None,
                };
                if let Some((size, integers)) = size.filter(|_| named) {
                    found = Some(((**size).clone(), item.offset, integers));
                }
            }
            ItemKind::Process(_)
                if set.detected && inside(Span::new(0, u32::MAX - item.offset)) =>
            {
                if let Some((ty, base)) = parameter(item, set)
                    && let Some(size) = range_end(file, ty, base)
                {
                    found = Some((size.0, size.1, true));
                }
            }
            _ => {}
        }
    }
    let unclear = || {
        let message = format!(
            "the size of `{}` is not one constant or number; write `const int N = {};` and use `N` as the size",
            set.name, set.size
        );
        refuse(message, set.span)
    };
    let (size, base, integers) = found.ok_or_else(unclear)?;
    let integers = integers || set.detected;
    let span = size.span.shift(base);
    match &size.kind {
        ExprKind::Int(_) if file.slice(span).bytes().all(|b| b.is_ascii_digit()) => Ok(Source {
            constant: None,
            span,
            integers,
            text: format!("{} in `{}`", file.slice(span), set.name),
        }),
        ExprKind::Name(name) if is_global_constant(file, &name.name) => Ok(Source {
            constant: Some(name.name.to_string()),
            span,
            integers,
            text: name.name.to_string(),
        }),
        _ => Err(unclear()),
    }
}

/// The type of the parameter from which a set was detected.
fn parameter<'f>(
    item: &'f Placed<zonelens_syntax::ast::Item>,
    set: &Scalarset,
) -> Option<(&'f TypeExpr, u32)> {
    let ItemKind::Process(p) = &item.node.kind else {
        return None;
    };
    let fits = |span: Span| {
        let span = span.shift(item.offset);
        span.start <= set.span.start && set.span.end <= span.end
    };
    let found = p
        .params
        .as_ref()?
        .list
        .iter()
        .find(|q| q.name.name == set.name && fits(q.name.span))?;
    Some((&found.ty, item.offset))
}

/// The number of elements of a range type: the `N` of `[1,N]` and `[0,N-1]`.
fn range_end(file: &SourceFile, ty: &TypeExpr, base: u32) -> Option<(Expr, u32)> {
    match &ty.base {
        TypeBase::Int(Some(range)) => {
            let (lo, hi) = &**range;
            let first = match lo.kind {
                ExprKind::Int(v) => v,
                _ => return None,
            };
            match (&hi.kind, first) {
                (ExprKind::Name(_), 1) => Some((hi.clone(), base)),
                (
                    ExprKind::Binary {
                        op: BinaryOp::Sub,
                        lhs,
                        rhs,
                        ..
                    },
                    0,
                ) if matches!(lhs.kind, ExprKind::Name(_))
                    && matches!(rhs.kind, ExprKind::Int(1)) =>
                {
                    Some(((**lhs).clone(), base))
                }
                _ => None,
            }
        }
        TypeBase::Named(name) => file.items.iter().find_map(|item| match &item.node.kind {
            ItemKind::Typedef(t)
                if t.names
                    .iter()
                    .any(|d| d.name.name == name.name && d.dims.is_empty()) =>
            {
                range_end(file, &t.ty, item.offset)
            }
            _ => None,
        }),
        _ => None,
    }
}

fn is_global_constant(file: &SourceFile, name: &str) -> bool {
    let index = Index::of_model(file);
    let mut of = index.definitions.iter().filter(|d| d.name == name);
    let first = of.next();
    // A name that is declared twice could be hidden where the size is used.
    of.next().is_none()
        && first.is_some_and(|d| d.kind == DefKind::Constant && d.container.is_none())
}

/// Checks that the size is used for nothing else. For sets of integers, the ends of ranges and the
/// sizes of arrays may follow from it too; [`integers`] checks that these are ranges of elements.
pub(crate) fn uses(file: &SourceFile, source: &Source, set: &Scalarset) -> Result<(), Refusal> {
    let Some(name) = &source.constant else {
        return Ok(());
    };
    let index = Index::of_model(file);
    let queries: Vec<Span> = file
        .queries()
        .iter()
        .map(|q| q.query.span.shift(q.base))
        .collect();
    let in_query = |s: Span| queries.iter().any(|q| q.start <= s.start && s.end <= q.end);
    let masked = file.masked();
    for use_of in &index.occurrences {
        let is_size = index
            .definition(use_of.def)
            .is_some_and(|d| d.name == name.as_str());
        if !is_size || use_of.declares || in_query(use_of.span) || use_of.span == source.span {
            continue;
        }
        if source.integers && ends_range(&masked, use_of.span, &index) {
            continue;
        }
        let message = format!(
            "`{name}` is the size of `{}` and is used for something else here: only the set itself may depend on its size",
            set.name
        );
        return Err(refuse(message, use_of.span));
    }
    Ok(())
}

/// Whether a use is the upper end of `int[lo,N]` or `int[lo,N-1]`, or the size of a declared array.
fn ends_range(text: &str, span: Span, index: &Index) -> bool {
    let before: Vec<&str> = words(&text[..span.start as usize]);
    let after = text[span.end as usize..].trim_start();
    let minus = after.strip_prefix('-').map(str::trim_start);
    let minus = minus.and_then(|t| t.strip_prefix('1')).map(str::trim_start);
    let plus = after.strip_prefix('+').map(str::trim_start);
    let plus = plus.and_then(|t| t.strip_prefix('1')).map(str::trim_start);
    let closes = |t: Option<&str>| t.is_some_and(|t| t.starts_with(']'));
    let is_number = |w: &str| !w.is_empty() && w.bytes().all(|b| b.is_ascii_digit());
    let is_type = |w: &str| {
        let named = |d: &crate::ide::Definition| d.name == w && d.kind == DefKind::Type;
        matches!(w, "bool" | "int" | "clock" | "chan" | "]") || index.definitions.iter().any(named)
    };
    match before.as_slice() {
        [.., "int", "[", ","] => false,
        [.., "int", "[", lo, ","] if is_number(lo) => closes(Some(after)) || closes(minus),
        [.., ty, name, "["] if is_type(ty) && !is_number(name) => {
            closes(Some(after)) || closes(plus)
        }
        _ => false,
    }
}

/// The last few words and signs of a text.
fn words(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = text.trim_end();
    while out.len() < 5 && !rest.is_empty() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let word = rest.trim_end_matches(is_word);
        let cut = match word.len() == rest.len() {
            true => rest.char_indices().next_back().map_or(0, |(k, _)| k),
            false => word.len(),
        };
        out.push(&rest[cut..]);
        rest = rest[..cut].trim_end();
    }
    out.reverse();
    out
}

/// The numbers of a text, without comments and without the size itself.
pub(crate) fn numbers(file: &SourceFile, source: &Source) -> BTreeSet<i64> {
    let text = without_comments(&file.masked());
    let bytes = text.as_bytes();
    let (mut out, mut k) = (BTreeSet::new(), 0);
    while k < bytes.len() {
        if !bytes[k].is_ascii_alphanumeric() && bytes[k] != b'_' {
            k += 1;
            continue;
        }
        let start = k;
        while k < bytes.len() && (bytes[k].is_ascii_alphanumeric() || bytes[k] == b'_') {
            k += 1;
        }
        let own = source.constant.is_none() && start == source.span.start as usize;
        if bytes[start].is_ascii_digit() && !own {
            out.insert(text[start..k].parse().unwrap_or(i64::MAX));
        }
    }
    out
}

/// The text with blanks in place of comments; offsets stay.
fn without_comments(text: &str) -> String {
    let mut out = text.as_bytes().to_vec();
    let mut k = 0;
    while k + 1 < out.len() {
        let end = match &out[k..k + 2] {
            b"//" => text[k..].find('\n').map_or(out.len(), |n| k + n),
            b"/*" => text[k + 2..].find("*/").map_or(out.len(), |n| k + n + 4),
            _ => {
                k += 1;
                continue;
            }
        };
        out[k..end].fill(b' ');
        k = end;
    }
    String::from_utf8(out).unwrap_or_default()
}

/// Whether a formula mentions a name.
pub(crate) fn mentions(formula: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    formula.split(|c| !is_word(c)).any(|w| w == name)
}

/// What depends on the size in a network whose elements are integers, and is not about elements.
/// The size of the network is unlike all numbers of the text, so every number near it comes from
/// the size.
pub(crate) fn integers(network: &Network, layout: &Layout) -> Vec<Refusal> {
    let mut out = Vec::new();
    let set = &network.scalarsets[layout.set];
    let near = |v: i64| (v - i64::from(layout.size)).abs() <= 1;
    let last = layout.first + layout.size as i32 - 1;
    let what = |name: &str, span: Span| {
        let message = format!(
            "`{name}` depends on the size of `{}` but does not range over its elements; declare the set with `scalar[N]`",
            set.name
        );
        refuse(message, span)
    };
    fn shapes<'s>(shape: &'s Shape, visit: &mut dyn FnMut(&'s Shape)) {
        visit(shape);
        match shape {
            Shape::Array { element, .. } => shapes(element, visit),
            Shape::Struct(fields) => fields.iter().for_each(|(_, f)| shapes(f, visit)),
            _ => {}
        }
    }
    for variable in &network.variables {
        let mut bad = false;
        shapes(&variable.shape, &mut |shape| match shape {
            Shape::Int {
                lo, hi, scalarset, ..
            } => {
                let holds = *scalarset == Some(layout.set);
                let fits =
                    *lo <= layout.first && (*hi == last || *hi >= crate::network::DEFAULT_INT.1);
                bad |= match holds {
                    true => !fits,
                    false => near(i64::from(*hi)) || near(i64::from(*lo)),
                };
            }
            Shape::Array { index, .. } => bad |= !fits_set(index, layout),
            _ => {}
        });
        if bad {
            out.push(what(&variable.name, variable.span));
        }
    }
    for family in &network.families {
        let span = network
            .processes
            .get(family.first.0 as usize)
            .map_or(set.span, |p| p.span);
        if family.params.iter().any(|r| !fits_set(r, layout)) {
            out.push(what(&family.name, span));
        }
    }
    for function in &network.functions {
        let ranges = function
            .params
            .iter()
            .flat_map(|p| p.ranges.iter().flatten());
        let of_size = ranges
            .chain(&function.result_ranges)
            .any(|r| near(i64::from(r.1)));
        if of_size {
            out.push(what(&function.name, function.span));
        }
    }
    let mut visitor = super::visit::Walk::new(
        network,
        Ranges {
            layout,
            found: Vec::new(),
        },
    );
    for process in &network.processes {
        for edge in &process.edges {
            if let Some(s) = edge.selects.iter().find(|s| !fits_set(&s.range, layout)) {
                out.push(what(
                    &s.name,
                    edge.spans.first().copied().unwrap_or(set.span),
                ));
            }
            edge.guard
                .iter()
                .chain(&edge.updates)
                .for_each(|e| visitor.expr(e));
        }
        let invariants = process
            .locations
            .iter()
            .filter_map(|l| l.invariant.as_ref());
        invariants.for_each(|e| visitor.expr(e));
    }
    network
        .before_update
        .iter()
        .chain(&network.after_update)
        .for_each(|e| visitor.expr(e));
    out.extend(
        visitor
            .visitor
            .found
            .into_iter()
            .map(|span| what("this range", span)),
    );
    out
}

/// Whether a range that depends on the size is one of the set.
fn fits_set(range: &IndexRange, layout: &Layout) -> bool {
    let near = (i64::from(range.len) - i64::from(layout.size)).abs() <= 1;
    match range.scalarset == Some(layout.set) {
        true => range.lo == layout.first && range.len == layout.size,
        false => !near,
    }
}

struct Ranges<'a> {
    layout: &'a Layout,
    found: Vec<Span>,
}

impl super::visit::Visitor for Ranges<'_> {
    fn expr(&mut self, e: &crate::network::Expr, _: bool) {
        if let crate::network::ExprKind::Quantifier { range, .. } = &e.kind
            && !fits_set(range, self.layout)
        {
            self.found.push(e.span);
        }
    }

    fn place(
        &mut self,
        place: &crate::network::Place,
        _: super::visit::Access,
        span: Span,
        _: bool,
    ) {
        let near = (i64::from(place.hi) - i64::from(self.layout.size)).abs() <= 1;
        let plain = place.scalarset != Some(self.layout.set);
        if matches!(place.base, Base::Slot(_) | Base::Ref(_)) && plain && near {
            self.found.push(span);
        }
    }

    fn statement(&mut self, statement: &crate::network::Stmt) {
        if let crate::network::Stmt::Iterate { range, span, .. } = statement
            && !fits_set(range, self.layout)
        {
            self.found.push(*span);
        }
    }
}
