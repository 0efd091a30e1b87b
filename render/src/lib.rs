//! Drawings of models and traces.
//!
//! This crate decides where things are drawn: templates as graphs ([`diagram`]) and traces as
//! sequence charts ([`chart`]), both as plain data that the editors' panels draw and that [`svg`]
//! writes to a file, and coordinates for XML files without any ([`places`]). It must never know the
//! protocol, the disk or how a verdict was reached.

pub mod chart;
pub mod diagram;
mod drawing;
mod layered;
pub mod places;
pub mod svg;
mod text;
