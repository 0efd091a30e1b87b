//! XML as a plain tree, read by other code than the crate's own reader.

use quick_xml::events::Event;
use quick_xml::reader::Reader;

/// What an element contains, in order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item {
    Child(Tree),
    Text(String),
    Comment(String),
}

/// An element.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tree {
    pub tag: String,
    pub attributes: Vec<(String, String)>,
    pub items: Vec<Item>,
}

/// Elements whose text counts; elsewhere white space is layout.
const TEXTUAL: [&str; 8] = [
    "declaration",
    "parameter",
    "system",
    "instantiation",
    "label",
    "formula",
    "name",
    "comment",
];

impl Tree {
    pub(crate) fn new(tag: &str) -> Tree {
        Tree {
            tag: tag.to_owned(),
            ..Tree::default()
        }
    }

    pub(crate) fn with(mut self, name: &str, value: impl ToString) -> Tree {
        self.set(name, value);
        self
    }

    pub(crate) fn at(self, (x, y): (i32, i32)) -> Tree {
        self.with("x", x).with("y", y)
    }

    pub(crate) fn containing(mut self, child: Tree) -> Tree {
        self.items.push(Item::Child(child));
        self
    }

    pub(crate) fn set(&mut self, name: &str, value: impl ToString) {
        let value = value.to_string();
        match self.attributes.iter_mut().find(|(n, _)| n == name) {
            Some((_, old)) => *old = value,
            None => self.attributes.push((name.to_owned(), value)),
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn children(&self) -> impl DoubleEndedIterator<Item = &Tree> {
        self.items.iter().filter_map(|item| match item {
            Item::Child(child) => Some(child),
            _ => None,
        })
    }

    pub(crate) fn text(&self) -> String {
        let texts = self.items.iter().filter_map(|item| match item {
            Item::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    pub(crate) fn set_text(&mut self, text: &str) {
        self.items = match text {
            "" => Vec::new(),
            text => vec![Item::Text(text.to_owned())],
        };
    }

    fn push_text(&mut self, text: &str) {
        match self.items.last_mut() {
            Some(Item::Text(before)) => before.push_str(text),
            _ => self.items.push(Item::Text(text.to_owned())),
        }
    }

    /// Removes layout.
    fn settle(&mut self) {
        if !TEXTUAL.contains(&self.tag.as_str()) {
            let blank = |item: &Item| matches!(item, Item::Text(t) if t.trim().is_empty());
            self.items.retain(|item| !blank(item));
        }
        for item in &mut self.items {
            if let Item::Text(text) = item {
                *text = text.replace("\r\n", "\n");
            }
        }
    }
}

/// The root element; `None` for what is not well-formed or uses entities of its own.
pub(crate) fn read(text: &str) -> Option<Tree> {
    let mut reader = Reader::from_str(text.trim_start_matches('\u{feff}'));
    let mut open = vec![Tree::default()];
    loop {
        let top = open.last_mut()?;
        match reader.read_event().ok()? {
            Event::Start(tag) => open.push(element(&tag)?),
            Event::Empty(tag) => {
                let child = element(&tag)?;
                top.items.push(Item::Child(child));
            }
            Event::End(_) => {
                let mut child = open.pop()?;
                child.settle();
                open.last_mut()?.items.push(Item::Child(child));
            }
            Event::Text(text) => top.push_text(&text),
            Event::CData(text) => top.push_text(&text),
            Event::GeneralRef(reference) => {
                let text = format!("&{};", &*reference);
                top.push_text(&quick_xml::escape::unescape(&text).ok()?);
            }
            Event::Comment(text) => {
                let text = text.replace("\r\n", "\n");
                top.items.push(Item::Comment(text));
            }
            Event::Eof => break,
            _ => {}
        }
    }
    let outer = open.pop()?;
    let root = outer.children().next().cloned();
    root.filter(|_| open.is_empty())
}

fn element(tag: &quick_xml::events::BytesStart<'_>) -> Option<Tree> {
    let mut out = Tree::new(tag.name().as_ref());
    for attribute in tag.attributes() {
        let attribute = attribute.ok()?;
        let value = quick_xml::escape::unescape(&attribute.value).ok()?;
        let name = attribute.key.as_ref().to_owned();
        out.attributes.push((name, value.into_owned()));
    }
    Some(out)
}
