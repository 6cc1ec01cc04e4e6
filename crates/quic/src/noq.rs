//! For noq, which honours a controller's window and its pace.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};

use crate::{TableConfig, TableController};

impl ControllerFactory for TableConfig {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        Box::new(self.start(now, current_mtu))
    }
}

impl Controller for TableController {
    /// Of packets that want ACKs alone. One that is larger than the path is known to take is to find out whether it takes that.
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, pn: u64) {
        let bytes = if bytes > self.flow.mtu() { 0 } else { bytes };
        self.flow.on_sent(now, bytes.into(), pn);
    }

    fn on_ack(&mut self, _: Instant, sent: Instant, _bytes: u64, _pn: u64, _app_limited: bool, _: &RttEstimator) {
        self.flow.on_ack(sent);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, _largest_pn: Option<u64>) {
        // Packets of an old path are lost without a congestion event (RFC 9000 §9.4).
        self.losing = 0;
        self.flow.on_end_acks(now, in_flight, app_limited);
    }

    /// Packets that carry nothing but ACKs have no bytes here, and are no losses.
    fn on_packet_lost(&mut self, lost_bytes: u16, _pn: u64, _now: Instant) {
        self.losing += u32::from(lost_bytes > 0);
    }

    /// Ends the losses of one instant. Marks of congestion (RFC 9002 §7.1) come here, too: tables know none.
    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        _is_ecn: bool,
        _lost_bytes: u64,
        _largest_lost_pn: u64,
    ) {
        let lost = std::mem::take(&mut self.losing);
        self.flow.on_congestion(now, sent, lost, is_persistent_congestion);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.flow.on_mtu(new_mtu);
    }

    fn window(&self) -> u64 {
        self.flow.window_bytes()
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.flow.window_bytes();
        metrics.pacing_rate = Some(self.flow.pacing_rate());
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.flow.window_bytes()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
