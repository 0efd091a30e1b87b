//! Stored states: packed discrete parts, shared zones with digests, the unified passed and waiting
//! list.

pub mod digest;
pub mod entry;
pub mod keys;
pub mod packing;
pub mod passed_waiting;
pub mod prepared;
pub mod table;
pub mod zones;
