//! The files generated from the table of settings: the section of the VS Code extension,
//! `docs/settings.md` and the schema of `zonelens.toml`. If `ZONELENS_UPDATE_PAGES` is set, they
//! are written; otherwise they must be up to date.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use zonelens_project::settings::{Settings, from_toml};
use zonelens_project::table::{Home, Kind, SETTINGS, Setting};

const MEMORY_PATTERN: &str = r"^(none|0|[0-9]+(\.[0-9]+)?\s*([kKmMgGtT]([iI]?[bB])?)?)$";
const TIME_PATTERN: &str = r"^(none|0|[0-9]+(\.[0-9]+)?\s*(ms|s|m|h)?)$";
const LEVELS: [&str; 5] = ["error", "warning", "info", "hint", "off"];

/// A property whose keys are in a fixed order, independent of the map type of `serde_json`.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Property {
    #[serde(rename = "type")]
    kind: Value,
    #[serde(rename = "enum", skip_serializing_if = "Vec::is_empty")]
    words: Vec<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    enum_descriptions: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    minimum: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    maximum: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_properties: Option<Value>,
    default: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pattern: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pattern_error_message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    markdown_description: Option<&'static str>,
}

/// Properties in the order of the table.
struct Properties(Vec<(String, Property)>);

impl Serialize for Properties {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, property) in &self.0 {
            map.serialize_entry(name, property)?;
        }
        map.end()
    }
}

fn default(setting: &Setting) -> Value {
    match &setting.home {
        Home::Server(get, _) => get(&Settings::default()),
        Home::Editor(default) => default(),
    }
}

/// The properties of a setting that all schemas share.
fn property(setting: &Setting) -> Property {
    let mut out = Property {
        default: default(setting),
        ..Property::default()
    };
    let kind = match &setting.kind {
        Kind::Words(words) => {
            out.words = words.iter().map(|(word, _)| *word).collect();
            "string"
        }
        Kind::Number { least, most } => {
            (out.minimum, out.maximum) = (Some(*least), *most);
            "integer"
        }
        Kind::Switch => "boolean",
        Kind::Memory | Kind::Time => {
            out.pattern = Some(match setting.kind {
                Kind::Memory => MEMORY_PATTERN,
                _ => TIME_PATTERN,
            });
            "string"
        }
        Kind::Constants => {
            out.additional_properties = Some(json!({"type": "integer"}));
            "object"
        }
        Kind::Severities => {
            out.additional_properties = Some(json!({"enum": LEVELS, "type": "string"}));
            "object"
        }
        Kind::Path => "string",
    };
    out.kind = json!(kind);
    out
}

/// The settings that are allowed in `zonelens.toml`.
fn in_files() -> impl Iterator<Item = &'static Setting> {
    let all = SETTINGS.iter();
    all.filter(|setting| matches!(setting.home, Home::Server(..)))
}

fn kebab(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            out.push('-');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

fn section() -> String {
    let of = |setting: &Setting| {
        let mut out = property(setting);
        if let Kind::Words(words) = &setting.kind {
            out.enum_descriptions = words.iter().map(|(_, text)| *text).collect();
        }
        out.pattern_error_message = out.pattern.map(|_| setting.kind.expected());
        out.scope = Some(setting.scope);
        match setting.text.contains(['`', '*']) {
            true => out.markdown_description = Some(setting.text),
            false => out.description = Some(setting.text),
        }
        (format!("zonelens.{}", setting.name), out)
    };
    #[derive(Serialize)]
    struct Section {
        title: &'static str,
        properties: Properties,
    }
    let section = Section {
        title: "Zonelens",
        properties: Properties(SETTINGS.iter().map(of).collect()),
    };
    serde_json::to_string_pretty(&section).expect("JSON")
}

fn schema() -> String {
    let of = |setting: &Setting| {
        let mut out = property(setting);
        out.description = Some(setting.text);
        // In TOML, numbers of bytes and seconds are allowed too.
        if matches!(setting.kind, Kind::Memory | Kind::Time) {
            out.kind = json!(["string", "number"]);
            out.minimum = Some(0);
        }
        out
    };
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Table {
        #[serde(rename = "$schema", skip_serializing_if = "Option::is_none")]
        schema: Option<&'static str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<&'static str>,
        #[serde(rename = "type")]
        kind: &'static str,
        additional_properties: bool,
        properties: Value,
    }
    // Values either sort their keys or keep this order; with sorted names, the results are the
    // same.
    let table = |mut properties: Vec<(String, Value)>| {
        properties.sort_by(|a, b| a.0.cmp(&b.0));
        Table {
            schema: None,
            title: None,
            kind: "object",
            additional_properties: false,
            properties: Value::Object(properties.into_iter().collect()),
        }
    };
    let value = |x: &dyn Fn() -> Value| sorted(x());
    let one = |setting: &Setting| value(&|| serde_json::to_value(of(setting)).expect("JSON"));
    let group = |prefix: &str, names: &[&str]| {
        let settings = in_files().filter(|s| names.contains(&s.name));
        let short = |s: &Setting| kebab(s.name).trim_start_matches(prefix).to_owned();
        let inside = table(settings.map(|s| (short(s), one(s))).collect());
        value(&|| serde_json::to_value(&inside).expect("JSON"))
    };
    let mut all: Vec<(String, Value)> = in_files().map(|s| (kebab(s.name), one(s))).collect();
    all.push(("limits".to_owned(), group("", &["memory", "timeout"])));
    all.push(("format".to_owned(), group("format-", &["formatWidth"])));
    let mut schema = table(all);
    schema.schema = Some("http://json-schema.org/draft-07/schema#");
    schema.title = Some("zonelens.toml");
    serde_json::to_string_pretty(&schema).expect("JSON") + "\n"
}

/// The value with the keys of all objects sorted.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut pairs: Vec<_> = map.into_iter().map(|(k, v)| (k, sorted(v))).collect();
            pairs.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(pairs.into_iter().collect())
        }
        other => other,
    }
}

fn page() -> String {
    let mut out = String::from(
        "# Settings\n\n\
         Editors send settings under `zonelens`, in VS Code as `zonelens.symmetry` and so on. A file `zonelens.toml` next to a \
         model or in a folder\nabove it contains the same settings under names in kebab-case, for editors and the command \
         line. An editor's settings and the\noptions of the command line take precedence over the file. In an untrusted \
         workspace, the file cannot raise limits,\nswitch `verify-on-save` or `verify-on-type` on, or set constants \
         ([protocol.md](protocol.md)).\n\n\
         | setting | in `zonelens.toml` | values | default | |\n|---|---|---|---|---|\n",
    );
    let row = |setting: &Setting, key: Option<String>| {
        let key = key.map_or(String::new(), |key| format!(" `{key}` |"));
        let values = setting.kind.expected().replace('|', "\\|");
        let default = match default(setting) {
            Value::String(empty) if empty.is_empty() => String::new(),
            value => format!("`{value}`"),
        };
        let text = setting.text.replace('|', "\\|");
        format!(
            "| `{}` |{key} {values} | {default} | {text} |\n",
            setting.name
        )
    };
    for setting in in_files() {
        out.push_str(&row(setting, Some(kebab(setting.name))));
    }
    out.push_str("\n## Values\n\n");
    for setting in in_files() {
        let Kind::Words(words) = &setting.kind else {
            continue;
        };
        for (word, text) in *words {
            out.push_str(&format!("- `{}` = `{word}`: {text}\n", setting.name));
        }
    }
    out.push_str(
        "\nBy default, the command line has no memory limit; editors have a limit of 4 GB.\n\n\
         ## Only in VS Code\n\n| setting | values | default | |\n|---|---|---|---|\n",
    );
    for setting in SETTINGS.iter() {
        if matches!(setting.home, Home::Editor(_)) {
            out.push_str(&row(setting, None));
        }
    }
    out.push_str(
        "\n## A file\n\n\
         ```toml\ntimeout = \"10m\"\nmemory = \"4G\"\nverify-on-save = true\n\n\
         [constants]\nN = 4\n\n[severity]\n\"lint/dead-end\" = \"off\"\n```\n\n\
         `memory` and `timeout` may also be in a table `[limits]`, and `format-width` as `width` in a table `[format]`.\n\
         [schema/zonelens.toml.schema.json](schema/zonelens.toml.schema.json) describes the file for editors that check TOML \
         by JSON schemas.\n\n\
         This page, the schema and the settings of the VS Code extension are generated from one table, \
         `lsp/project/src/table.rs`.\n",
    );
    out
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Writes a file if requested, and compares it.
fn keep(path: &str, text: &str) {
    let path = root().join(path);
    if std::env::var_os("ZONELENS_UPDATE_PAGES").is_some() {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(&path, text).expect("written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == text,
        "{} does not match the table of settings; ZONELENS_UPDATE_PAGES=1 updates it",
        path.display()
    );
}

#[test]
fn the_page_is_made_from_the_table() {
    keep("docs/settings.md", &page());
}

#[test]
fn the_schema_is_made_from_the_table() {
    keep("docs/schema/zonelens.toml.schema.json", &schema());
}

#[test]
fn the_extension_has_the_settings_of_the_table() {
    let path = "editors/vscode/package.json";
    let text = std::fs::read_to_string(root().join(path)).expect("package.json");
    let (begin, end) = ("\n    \"configuration\": ", "\n    }");
    let (head, rest) = text.split_once(begin).expect("the section begins");
    let (_, tail) = rest.split_once(end).expect("the section ends");
    let section = section().replace('\n', "\n    ");
    let section = section.strip_suffix("\n    }").expect("an object");
    keep(path, &format!("{head}{begin}{section}{end}{tail}"));
}

/// Each setting and each of its words can be read from a file and written back.
#[test]
fn the_reader_takes_what_the_table_says() {
    for setting in in_files() {
        let Home::Server(get, _) = setting.home else {
            continue;
        };
        let mut values = vec![default(setting)];
        if let Kind::Words(words) = &setting.kind {
            values = words.iter().map(|(word, _)| json!(word)).collect();
        }
        if let Kind::Number { least, most } = setting.kind {
            values.extend([json!(least), json!(most.unwrap_or(1 << 40))]);
        }
        for value in values {
            let text = match &value {
                Value::Object(_) => format!("[{}]\n", kebab(setting.name)),
                value => format!("{} = {value}\n", kebab(setting.name)),
            };
            let (mut settings, mut problems) = (Settings::default(), Vec::new());
            let layer = from_toml("zonelens.toml", &text, &mut problems);
            settings.apply("zonelens.toml", &layer, &mut problems);
            assert_eq!(problems, [""; 0], "{text}");
            assert_eq!(get(&settings), value, "{text}");
        }
    }
}

/// The help page of the Neovim plugin lists every setting.
#[test]
fn the_plugin_describes_every_setting() {
    let help = std::fs::read_to_string(root().join("editors/nvim/doc/zonelens.txt")).expect("text");
    for setting in in_files() {
        let listed = help.lines().any(|line| {
            line.starts_with("  ") && line.split_whitespace().next() == Some(setting.name)
        });
        assert!(
            listed,
            "editors/nvim/doc/zonelens.txt lacks {}",
            setting.name
        );
    }
}
