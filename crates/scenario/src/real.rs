//! Which scenarios can be made of real hosts, whose transport is what it is, on a path of ours.

use exmachina_hosts::scheme::SchemeName;
use exmachina_hosts::transport::Opening;
use exmachina_net::queue::QueueKind;

use super::{Document, Evaluation, FileError, Quantity};

/// What every host takes (RFC 1122 §3.3.2).
const LEAST_BYTES: u16 = 576;

impl Evaluation {
    /// Refuses what only a simulation can do.
    ///
    /// # Errors
    /// The first such field of the document, which this was read from.
    pub fn check_real(&self, document: &Document<'_>) -> Result<(), FileError> {
        let hosts = "expected preset = \"today\" and beside it opening, packet_bytes and ack_bytes at most: real hosts have \
                     the transport that they have";
        let xcp = self.contenders.iter().any(|contender| matches!(contender.queue, Some(QueueKind::Xcp(_))))
            || self.links.iter().any(|link| matches!(link.queue, Some(QueueKind::Xcp(_))));
        let opening = self.transport.settings(&SchemeName::Cubic).opening;
        let refusals = [
            ("transport", !self.transport.is_of_hosts(), hosts),
            ("transport.opening", opening == Opening::SynAndData, "expected \"data\" or \"syn\""),
            ("transport.packet_bytes", self.transport.packet_bytes() < LEAST_BYTES, "expected at least 576"),
            ("path.reordering", self.path.reordering != Default::default(), "expected none: packets stay in order"),
            (
                "path.clock_ms",
                self.path.clock_ms != Quantity::Exact(0.0),
                "expected none: real hosts have their own clocks",
            ),
            ("link.queue", xcp, "expected another queue: the packets of real hosts have no header for XCP"),
            (
                "senders.aimd",
                self.groups.iter().any(|group| group.aimd.extremes().1 > 0.0),
                "expected none: no kernel has that scheme",
            ),
        ];
        match refusals.iter().find(|(_, refused, _)| *refused) {
            Some(&(field, _, expected)) => Err(document.error(field, expected)),
            None => Ok(()),
        }
    }
}
