//! Checks items one by one, and reuses the results of those that an edit does not affect.

use super::{Entry, Model};
use crate::check::{Body, Checked, Checker};
use crate::symbol::SymKind;
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use std::sync::Arc;
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::{Item, ItemKind, Placed};
use zonelens_syntax::source::members;

impl Model {
    pub(super) fn check_items(&mut self, file: &SourceFile, old: Option<&Model>) {
        let olds = old.map_or(&[][..], |m| &m.entries);
        // As long as each item is unchanged, or declares the same as before, later items are not
        // affected.
        let mut rechecked = false;
        for (k, item) in file.items.iter().enumerate() {
            let before = olds.get(k);
            let same = before.filter(|e| Arc::ptr_eq(&e.node, &item.node));
            if let Some(e) = same.filter(|e| !(e.checked.volatile && rechecked)) {
                self.push(e.clone(), item.offset);
                continue;
            }
            let Some(e) = before.filter(|_| olds.len() == file.items.len()) else {
                return self.check_moved(&file.items[k..], &olds[k.min(olds.len())..]);
            };
            let entry = self.check_item(item, Some(e));
            let agrees = same_symbols(&entry.checked, &e.checked);
            self.push(entry, item.offset);
            rechecked = true;
            if !agrees {
                return self.check_moved(&file.items[k + 1..], &olds[k + 1..]);
            }
        }
    }

    /// Checks items that may have moved, or that may see different names than before.
    fn check_moved(&mut self, items: &[Placed<Item>], olds: &[Entry]) {
        let mut known: FxHashMap<*const Item, &Entry> = FxHashMap::default();
        for e in olds {
            known.insert(Arc::as_ptr(&e.node), e);
        }
        let present: FxHashSet<*const Item> = items.iter().map(|i| Arc::as_ptr(&i.node)).collect();
        // Edited items, by the name they declare.
        let mut edited: FxHashMap<SmolStr, &Entry> = FxHashMap::default();
        for e in olds {
            if !present.contains(&Arc::as_ptr(&e.node))
                && let Some(s) = e.checked.symbols.first()
            {
                edited.insert(s.name.clone(), e);
            }
        }
        for item in items {
            let same = known.remove(&Arc::as_ptr(&item.node));
            let kept = same.filter(|e| self.still_valid(&e.checked));
            let entry = match kept {
                Some(e) => e.clone(),
                None => {
                    let before = same.or_else(|| edited.remove(declared_name(&item.node)?));
                    self.check_item(item, before)
                }
            };
            self.push(entry, item.offset);
        }
    }

    fn check_item(&self, item: &Placed<Item>, before: Option<&Entry>) -> Entry {
        // Keeps the id, because diagnostics of other items may refer to positions in this one.
        let id = before.map_or_else(|| self.env.fresh(), |e| e.id);
        let previous = before.map(|e| &*e.checked);
        let checked = Checker::new(&self.env, id)
            .after(previous)
            .check(&item.node);
        Entry {
            id,
            node: item.node.clone(),
            checked: Arc::new(checked),
            needs_scan: needs_scan(item),
            legacy: crate::legacy::in_item(&item.node),
        }
    }

    fn push(&mut self, entry: Entry, offset: u32) {
        self.offsets.insert(entry.id, offset);
        self.add(&entry.checked);
        self.items.push((entry.id, entry.checked.clone()));
        self.entries.push(entry);
    }

    /// The items with syntax errors, queries or other `//@` lines. Most items have none, and
    /// scanning all of them is slow.
    pub(super) fn part_to_scan(&self, file: &SourceFile) -> SourceFile {
        let mut part = file.clone();
        let kept = self
            .entries
            .iter()
            .zip(&file.items)
            .filter(|(e, _)| e.needs_scan);
        part.items = kept.map(|(_, i)| i.clone()).collect();
        part
    }

    /// Whether every name that the item looked up still means the same.
    fn still_valid(&self, checked: &Checked) -> bool {
        !checked.volatile
            && checked.deps.iter().all(|(name, id)| {
                let now = self
                    .env
                    .names
                    .get(name)
                    .or_else(|| self.env.builtins.get(name))
                    .map(|s| s.id);
                now == *id
            })
    }

    fn add(&mut self, checked: &Checked) {
        for s in &checked.symbols {
            self.env.names.insert(s.name.clone(), s.clone());
        }
        for f in &checked.functions {
            if let SymKind::Function(sig) = &f.symbol.kind {
                self.env.bodies.insert(sig.body, f.clone());
            }
        }
        match &checked.body {
            Body::Template(t) => {
                if let SymKind::Template(sig) = &t.symbol.kind {
                    self.env.templates.insert(sig.body, t.clone());
                }
            }
            Body::Instance(i) => {
                if let SymKind::Instance(sig) = &i.symbol.kind {
                    self.env.instances.insert(sig.body, i.clone());
                }
            }
            Body::System(levels) => {
                self.env.incomplete |= checked.incomplete;
                for (s, _) in levels.iter().flatten() {
                    self.families.insert(s.name.clone(), s.clone());
                }
            }
            _ => {}
        }
    }
}

/// Whether two versions of an item declare the same symbols under the same ids.
fn same_symbols(a: &Checked, b: &Checked) -> bool {
    let key = |c: &Checked| -> Vec<(SmolStr, u32)> {
        let symbols = c.symbols.iter();
        symbols.map(|s| (s.name.clone(), s.id)).collect()
    };
    key(a) == key(b)
}

/// Whether the file uses the 3.x syntax. Items known from `old` are not examined again.
pub(super) fn is_legacy(file: &SourceFile, old: Option<&Model>) -> bool {
    let olds = old.map_or(&[][..], |m| &m.entries);
    file.items.iter().enumerate().any(|(k, item)| {
        match olds.get(k).filter(|e| Arc::ptr_eq(&e.node, &item.node)) {
            Some(e) => e.legacy,
            None => crate::legacy::in_item(&item.node),
        }
    })
}

fn needs_scan(item: &Placed<Item>) -> bool {
    let node = &item.node;
    !node.errors.is_empty()
        || !node.pragmas.is_empty()
        || matches!(node.kind, ItemKind::Query(_))
        || members(item)
            .iter()
            .any(|m| !m.node.errors.is_empty() || !m.node.pragmas.is_empty())
}

/// The first global name an item declares.
fn declared_name(item: &Item) -> Option<&SmolStr> {
    match &item.kind {
        ItemKind::Var(v) => v.names.first().map(|d| &d.name.name),
        ItemKind::Typedef(t) => t.names.first().map(|d| &d.name.name),
        ItemKind::ScalarsetDecl { name, .. } => Some(&name.name),
        ItemKind::Function(f) => Some(&f.name.name),
        ItemKind::Process(p) => Some(&p.name.name),
        ItemKind::Instantiation(i) => Some(&i.name.name),
        _ => None,
    }
}
