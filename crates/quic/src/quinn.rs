//! For quinn, which takes a window and paces by itself: 1.25 windows in a smoothed RTT, ten packets at once. What the table says of the
//! pace goes into the window, so that on average no packet leaves sooner than it may.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory};

use crate::{TableConfig, TableController};

impl ControllerFactory for TableConfig {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        Box::new(self.start(now, current_mtu))
    }
}

impl TableController {
    /// quinn wants the window to be larger than what is outstanding, where RFC 9002 §7 lets it be filled.
    fn quinn_window(&self) -> u64 {
        self.flow.paced_window_bytes() + 1
    }
}

impl Controller for TableController {
    /// Packets that carry nothing but ACKs come here, too. After one that leaves early in a pause, the pause goes unnoticed. Packets that
    /// search for a larger MTU do not.
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.flow.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(&mut self, _now: Instant, sent: Instant, _bytes: u64, _app_limited: bool, _rtt: &RttEstimator) {
        self.flow.on_ack(sent);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, _largest: Option<u64>) {
        self.flow.on_end_acks(now, in_flight, app_limited);
    }

    /// Losses are told of in bytes alone. Marks of congestion have none.
    fn on_congestion_event(&mut self, now: Instant, sent: Instant, is_persistent_congestion: bool, lost_bytes: u64) {
        let lost = self.flow.packets(lost_bytes);
        self.flow.on_congestion(now, sent, lost, is_persistent_congestion);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.flow.on_mtu(new_mtu);
    }

    fn window(&self) -> u64 {
        self.quinn_window()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.quinn_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
