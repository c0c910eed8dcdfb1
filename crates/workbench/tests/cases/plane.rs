//! Forwarding: defaults of VLANs and learning, cut-through, full queues.
