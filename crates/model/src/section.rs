//! The interface of a control mechanism to the description: keys of its own, their resolved value, and the frames that
//! it makes every port send.
//!
//! A [`Section`] is one key of the description, with all below it. The kernel checks the form by the section's own
//! [`Key`]; the section makes a value of it, which the network keeps by its type ([`Network::section`]). The frames
//! that the mechanism's ports send are streams like any others ([`ControlFrames`]): runs carry them and bounds count
//! them. The model knows no section; the caller that loads a description gives those that it knows ([`Grammar`](crate::Grammar)).

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

    /// The value of the key, which passed the check of its form. Faults go to the draft; none if no value can be made of it.
    fn resolve(&self, node: &Node<'_>, draft: &mut Resolving<'_, '_, '_>) -> Option<Arc<dyn Value>>;

    /// A complete description of a network that has the section, drawn by a seed: searches look for faults in it, and
    /// mutations of descriptions take parts from it. Over many seeds every key is drawn, alone and with others.
    fn draw(&self, seed: u64) -> String;
}

/// The value of a section: any plain type of the mechanism's that implements [`Moved`].
pub trait Value: Any + fmt::Debug + Send + Sync {
    /// The same, in a network in which stream *n* has the index `place[n]`; none if a stream that it needs is not there.
    fn moved(&self, place: &[Option<StreamIndex>]) -> Option<Arc<dyn Value>>;

    /// Whether another value is equal.
    fn is_same(&self, other: &dyn Any) -> bool;
}

/// How the value of a section follows its streams.
pub trait Moved: Sized {
    /// The same, in a network in which stream *n* has the index `place[n]`; none if a stream that it needs is not there.
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
    /// The value of a mechanism's section, by its type; none if the description does not have it.
    #[must_use]
    pub fn section<T: Any>(&self) -> Option<&T> {
        self.sections.0.iter().find_map(|(_, value)| {
            let value: &dyn Any = &**value;
            value.downcast_ref()
        })
    }
}
