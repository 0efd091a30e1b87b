//! Information for editors beyond diagnostics.

use super::Model;
use crate::check::Body;
use crate::symbol::{SymKind, Symbol};
use zonelens_syntax::span::Span;

impl Model {
    /// The value of the constant `name` declared at `at`, as source text; `None` if it differs by
    /// process.
    pub fn constant(&self, name: &str, at: Span) -> Option<String> {
        let locals = self.items.iter().filter_map(|(_, c)| match &c.body {
            Body::Template(t) => t.members.get(name),
            _ => None,
        });
        let global = self.env.names.get(name);
        let is_here = |s: &Symbol| {
            let offset = self.offsets.get(&s.loc.item).copied().unwrap_or(0);
            s.name == name && s.loc.span.shift(offset) == at
        };
        let symbol = global.into_iter().chain(locals).find(|s| is_here(s))?;
        let SymKind::Var(variable) = &symbol.kind else {
            return None;
        };
        let values = variable.value.as_ref().filter(|_| variable.constant)?;
        let shown: Vec<String> = values.iter().take(16).map(i32::to_string).collect();
        Some(match values.len() {
            1 => shown.join(""),
            n if n > 16 => format!("{{{}, …}}", shown.join(", ")),
            _ => format!("{{{}}}", shown.join(", ")),
        })
    }
}
