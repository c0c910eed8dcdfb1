//! Random networks of HaRTES: with streams from the start (`network.rs`) and with central admission in the run (`admission.rs`).

mod admission;
mod network;

pub use admission::random_harts_admission;
pub use network::random_harts;
