//! The description of a network: text, spans, schema, and the resolved [`Network`].

mod configuration;
mod diagnostic;
pub mod network;

pub use diagnostic::{Diagnostic, Label, Loaded, Severity, Source};
pub use network::Network;
