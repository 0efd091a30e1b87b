//! Stored states: packed discrete parts, shared zones with digests, the unified passed and waiting
//! list.

pub(crate) mod digest;
pub(crate) mod entry;
pub(crate) mod folds;
pub(crate) mod keys;
pub(crate) mod packing;
pub(crate) mod passed_waiting;
pub(crate) mod prepared;
pub(crate) mod sequences;
pub(crate) mod table;
pub(crate) mod zones;
