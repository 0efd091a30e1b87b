//! `zonelens.toml`: found beside a file or above it, read by the server and by the command line alike.

use crate::settings::{self, Settings};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The name of the file.
pub const FILE_NAME: &str = "zonelens.toml";
/// A larger one is no configuration.
const MAX_BYTES: u64 = 1 << 20;

/// What is configured for a file.
#[derive(Clone, Debug, Default)]
pub struct Project {
    /// The configuration file that counts.
    pub path: Option<PathBuf>,
    /// Its settings, in the form of an editor's.
    pub layer: Value,
    /// What is wrong in it, as sentences with places.
    pub problems: Vec<String>,
}

/// The nearest `zonelens.toml` in `directory` or above it, never above `top`. Where `directory` does not lie in `top`
/// it counts alone: a file in a shared folder above somebody's project must not decide how their models are run.
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

/// Where the command line stops looking: the root of the repository that `directory` lies in, else the working
/// directory.
pub fn top(directory: &Path) -> Option<PathBuf> {
    let repository = directory.ancestors().find(|d| d.join(".git").exists());
    repository
        .map(Path::to_owned)
        .or_else(|| std::env::current_dir().ok())
}

impl Project {
    /// The settings of a file that nobody vouched for, over `base`: it may lower limits and choose how things look, but
    /// not take more of the machine than anybody gets, start runs, or answer for another model than the one shown.
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

    /// The settings for the command line: the file's over `base`; gives them with all problems.
    pub fn settings(&self, base: Settings) -> (Settings, Vec<String>) {
        let (mut settings, mut problems) = (base, self.problems.clone());
        if let Some(path) = &self.path {
            settings.apply(&path.display().to_string(), &self.layer, &mut problems);
        }
        (settings, problems)
    }
}
