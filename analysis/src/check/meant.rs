//! Suggestions for names that are not declared.

use super::Checker;
use crate::diag::Diag;
use crate::fix::Change;
use crate::hir::{Expr, ExprKind};
use crate::symbol::{Loc, SymKind, Symbol, TemplateSig};
use crate::types::Type;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use std::sync::atomic::Ordering;
use zonelens_syntax::ast::{self, MemberKind};
use zonelens_syntax::similar::{closest, is_close};
use zonelens_syntax::span::Span;

/// The most comparisons of names per model; after that no more names are suggested. A text full of
/// unknown words is not a model.
const MAX_COMPARED: u64 = 1_000_000;

impl Checker<'_> {
    /// Reports a name that is not declared. `words` are the keywords that are allowed here.
    pub(super) fn unknown(
        &mut self,
        name: &ast::Ident,
        wanted: fn(&Symbol) -> bool,
        words: &[&'static str],
    ) {
        let loc = self.loc(name.span);
        if let Some(diag) = self.numbered_process(name, loc) {
            return self.report(diag);
        }
        let near = self.similar(&name.name, wanted, words);
        let message = match &near {
            Some(_) => format!("`{}` is not declared here", name.name),
            None => format!(
                "`{}` is not declared here; names must be declared before they are used",
                name.name
            ),
        };
        let diag = Diag::new("name/unknown", message, loc);
        let diag = self.did_you_mean(diag, near, loc);
        self.report(diag);
    }

    /// Suggests a name in place of the one at `loc`.
    pub(super) fn did_you_mean(&self, mut diag: Diag, near: Option<SmolStr>, loc: Loc) -> Diag {
        if let Some(near) = near {
            diag.message.push_str(&format!("; did you mean `{near}`?"));
            diag = diag.fix(format!("Change to `{near}`"), loc, near.as_str());
        }
        diag
    }

    /// The visible name, or the keyword, that was probably meant.
    pub(super) fn similar(
        &self,
        name: &str,
        wanted: fn(&Symbol) -> bool,
        words: &[&'static str],
    ) -> Option<SmolStr> {
        let visible = self.frames.iter().map(FxHashMap::len).sum::<usize>() + self.env.names.len();
        let before = self
            .env
            .compared
            .fetch_add(visible as u64, Ordering::Relaxed);
        if before > MAX_COMPARED {
            return None;
        }
        let frames = self.frames.iter().flatten();
        let globals = self.env.names.iter().chain(self.env.builtins.iter());
        let names = frames
            .chain(globals)
            .filter(|(candidate, symbol)| is_close(name, candidate) && wanted(symbol))
            .map(|(candidate, _)| candidate.as_str());
        closest(name, names.chain(words.iter().copied()))
            .or_else(|| synonym(name).filter(|w| words.contains(w)))
            .map(SmolStr::new)
    }

    /// Reports `Fischer(1).cs` over a scalarset: its elements have no numbers, but a query can ask
    /// for some or for all of them.
    pub(super) fn numbered_element(
        &mut self,
        symbol: &Symbol,
        sig: &TemplateSig,
        args: &[Expr],
    ) -> bool {
        let ([p], [a], Some(whole)) = (&sig.params[..], args, self.member_span) else {
            return false;
        };
        let (Type::Scalar(set), ExprKind::Int(_)) = (&p.ty, &a.kind) else {
            return false;
        };
        // Only a named set can be quantified over.
        let named = matches!(
            self.lookup(&set.name).map(|s| s.kind.clone()),
            Some(SymKind::Type(Type::Scalar(same), _)) if same == *set
        );
        if self.in_state || !named {
            return false;
        }
        let variable = ["i", "j", "k", "e"]
            .into_iter()
            .find(|v| self.lookup(&SmolStr::new(v)).is_none())
            .unwrap_or("element");
        let (family, set_name) = (&symbol.name, &set.name);
        let message = format!(
            "the elements of the scalarset `{set_name}` have no numbers: ask for some of them, `exists ({variable} : {set_name}) {family}({variable})…`, or for all of them with `forall`"
        );
        let mut diag = Diag::new("sym/literal", message, self.here(a.span))
            .related(set.loc, format!("`{set_name}` is declared here"));
        for (word, title) in [
            ("exists", "Ask for some element"),
            ("forall", "Ask for all elements"),
        ] {
            let open = Change::Replace(
                self.here(Span::new(whole.start, whole.start)),
                format!("({word} ({variable} : {set_name}) "),
            );
            let number = Change::Replace(self.here(a.span), variable.to_owned());
            let close = Change::Replace(self.here(Span::new(whole.end, whole.end)), ")".to_owned());
            diag = diag.repair(title, vec![open, number, close]);
        }
        self.report(diag);
        true
    }

    /// Explains `Train0.Cross` where `Train` is a family, whose processes need arguments.
    fn numbered_process(&self, name: &ast::Ident, loc: Loc) -> Option<Diag> {
        let families = self.families.filter(|_| self.in_query)?;
        let digits = name.name.trim_end_matches(|c: char| c.is_ascii_digit());
        let number = &name.name[digits.len()..];
        let families = |n: &str| families.get(n).map(|s| &s.kind);
        let (family, kind) = [digits, digits.trim_end_matches('_')]
            .into_iter()
            .find_map(|n| Some((n, families(n)?)))?;
        let (SymKind::Template(sig) | SymKind::Instance(sig)) = kind else {
            return None;
        };
        let ([p], false) = (&sig.params[..], number.is_empty()) else {
            return None;
        };
        let number: u32 = number.parse().ok()?;
        let meant = format!("{family}({number})");
        let diag = |message: String| Diag::new("name/unknown", message, loc);
        match &p.ty {
            Type::Scalar(set) => {
                let set = &set.name;
                let diag = diag(format!(
                    "there is no process `{}`: `{family}` is a family with one process per element of the scalarset `{set}`; ask for some of them, `exists (i : {set}) {family}(i)…`",
                    name.name
                ));
                let (Some(whole), true) = (self.member_span, self.env.names.contains_key(set))
                else {
                    return Some(diag);
                };
                let close = self.here(Span::new(whole.end, whole.end));
                let changes = vec![
                    Change::Replace(loc, format!("(exists (i : {set}) {family}(i)")),
                    Change::Replace(close, ")".to_owned()),
                ];
                Some(diag.repair("Ask for some element", changes))
            }
            ty if ty.is_integral() => Some(
                diag(format!(
                    "there is no process `{}`: `{family}` is a family; did you mean `{meant}`?",
                    name.name
                ))
                .fix(format!("Change to `{meant}`"), loc, meant.as_str()),
            ),
            _ => None,
        }
    }

    /// `comit A;` has the form of a declaration. If there is no type of that name, reads it as one
    /// of the lists of locations.
    pub(super) fn meant_section(&mut self, kind: &MemberKind) -> Option<MemberKind> {
        let MemberKind::Var(v) = kind else {
            return None;
        };
        let ast::TypeBase::Named(word) = &v.ty.base else {
            return None;
        };
        let plain = v.ty.prefixes.is_empty()
            && v.names
                .iter()
                .all(|d| d.dims.is_empty() && d.init.is_none());
        if !plain || self.lookup(&word.name).is_some() {
            return None;
        }
        let frame = self.frames.last();
        let is_location = |d: &ast::Declarator| {
            let found = frame.and_then(|f| f.get(&d.name.name));
            found.is_some_and(|s| matches!(s.kind, SymKind::Location(_)))
        };
        // All lists except the first (`state`) refer to locations that are already declared.
        let words: &[&str] = match v.names.iter().all(is_location) {
            true => &["commit", "urgent", "init"],
            false => &["state"],
        };
        let meant = closest(&word.name, words.iter().copied())?;
        let loc = self.loc(word.span);
        let message = format!("`{}` is neither a keyword nor a type", word.name);
        let diag = Diag::new("name/unknown", message, loc);
        let diag = self.did_you_mean(diag, Some(meant.into()), loc);
        self.report(diag);
        let names: Vec<ast::Ident> = v.names.iter().map(|d| d.name.clone()).collect();
        Some(match meant {
            "commit" => MemberKind::Commit(names),
            "urgent" => MemberKind::Urgent(names),
            "init" => MemberKind::Init(names.into_iter().next()?),
            _ => MemberKind::States(
                v.names
                    .iter()
                    .map(|d| ast::Location {
                        name: d.name.clone(),
                        anonymous: false,
                        invariant: None,
                        exponential_rate: None,
                        committed: false,
                        urgent: false,
                        graphics: None,
                        span: d.span,
                    })
                    .collect(),
            ),
        })
    }
}

/// The keyword for a word that other languages use.
fn synonym(name: &str) -> Option<&'static str> {
    Some(match name {
        "boolean" | "Boolean" => "bool",
        "integer" | "Integer" | "long" | "short" | "byte" | "unsigned" => "int",
        "float" | "real" => "double",
        "channel" => "chan",
        "timer" => "clock",
        _ => return None,
    })
}
