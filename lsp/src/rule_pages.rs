//! The pages of diagnostic codes: links from diagnostics, and the command that shows one.
//!
//! Clients that fetch documents from the server get `zonelens-rule:/AREA/NAME`. For others a page
//! is a read-only file in the cache, written when the first diagnostic with that code is shown.

use crate::cache;
use crate::commands::Argument;
use crate::diagnostics::Finding;
use crate::private;
use crate::publish;
use crate::shared::Shared;
use crate::to_proto::{self, Place};
use crate::uri;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tower_lsp_server::ls_types as lsp;
use zonelens_analysis::{codes_with, explain};
use zonelens_syntax::span::Span;

/// The scheme of pages that the server gives out.
pub(crate) const SCHEME: &str = "zonelens-rule";
/// No page is longer than this.
const MAX_PAGE_BYTES: u64 = 1 << 20;

/// The addresses of pages that are known; `None` for a page that could not be written.
#[derive(Default)]
pub(crate) struct RulePages(Mutex<HashMap<&'static str, Option<lsp::Uri>>>);

impl RulePages {
    /// Makes the pages of all codes among `findings` available.
    pub(crate) async fn prepare(&self, shared: &Shared, findings: &[Finding]) {
        let codes = findings.iter().map(|f| f.diagnostic.code);
        self.prepare_codes(shared, codes.collect()).await;
    }

    async fn prepare_codes(&self, shared: &Shared, mut codes: Vec<&'static str>) {
        {
            let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            codes.retain(|code| !known.contains_key(code));
        }
        codes.sort_unstable();
        codes.dedup();
        if codes.is_empty() {
            return;
        }
        let served = shared.capabilities().document_content;
        let address = move |code: &'static str| {
            let page = explain(code)?;
            match served {
                true => to_proto::uri(&format!("{SCHEME}:/{code}")),
                false => to_proto::uri(&uri::from_path(&written(code, page)?)?),
            }
        };
        let find = move || {
            codes
                .into_iter()
                .map(|c| (c, address(c)))
                .collect::<Vec<_>>()
        };
        let found = tokio::task::spawn_blocking(find).await;
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.extend(found.unwrap_or_default());
    }

    /// Links a diagnostic to its page, if it was prepared.
    pub(crate) fn link(&self, diagnostic: &mut lsp::Diagnostic) {
        let Some(lsp::NumberOrString::String(code)) = &diagnostic.code else {
            return;
        };
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let page = known.get(code.as_str()).cloned().flatten();
        diagnostic.code_description = page.map(|href| lsp::CodeDescription { href });
    }
}

/// The file of a page in the cache. It is written only if it is not there as it should be.
fn written(code: &str, page: &str) -> Option<PathBuf> {
    let directory = cache::base_directory()?.join("rules");
    private::directory(&directory).ok()?;
    let path = directory.join(format!("{code}.md"));
    if private::read(&path, MAX_PAGE_BYTES).as_deref() != Some(page.as_bytes()) {
        private::write(&path, page.as_bytes(), true).ok()?;
    }
    Some(path)
}

/// The text of a document of [`SCHEME`].
pub(crate) fn content(wanted: &str) -> Option<&'static str> {
    let code = wanted.strip_prefix(SCHEME)?.strip_prefix(':')?;
    explain(code.trim_start_matches('/'))
}

/// `zonelens.explain`: the page of a code, or of the diagnostic at a place; `Err` is a sentence for
/// users.
pub(crate) async fn command(shared: &Arc<Shared>, argument: Argument) -> Result<Value, String> {
    let mut at_place = Vec::new();
    let code = match argument.code {
        Some(asked) => by_name(&asked)?,
        None => {
            at_place = codes_at(shared, &argument).await?;
            *at_place.first().ok_or("there is no diagnostic here")?
        }
    };
    let text = explain(code).ok_or_else(|| format!("`{code}` has no page"))?;
    shared.rules.prepare_codes(shared, vec![code]).await;
    let mut link = lsp::Diagnostic {
        code: Some(lsp::NumberOrString::String(code.to_owned())),
        ..lsp::Diagnostic::default()
    };
    shared.rules.link(&mut link);
    let page = link.code_description.map(|d| d.href);
    Ok(json!({ "code": code, "text": text, "uri": page, "codes": at_place }))
}

fn by_name(asked: &str) -> Result<&'static str, String> {
    match codes_with(asked).as_slice() {
        [] => Err(format!("there is no diagnostic `{asked}`")),
        [(code, _)] => Ok(code),
        several => {
            let names: Vec<&str> = several.iter().map(|(code, _)| *code).take(10).collect();
            let names = names.join("`, `");
            Err(format!("`{asked}` is part of several codes: `{names}`"))
        }
    }
}

/// The codes of the diagnostics at a position, the innermost first; if there is none, of those that
/// touch its line.
async fn codes_at(shared: &Arc<Shared>, argument: &Argument) -> Result<Vec<&'static str>, String> {
    let needs = "the command needs {\"code\": …}, or {\"uri\": …} with a line or a position";
    let uri = argument.uri.as_deref().ok_or(needs)?;
    let snapshot = shared.store.get(uri).ok_or("the document is not open")?;
    let place = Place {
        snapshot: &snapshot,
        encoding: shared.encoding(),
    };
    let position = argument.position;
    let line = position.map(|p| p.line).or(argument.line).ok_or(needs)?;
    let start = |line: u32| place.offset(lsp::Position::new(line, 0));
    let whole = Span::new(start(line), start(line.saturating_add(1)));
    let whole = Span::new(whole.start, whole.end.max(whole.start + 1) - 1);
    let at = position.map(|p| place.offset(p));
    let found = publish::findings(shared, &snapshot).await;
    let mut found = found.ok_or("the document could not be analysed")?;
    found.retain(|f| explain(f.diagnostic.code).is_some());
    found.sort_by_key(|f| f.diagnostic.span.len());
    let codes = |within: &dyn Fn(Span) -> bool| -> Vec<&'static str> {
        let here = found.iter().filter(|f| within(f.diagnostic.span));
        let mut codes: Vec<&'static str> = Vec::new();
        for code in here.map(|f| f.diagnostic.code) {
            if !codes.contains(&code) {
                codes.push(code);
            }
        }
        codes
    };
    let here = codes(&|span| at.is_some_and(|at| span.touches(at)));
    match here.is_empty() {
        true => Ok(codes(&|s| s.start <= whole.end && whole.start <= s.end)),
        false => Ok(here),
    }
}
