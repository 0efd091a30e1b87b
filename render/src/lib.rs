//! Pictures of models and traces.
//!
//! Owns where things are drawn: templates as graphs ([`diagram`]), traces as sequence charts ([`chart`]), both as plain
//! data that the editors' panels draw and that [`svg`] writes as a file, and the coordinates of XML files that have
//! none yet ([`places`]). It must never know the protocol, the disk or
//! how a verdict came about.

pub mod chart;
pub mod diagram;
mod drawing;
mod layered;
pub mod places;
pub mod svg;
mod text;
