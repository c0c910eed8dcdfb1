//! Compares the backlog in the protocol stacks of hosts with their queues and buffers.
//!
//! The backlog follows with the times through the stacks (`host_stacks`). A frame that is lost between a listener's port
//! and its application was in time at the port, and is lost all the same.

use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, StreamIndex};

use super::{Limit, LimitKind, LimitPlace, Overflow, Whose};
use crate::host_stacks::Sending;

/// Frames of a stream that wait for the servicing thread of its talker.
const TASK_QUEUE: LimitKind = LimitKind::new("task-queue-frames", "frames", "task queue of host {place}");

/// Octets of a stream that wait for the interface of its talker.
const SEND_BUFFER: LimitKind =
    LimitKind::new("send-buffer-octets", "octets", "socket buffer of sending host {place}");

/// Octets of received frames that wait before the descriptors of an interface.
const RECEIVE_FIFO: LimitKind =
    LimitKind::new("receive-fifo-octets", "octets", "receive FIFO of host {place}");

/// Octets of a stream that wait for the thread of its listener.
const RECEIVE_BUFFER: LimitKind =
    LimitKind::new("receive-buffer-octets", "octets", "socket buffer of receiving host {place}");

/// Limits of talkers' stacks that may discard frames.
pub(crate) fn sending_overflows(network: &Network, sending: &[Option<Sending>], found: &mut Vec<Overflow>) {
    for (number, sending) in sending.iter().enumerate() {
        let (Some(sending), Some(stream)) = (sending, network.streams.get(number)) else { continue };
        let Some(host) = network.host(stream.talker) else { continue };
        let Some(stack) = host.stacks.stack_of(stream) else { continue };
        let stack = &host.stacks.stacks[stack as usize];
        let (whose, at) = (Whose::Stream(StreamIndex::at(number)), LimitPlace::Node(stream.talker));
        if stack.thread.is_some() {
            let (limit, kind) = (u64::from(stack.task_queue), TASK_QUEUE);
            hold(found, whose, Limit { kind, at, limit, needed: sending.task_frames });
        }
        if stack.interface.is_some() {
            let (limit, kind) = (stack.socket_buffer.get(), SEND_BUFFER);
            hold(found, whose, Limit { kind, at, limit, needed: sending.socket_octets });
        }
    }
}

/// What the host of a listener may discard: octets beyond the ring of its interface, and those that wait for its thread.
pub(crate) fn reception_overflows(
    network: &Network,
    (node, (stream, listener)): (NodeIndex, (usize, usize)),
    (beyond_ring, waiting): (Option<u64>, Option<u64>),
    found: &mut Vec<Overflow>,
) {
    let Some(host) = network.host(node) else { return };
    let Some(stack) = host.stacks.stack_of(&network.streams[stream]) else { return };
    let stack = &host.stacks.stacks[stack as usize];
    let (whose, at) = (Whose::Listener(StreamIndex::at(stream), listener), LimitPlace::Node(node));
    if let Some(interface) = stack.interface {
        let limit = host.stacks.interfaces[interface as usize].receive_fifo.get();
        hold(found, whose, Limit { kind: RECEIVE_FIFO, at, limit, needed: beyond_ring });
    }
    if stack.thread.is_some() {
        let limit = stack.socket_buffer.get();
        hold(found, whose, Limit { kind: RECEIVE_BUFFER, at, limit, needed: waiting });
    }
}

fn hold(found: &mut Vec<Overflow>, whose: Whose, limit: Limit) {
    if limit.needed.is_none_or(|needed| needed > limit.limit) {
        found.push(Overflow { whose, limit });
    }
}
