//! `zonelens.toml`: found next to a file or above it, and read by the server and the command line.

use crate::settings::{self, Settings};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The name of the file.
pub const FILE_NAME: &str = "zonelens.toml";
/// A larger file is not a configuration.
const MAX_BYTES: u64 = 1 << 20;

/// The configuration for a file.
#[derive(Clone, Debug, Default)]
pub struct Project {
    /// The configuration file that applies.
    pub path: Option<PathBuf>,
    /// Its settings, in the form that editors send.
    pub layer: Value,
    /// Its problems, as sentences with positions.
    pub problems: Vec<String>,
}

/// Finds the nearest `zonelens.toml` in `directory` or above it, but not above `top`. If
/// `directory` is not inside `top`, only `directory` itself is searched: a file in a shared folder
/// above a project must not decide how its models are run.
pub fn find(directory: &Path, top: Option<&Path>) -> Project {
    let top = top
        .filter(|t| directory.starts_with(t))
        .unwrap_or(directory);
    let inside = directory.ancestors().take_while(|d| d.starts_with(top));
    let candidates = inside.map(|d| d.join(FILE_NAME));
    let Some(path) = candidates.into_iter().find(|p| p.is_file()) else {
        return Project::default();
    };
    let mut problems = Vec::new();
    let name = path.display().to_string();
    let large = std::fs::metadata(&path).is_ok_and(|m| m.len() > MAX_BYTES);
    let layer = match std::fs::read_to_string(&path) {
        _ if large => {
            problems.push(format!("{name}: this is too large to be a configuration"));
            Value::Null
        }
        Ok(text) => settings::from_toml(&name, &text, &mut problems),
        Err(error) => {
            problems.push(format!("{name} cannot be read: {error}"));
            Value::Null
        }
    };
    Project {
        path: Some(path),
        layer,
        problems,
    }
}

/// Where the command line stops searching: the root of the repository that contains `directory`,
/// else the working directory.
pub fn top(directory: &Path) -> Option<PathBuf> {
    let repository = directory.ancestors().find(|d| d.join(".git").exists());
    repository
        .map(Path::to_owned)
        .or_else(|| std::env::current_dir().ok())
}

impl Project {
    /// The settings of an untrusted file, over `base`. It may lower limits and change how things
    /// look. It must not use more of the machine than the defaults allow, start runs, or change
    /// constants, because the answer would be about another model than the one shown.
    pub fn untrusted(&self, base: Settings) -> (Settings, Vec<String>) {
        let usual = base.clone();
        let (mut settings, mut problems) = self.settings(base);
        let withheld = settings.withhold(&usual);
        if let Some(path) = self.path.as_ref().filter(|_| !withheld.is_empty()) {
            problems.push(format!(
                "{}: {} not used, because this workspace is not trusted. Trust it in the editor (the option `trusted`), or set this in the editor's own settings.",
                path.display(),
                match &withheld[..] {
                    [one] => format!("`{one}` is"),
                    all => format!("`{}` are", all.join("`, `")),
                }
            ));
        }
        (settings, problems)
    }

    /// The settings for the command line: those of the file over `base`, with all problems.
    pub fn settings(&self, base: Settings) -> (Settings, Vec<String>) {
        let (mut settings, mut problems) = (base, self.problems.clone());
        if let Some(path) = &self.path {
            settings.apply(&path.display().to_string(), &self.layer, &mut problems);
        }
        (settings, problems)
    }
}
