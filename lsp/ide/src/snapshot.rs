//! Documents: text, and what was made of it.
//!
//! An edit makes a new [`Snapshot`] at once; parsing and analysis happen when somebody asks the
//! snapshot, once, on the asker's thread. Whoever holds a snapshot sees one version of the text for
//! ever.

use crate::lines::LineTable;
use ropey::Rope;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use zonelens_analysis::Model;
use zonelens_analysis::ide::Index;
use zonelens_analysis::meaning::Digested;
use zonelens_analysis::network::Network;
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::{FileKind, QueryKind};
use zonelens_syntax::source::QueryRef;
use zonelens_syntax::span::{Span, TextEdit};
use zonelens_syntax::xml::{self, Tag};

/// More edits than this since the last parse, and parsing from scratch is cheaper.
const MAX_PENDING_EDITS: usize = 32;

/// Models up to this size are instantiated while somebody waits.
const QUICK_BYTES: usize = 100_000;
/// And only if they have no more processes than this.
const QUICK_PROCESSES: u64 = 200;

/// Documents with this in their names take long, for tests of what happens meanwhile.
static SLOW: OnceLock<String> = OnceLock::new();
const SLOW_TIME: Duration = Duration::from_secs(120);

/// Sets what is in the names of documents that take long.
pub fn set_slow(part: String) {
    let _ = SLOW.set(part);
}

/// One version of a document.
pub struct Snapshot {
    /// The document.
    pub uri: String,
    /// Its notation.
    pub kind: FileKind,
    /// The client's version number.
    pub version: i32,
    /// Its text.
    pub rope: Rope,
    /// The last parse before this version and the edits since.
    base: Option<(SourceFile, Vec<TextEdit>)>,
    file: OnceLock<SourceFile>,
    /// An earlier analysis: items that are the same keep their results.
    earlier: Option<Arc<Model>>,
    model: OnceLock<Arc<Model>>,
    network: OnceLock<Option<(Network, Digested)>>,
    names: OnceLock<Arc<Index>>,
    masked: OnceLock<String>,
    texts: OnceLock<Vec<Tag>>,
    digest: OnceLock<[u8; 32]>,
    lines: OnceLock<LineTable>,
    /// Overrides of global constants.
    constants: Arc<BTreeMap<String, i64>>,
    /// Whether it is an XML file that is not a model: nothing is read of it.
    foreign: bool,
}

impl Snapshot {
    /// A document as it was opened.
    pub fn open(
        uri: String,
        kind: FileKind,
        version: i32,
        text: &str,
        constants: Arc<BTreeMap<String, i64>>,
    ) -> Snapshot {
        Snapshot {
            uri,
            kind,
            version,
            rope: Rope::from_str(text),
            base: None,
            file: OnceLock::new(),
            earlier: None,
            model: OnceLock::new(),
            network: OnceLock::new(),
            names: OnceLock::new(),
            masked: OnceLock::new(),
            texts: OnceLock::new(),
            digest: OnceLock::new(),
            lines: OnceLock::new(),
            constants,
            foreign: false,
        }
    }

    /// An XML file as it was opened by a client that does not say whether it is a model: its head
    /// decides. What is none is a document without any content, until an edit makes it one.
    pub fn open_xml(
        uri: String,
        version: i32,
        text: &str,
        constants: Arc<BTreeMap<String, i64>>,
    ) -> Snapshot {
        let model = xml::is_model(text);
        let kind = if model {
            FileKind::Xml
        } else {
            FileKind::Query
        };
        Snapshot {
            foreign: !model,
            ..Snapshot::open(uri, kind, version, text, constants)
        }
    }

    /// The same text under other constants.
    pub fn with_constants(&self, constants: Arc<BTreeMap<String, i64>>) -> Snapshot {
        let base = self.file.get().map(|file| (file.clone(), Vec::new()));
        Snapshot {
            uri: self.uri.clone(),
            kind: self.kind,
            version: self.version,
            rope: self.rope.clone(),
            base: base.or_else(|| self.base.clone()),
            file: OnceLock::new(),
            earlier: None,
            model: OnceLock::new(),
            network: OnceLock::new(),
            names: OnceLock::new(),
            masked: OnceLock::new(),
            texts: OnceLock::new(),
            digest: OnceLock::new(),
            lines: OnceLock::new(),
            constants,
            foreign: self.foreign,
        }
    }

    /// The document with a new text; `edits` lead there one after the other, or are `None` if
    /// nothing of the old text is known to be left.
    pub fn edited(&self, version: i32, rope: Rope, edits: Option<Vec<TextEdit>>) -> Snapshot {
        if self.foreign {
            let (uri, text) = (self.uri.clone(), rope.to_string());
            return Snapshot::open_xml(uri, version, &text, Arc::clone(&self.constants));
        }
        let base = edits.and_then(|new| match (self.file.get(), &self.base) {
            (Some(file), _) => Some((file.clone(), new)),
            (None, Some((file, earlier))) => {
                Some((file.clone(), earlier.iter().cloned().chain(new).collect()))
            }
            (None, None) => None,
        });
        let base = base.filter(|(_, edits)| edits.len() <= MAX_PENDING_EDITS);
        Snapshot {
            uri: self.uri.clone(),
            kind: self.kind,
            version,
            rope,
            base,
            file: OnceLock::new(),
            earlier: self.model.get().or(self.earlier.as_ref()).cloned(),
            model: OnceLock::new(),
            network: OnceLock::new(),
            names: OnceLock::new(),
            masked: OnceLock::new(),
            texts: OnceLock::new(),
            digest: OnceLock::new(),
            lines: OnceLock::new(),
            constants: Arc::clone(&self.constants),
            foreign: false,
        }
    }

    /// The text for looking at what stands around a place: inside XML all but the language's text
    /// is blank.
    pub fn masked(&self) -> &str {
        match self.kind {
            FileKind::Xml => self
                .masked
                .get_or_init(|| self.file().masked().into_owned()),
            FileKind::Xta | FileKind::Query => &self.file().text,
        }
    }

    /// The elements of an XML file with text of the language, in order; empty for other files.
    pub fn texts(&self) -> &[Tag] {
        self.texts.get_or_init(|| {
            let mut all = self.file().elements();
            all.retain(|tag| tag.model_text);
            all
        })
    }

    /// The element of an XML file whose text of the language contains or touches `offset`.
    pub fn text_at(&self, offset: u32) -> Option<&Tag> {
        let texts = self.texts();
        let after = texts.partition_point(|tag| tag.content.start <= offset);
        texts[..after]
            .last()
            .filter(|tag| tag.content.touches(offset))
    }

    /// What features about the text around `offset` look at: in XML the text of the element there,
    /// if it has any; otherwise everything.
    pub fn text_span(&self, offset: u32) -> Option<Span> {
        match self.kind {
            _ if self.foreign => None,
            FileKind::Xml => self.text_at(offset).map(|tag| tag.content),
            FileKind::Xta | FileKind::Query => Some(self.full_span()),
        }
    }

    /// The parsed text. Parses on first use: not for the thread that reads messages.
    pub fn file(&self) -> &SourceFile {
        self.file.get_or_init(|| match &self.base {
            Some((file, edits)) => edits.iter().fold(file.clone(), |f, edit| f.reparse(edit)),
            None if self.foreign => SourceFile::parse("", self.kind),
            None => SourceFile::parse(self.rope.to_string(), self.kind),
        })
    }

    /// The analysed model. Analyses on first use: not for the thread that reads messages.
    pub fn model(&self) -> &Model {
        self.model.get_or_init(|| {
            if SLOW.get().is_some_and(|slow| self.uri.contains(slow)) {
                std::thread::sleep(SLOW_TIME);
            }
            Arc::new(match &self.earlier {
                Some(earlier) => earlier.update(self.file()),
                None => Model::new(self.file(), &self.constants),
            })
        })
    }

    /// The network with its digest; `None` while the model has errors.
    pub fn network(&self) -> Option<&(Network, Digested)> {
        let build = || {
            if self.model().blocks_verification() {
                return None;
            }
            let network = self.model().network().ok()?;
            let digested = zonelens_analysis::meaning::of_network(&network);
            Some((network, digested))
        };
        self.network.get_or_init(build).as_ref()
    }

    /// The network if it is there already or quickly made: for answers that are better with it and
    /// must not wait for it.
    pub fn network_soon(&self) -> Option<&(Network, Digested)> {
        match self.network.get() {
            Some(known) => known.as_ref(),
            None if self.is_quick() => self.network(),
            None => None,
        }
    }

    /// Whether the network is there already or takes little time and memory to make.
    pub fn is_quick(&self) -> bool {
        self.network.get().is_some() || !self.is_large()
    }

    /// Whether making the network takes time or memory.
    pub fn is_large(&self) -> bool {
        self.rope.len_bytes() > QUICK_BYTES || self.model().outline().processes() > QUICK_PROCESSES
    }

    /// A digest of the text.
    pub fn text_digest(&self) -> [u8; 32] {
        *self.digest.get_or_init(|| {
            let mut hasher = Sha256::new();
            self.rope.chunks().for_each(|c| hasher.update(c));
            hasher.finalize().into()
        })
    }

    /// Overrides of global constants.
    pub fn constants(&self) -> &Arc<BTreeMap<String, i64>> {
        &self.constants
    }

    /// The names of a model.
    pub fn names(&self) -> &Arc<Index> {
        self.names
            .get_or_init(|| Arc::new(Index::of_model(self.file())))
    }

    /// The queries that ask something, in order of the text.
    pub fn queries(&self) -> Vec<QueryRef<'_>> {
        let mut queries = self.file().queries();
        queries.retain(|q| !matches!(q.query.kind, QueryKind::Heading));
        queries
    }

    /// How lines end in this document: as its first one does.
    pub fn line_break(&self) -> &'static str {
        let first = self.rope.get_line(0).map(|line| line.to_string());
        match first {
            Some(line) if line.ends_with("\r\n") => "\r\n",
            _ => "\n",
        }
    }

    /// Where lines start: makes many positions cheap.
    pub fn lines(&self) -> &LineTable {
        self.lines.get_or_init(|| LineTable::new(&self.file().text))
    }

    /// Where lines start, if somebody asked before: one position alone is not worth the table.
    pub fn lines_if_known(&self) -> Option<&LineTable> {
        self.lines.get()
    }

    /// Whether it is an XML file that is not a model.
    pub fn is_foreign(&self) -> bool {
        self.foreign
    }

    /// The whole text's span.
    pub fn full_span(&self) -> Span {
        Span::new(0, self.rope.len_bytes() as u32)
    }
}
