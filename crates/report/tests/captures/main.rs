//! Captures that tshark decodes, and traces that are read.

mod control_frames_decoded;
mod protocols_decoded;
mod sequence_tags_decoded;
mod trace;
