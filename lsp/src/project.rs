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

/// The nearest `zonelens.toml` in `directory` or above it.
pub fn find(directory: &Path) -> Project {
    let candidates = directory.ancestors().map(|d| d.join(FILE_NAME));
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

impl Project {
    /// The settings for the command line: the file's over `base`; gives them with all problems.
    pub fn settings(&self, base: Settings) -> (Settings, Vec<String>) {
        let (mut settings, mut problems) = (base, self.problems.clone());
        if let Some(path) = &self.path {
            settings.apply(&path.display().to_string(), &self.layer, &mut problems);
        }
        (settings, problems)
    }
}
