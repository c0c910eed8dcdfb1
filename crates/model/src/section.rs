//! Where a control mechanism meets the description: keys of its own, what they resolve to, and the frames that it makes every port
//! send.
//!
//! A [`Section`] is one key of the description, with all below it. The kernel reads form and faults of form by the section's own
//! [`Key`]; the section makes a value of it, which the network keeps by its type ([`Network::section`]). What the mechanism's ports
//! send are streams as any others ([`ControlFrames`]): runs carry them and bounds reckon with them. The model knows no section;
//! who loads a description names those that it knows ([`Grammar`]).

use core::any::Any;
use core::fmt;
use std::sync::Arc;

use crate::network::{Network, StreamIndex};
use crate::resolve::ControlFrames as Frames;
pub use crate::resolve::Resolving;
pub use crate::text::shape::{Key, Kind, Range, Shape};
pub use crate::text::tree::{Node, Place};

/// What a port sends of a protocol to the node behind its cable, and no further.
pub type ControlFrames = Frames;

/// A key of the description that belongs to a mechanism.
pub trait Section: Sync {
    /// The key, with its kind and text.
    fn key(&self) -> &'static Key;

    /// What the value of the key says, which passed the check of its form. Faults go to the draft; none if nothing can be made of it.
    fn resolve(&self, node: &Node<'_>, draft: &mut Resolving<'_, '_, '_>) -> Option<Arc<dyn Value>>;

    /// A whole description of a network that has the section, drawn by a seed: what searches seek faults in, and where mutations of
    /// descriptions take parts from. Over many seeds every key is drawn, alone and with others.
    fn draw(&self, seed: u64) -> String;
}

/// What a section says: any plain type of the mechanism's that implements [`Moved`].
pub trait Value: Any + fmt::Debug + Send + Sync {
    /// The same, in a network in which stream *n* stands at `place[n]`; none if a stream that it needs is not there.
    fn moved(&self, place: &[Option<StreamIndex>]) -> Option<Arc<dyn Value>>;

    /// Whether another one says the same.
    fn is_same(&self, other: &dyn Any) -> bool;
}

/// How the value of a section follows its streams.
pub trait Moved: Sized {
    /// The same, in a network in which stream *n* stands at `place[n]`; none if a stream that it needs is not there.
    fn moved(&self, place: &[Option<StreamIndex>]) -> Option<Self>;
}

impl<T: Moved + Any + fmt::Debug + PartialEq + Send + Sync> Value for T {
    fn moved(&self, place: &[Option<StreamIndex>]) -> Option<Arc<dyn Value>> {
        Some(Arc::new(Moved::moved(self, place)?))
    }

    fn is_same(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<T>().is_some_and(|other| other == self)
    }
}

/// The sections of a network, in the order of the grammar's.
#[derive(Clone, Debug, Default)]
pub struct Sections(Vec<(&'static str, Arc<dyn Value>)>);

impl Sections {
    pub(crate) fn add(&mut self, key: &'static str, value: Arc<dyn Value>) {
        self.0.push((key, value));
    }

    /// The keys that the description has.
    pub fn keys(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.0.iter().map(|(key, _)| *key)
    }

    /// Those that are left of them in a network of other streams.
    pub(crate) fn moved(&self, place: &[Option<StreamIndex>]) -> Self {
        Self(self.0.iter().filter_map(|(key, value)| Some((*key, value.moved(place)?))).collect())
    }
}

impl PartialEq for Sections {
    fn eq(&self, other: &Self) -> bool {
        let is_same = |one: &Arc<dyn Value>, other: &Arc<dyn Value>| {
            let other: &dyn Any = &**other;
            one.is_same(other)
        };
        self.keys().eq(other.keys())
            && self.0.iter().zip(&other.0).all(|((_, one), (_, other))| is_same(one, other))
    }
}

impl Network {
    /// What the description says of a mechanism, by the type that its section resolves to; none if it does not have it.
    #[must_use]
    pub fn section<T: Any>(&self) -> Option<&T> {
        self.sections.0.iter().find_map(|(_, value)| {
            let value: &dyn Any = &**value;
            value.downcast_ref()
        })
    }
}
