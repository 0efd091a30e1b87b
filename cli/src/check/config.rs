//! `zonelens.toml`: found beside the file that is checked, or in the nearest folder above it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use zonelens_analysis::{Config, Severities};

const NAME: &str = "zonelens.toml";

/// Settings by folder, each file read once.
#[derive(Default)]
pub struct Configs {
    read: HashMap<PathBuf, Severities>,
    /// What is wrong with the files that were read.
    pub problems: Vec<String>,
}

impl Configs {
    /// The severities for a file; standard input belongs to the current folder.
    pub fn severities(&mut self, path: &Path) -> Severities {
        let Some(file) = nearest(path) else {
            return Severities::default();
        };
        if let Some(known) = self.read.get(&file) {
            return known.clone();
        }
        let severities = match std::fs::read_to_string(&file) {
            Ok(text) => {
                let (config, problems) = Config::parse(&text);
                let name = file.display();
                let problems = problems.into_iter().map(|p| format!("{name}: {p}"));
                self.problems.extend(problems);
                config.severities
            }
            Err(error) => {
                self.problems
                    .push(format!("{} cannot be read: {error}", file.display()));
                Severities::default()
            }
        };
        self.read.insert(file, severities.clone());
        severities
    }
}

fn nearest(path: &Path) -> Option<PathBuf> {
    let full = std::path::absolute(path).ok()?;
    full.ancestors()
        .skip(1)
        .map(|folder| folder.join(NAME))
        .find(|file| file.is_file())
}
