//! Which documents belong together, as whoever keeps the documents knows it.

use crate::snapshot::Snapshot;
use std::sync::Arc;

/// The documents around one that a feature is asked about.
pub trait Workspace {
    /// The model that the queries of `snapshot` are about: itself, or for a query file the model
    /// of the same name. May read files.
    fn model_of(&self, snapshot: &Arc<Snapshot>) -> Option<Arc<Snapshot>>;

    /// The query file beside a model. May read files.
    fn query_file_of(&self, model: &Snapshot) -> Option<Arc<Snapshot>>;

    /// The address of the file `name` in the folder of `snapshot`, if there is such a file. May
    /// look at the disk.
    fn neighbour(&self, snapshot: &Snapshot, name: &str) -> Option<String>;

    /// The file name in an address, for tooltips.
    fn file_name(&self, uri: &str) -> String;
}
