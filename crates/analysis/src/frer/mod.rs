//! Streams of which copies go over several paths (IEEE Std 802.1CB-2017): what holds behind recovery functions.
//!
//! The hops of such a stream are a tree, in which a frame takes one way behind a recovery function: that of the copy that passed. Each
//! way is bounded as if all frames took it, which holds of those that do. So the delay is that of the longest way: any copy may be the
//! only one that comes. What follows here:
//!
//! - **What passes.** Let each copy reach a recovery function within `[d_min, d_max]` of its creation, over all ways to it. Those of two
//!   frames that change places, or that pass while a frame is on its way, were created within a window of `d_max - d_min`: at most `n`
//!   frames. A history of `n + 1` numbers then discards no first copy; and no copy passes twice if the reset timeout is longer than that
//!   window: after it no second copy is left. The match algorithm knows all copies if `n` is 1.
//! - **Burst.** If no copy passes twice, the ways behind it together bring what the talker promises, grown by `d_max - d_min`, and not
//!   that much each: `min(a(t + d_max - d_min), sum of the ways)`.
//! - **Meters.** A flow meter behind a function meets that burst: a frame of a longer way comes just before those of a shorter one that works
//!   again. What it passes is its own output, by whichever way frames came.
//! - **Filters.** A copy that a filter discards before a function is no loss where another way is whole. One that a filter behind the function
//!   discards is: its copies are eliminated.
//! - **Order.** A frame may come that much later behind one that was created after it: `d_max - d_min` less the least distance of two frames
//!   (reordering late time offset; Mohammadpour and Le Boudec, IEEE/ACM Transactions on Networking 2021).
//! - **Regulators.** An ATS scheduler group keeps one order for all its streams. A stream that changes its order may hold up all others
//!   without bound (Thomas, Mifdaoui and Le Boudec, IEEE/ACM Transactions on Networking 2022), so such a group has none.
//!
//! - **Stuck senders.** What a node repeats is a stream of its own, of one frame an interval, up to an individual recovery function that knows
//!   all of it (`repeats.rs`).
//!
//! Not here: the machines (`tautwire_core::frer`), failures that are stated (`loss/failures.rs`).

mod copies;
mod functions;
mod repeats;
mod service;

#[cfg(feature = "planted-faults")]
pub(crate) use self::copies::without_gap;
pub(crate) use self::copies::{Way, is_reordered, passages_behind};
pub(crate) use self::functions::taken_twice;
pub use self::functions::{HISTORY, RecoveryBounds};
pub(crate) use self::service::Copies;

use crate::unbounded::Why;

/// A scheduler group with a stream that may change its order.
pub(crate) static REORDERED: Why = Why {
    name: "reordered",
    text: "a stream whose copies were eliminated may change its order, and the ATS scheduler group before port {port} keeps one order of all its streams",
};
