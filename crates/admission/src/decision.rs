//! Decisions: what was done, and of what was not done the reason and what would have fitted.

use serde::{Deserialize, Serialize};

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The full request is done (or, for `what-if`, could be).
    Granted,
    /// Some of it.
    Partly,
    /// Nothing.
    Refused,
    /// The request is wrong; nothing was done.
    Wrong,
}

/// Why a stream is not admitted, or why a request is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "limit", rename_all = "kebab-case")]
pub enum RefusalReason {
    /// With it, a stream (itself or one that is admitted) may come later than its deadline.
    Deadline {
        /// The stream.
        stream: String,
        /// At which listener.
        listener: String,
        /// The port at which its delay grows most by the new stream (for the new one: is the greatest).
        port: String,
        /// Its deadline, picoseconds.
        deadline_ps: u64,
        /// Its greatest delay, picoseconds: a deadline that would have fitted.
        bound_ps: u64,
    },
    /// With it, a stream that has a deadline (itself or one that is admitted) has no bound.
    Unbounded {
        /// The stream.
        stream: String,
        /// At which listener.
        listener: String,
        /// Why.
        why: String,
    },
    /// With it, frames of a stream that has a deadline (itself or one that is admitted) may be lost although nothing fails.
    MayBeLost {
        /// The stream.
        stream: String,
        /// On the way to which listener.
        listener: String,
        /// What is limited: `queue-frames`, `queue-octets`, `buffer-cells` or another limit.
        kind: String,
        /// Where.
        place: String,
        /// The class of the port, if it is one of a class.
        #[serde(skip_serializing_if = "Option::is_none")]
        class: Option<u8>,
        /// The present limit.
        allowed: u64,
        /// The sufficient limit; none if no limit is known to be enough.
        #[serde(skip_serializing_if = "Option::is_none")]
        needed: Option<u64>,
        /// In words, with the unit.
        why: String,
    },
    /// A class of a port has not the rate left.
    Bandwidth {
        /// Where.
        port: String,
        /// In which class.
        class: u8,
        /// What the stream needs, bits per second.
        wanted_bps: u64,
        /// What would have fitted, bits per second.
        left_bps: u64,
    },
    /// A port on the way does not reserve for the stream's class.
    NoReservation {
        /// Where.
        port: String,
        /// In which class.
        class: u8,
    },
    /// The description has stream reservation, and the stream has no reservation.
    NotReserved,
    /// The stream promises no arrival curve: nothing can be reserved for it.
    NoArrivalCurve,
    /// There is no such stream in the description.
    UnknownStream,
    /// It is admitted already.
    AlreadyAdmitted,
    /// It is not admitted.
    NotAdmitted,
    /// It occurs twice in the request.
    NamedTwice,
}

/// Changes of a stream, each by itself, with which it would have been admitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Fits {
    /// Greatest payload of its frames, octets, as many as before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload_bytes: Option<u64>,
    /// Least interval of its frames, picoseconds, of a periodic one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval_ps: Option<u64>,
    /// Greatest rate of its arrival curve, bits of the wire per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_bps: Option<u64>,
    /// Least deadline of its own, picoseconds, if nothing else prevents its admission.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_ps: Option<u64>,
}

/// A stream that is not admitted, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// The stream.
    pub stream: String,
    /// Why.
    pub reason: RefusalReason,
    /// What would have fitted, if the request asks for suggestions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fits: Option<Fits>,
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// The request's own id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// How it ended.
    pub outcome: Outcome,
    /// Streams that are admitted by it (for `list`: that are admitted at all).
    pub admitted: Vec<String>,
    /// Streams that are taken back by it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub withdrawn: Vec<String>,
    /// Streams that are not admitted. Of a request that is all or nothing, those that caused the refusal.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<Refusal>,
    /// Whether it was answered before: nothing was done again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub repeated: bool,
    /// Why the line is no request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Decision {
    /// A decision that changes nothing.
    pub(crate) fn empty(id: Option<String>, outcome: Outcome) -> Self {
        let (admitted, withdrawn, refused) = (Vec::new(), Vec::new(), Vec::new());
        Self { id, outcome, admitted, withdrawn, refused, repeated: false, error: None }
    }

    /// The answer to a line that is no request.
    #[must_use]
    pub fn wrong(error: &crate::RequestError) -> Self {
        Self { error: Some(error.to_string()), ..Self::empty(None, Outcome::Wrong) }
    }

    /// A request that the description does not bear.
    pub(crate) fn unfit(id: Option<String>, why: String) -> Self {
        Self { error: Some(why), ..Self::empty(id, Outcome::Wrong) }
    }

    /// As one line of JSON.
    ///
    /// # Panics
    /// Never: a decision has no part that JSON cannot hold.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a decision is JSON")
    }
}
