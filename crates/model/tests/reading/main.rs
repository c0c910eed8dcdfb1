//! Descriptions, devices and scenarios as they are read and resolved, and what is said of faults.

mod alone;
mod broken;
mod devices;
mod identification;
mod members;
mod models;
mod reserved;
mod resolve;
mod robust;
mod scenarios;
mod time_triggered;
mod virtual_links;
