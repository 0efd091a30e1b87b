//! UPPAAL's XML: the same tree as `.xta`, with spans in the raw file.

pub(crate) mod dom;
mod plan;
mod read;

pub(crate) use read::parse;
