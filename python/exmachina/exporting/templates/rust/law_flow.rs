//! The state of one flow under this law: `law_flow.rs`, `law_level.rs`, `law_silence.rs` and `law_sharing.rs` are the same for all laws.

use super::law::LAW;
use super::law_flow::LawFlow;
use super::Ack;

/// The state of one flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow(LawFlow);

impl Flow {
    /// A new flow, or one that goes on after a pause.
    #[must_use]
    pub fn start() -> Flow {
        Flow(LawFlow::start(&LAW))
    }

    /// An ACK of new packets.
    pub fn on_ack(&mut self, ack: &Ack) {
        self.0.on_ack(&LAW, ack.sent_ns, ack.received_ns, ack.tick_ns, ack.packets);
    }

    /// So many packets were lost; before the ACK that shows it.
    pub fn on_loss(&mut self, packets: u32) {
        self.0.on_loss(packets);
    }

    /// Packets that may be outstanding.
    #[must_use]
    pub fn window(&self) -> u32 {
        self.0.window(&LAW)
    }

    /// Least time between two packets, ns.
    #[must_use]
    pub fn intersend_ns(&self) -> u64 {
        self.0.intersend_ns()
    }
}
