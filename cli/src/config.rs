//! `zonelens.toml` for the command line: each file is read once, and problems are collected.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use zonelens_analysis::report::Options;
use zonelens_project::project;
use zonelens_project::settings::Settings;

/// Settings by folder.
#[derive(Default)]
pub(crate) struct Configs {
    read: HashMap<PathBuf, Settings>,
    /// The problems of the files that were read.
    pub problems: Vec<String>,
}

impl Configs {
    /// The settings for a file; standard input belongs to the current folder.
    pub(crate) fn of(&mut self, path: &Path) -> Settings {
        let full = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let folder = full.parent().unwrap_or(&full).to_owned();
        if let Some(known) = self.read.get(&folder) {
            return known.clone();
        }
        // Only editors limit memory by default.
        let base = Settings {
            options: Options::default(),
            ..Settings::default()
        };
        let (settings, problems) =
            project::find(&folder, project::top(&folder).as_deref()).settings(base);
        for problem in problems {
            if !self.problems.contains(&problem) {
                self.problems.push(problem);
            }
        }
        self.read.insert(folder, settings.clone());
        settings
    }
}
