//! Machines of the generalized precision time protocol (IEEE Std 802.1AS-2020): best master, link delay, and time.
//!
//! ```text
//!  Announce ─► best_master.rs ─► roles of the ports
//!  Pdelay_* ─► peer_delay.rs ──► mean link delay, neighbour's rate ratio, asCapable
//!  Sync, Follow_Up ─► sync.rs ─► the same for the next link, or the time here ─► servo.rs
//!  servo.rs ─► disciplined.rs, the clock that applications see
//!  all of them, with the timers of a whole node ─► node.rs
//! ```
//!
//! Stamps are readings of the node's own clock, taken by its driver; times of other clocks are picoseconds since their
//! epoch (`i128`). All arithmetic is in integers: rates are differences from one times 2⁴¹.

pub mod best_master;
pub mod disciplined;
pub mod node;
pub mod peer_delay;
pub mod rate;
pub mod servo;
pub mod sync;

pub use best_master::{BestMaster, PortRole, SystemIdentity};
pub use disciplined::DisciplinedClock;
pub use node::{GptpConfig, GptpNode};
pub use peer_delay::{PeerDelay, PeerDelayConfig};
pub use rate::RateOffset;
pub use servo::{Adjustment, Reading, Servo, quickest};
pub use sync::SyncReceived;
