//! One concrete network for an evaluation, and who is at the ends of its flows: schemes, each on a transport.
//!
//! What a scenario's distributions become once every value is drawn and every name of a scheme is looked up.

use exmachina_hosts::scheme::AnyScheme;
use exmachina_hosts::transport::{Ends, Opening, SACK_BLOCK_BYTES, Settings};
use exmachina_net::engine::Engine;
use exmachina_net::network::{FlowPlan, HopPlan, Network};
use exmachina_net::path::{Topology, Wire};
use exmachina_net::random::Seed;
use exmachina_net::time::Duration;

/// What is at both ends of a flow.
#[derive(Clone, Debug)]
pub struct Host<'t> {
    /// Its congestion control, before it has sent anything.
    pub scheme: AnyScheme<'t>,
    /// Its transport.
    pub transport: Settings,
}

/// A network for an evaluation.
#[derive(Clone, Debug)]
pub struct World<'t> {
    /// The network.
    pub network: Network,
    /// By flow.
    pub hosts: Vec<Host<'t>>,
}

/// The engine of evaluations.
pub type EvaluationEngine<'t> = Engine<Ends<AnyScheme<'t>>, Topology>;

impl<'t> World<'t> {
    /// These flows with their hosts on these hops, with nothing that clouds delays.
    #[must_use]
    pub fn clean(hops: Vec<HopPlan>, senders: Vec<(FlowPlan, Host<'t>)>) -> World<'t> {
        let (flows, hosts) = senders.into_iter().unzip();
        World { network: Network::clean(hops, flows), hosts }
    }

    /// The network at time 0, every sender off.
    #[must_use]
    pub fn engine(&self, seed: Seed) -> EvaluationEngine<'t> {
        let ends = |(i, host): (usize, &Host<'t>)| {
            let block_delay = Duration::from_ms(self.network.transmission_ms(i, SACK_BLOCK_BYTES));
            Ends::new(host.scheme.clone(), i as u16, host.transport, block_delay)
        };
        let ends = self.hosts.iter().enumerate().map(ends).collect();
        Engine::new(&self.network, seed, Topology::new(&self.network, &self.wire(), seed), ends)
    }

    /// Time that a packet of a sender and its ACK take to be transmitted, on all constant-rate links of its route, ms.
    #[must_use]
    pub fn transmission_ms(&self, sender: usize) -> f64 {
        let Settings { packet_bytes, ack_bytes, .. } = self.hosts[sender].transport;
        self.network.transmission_ms(sender, packet_bytes) + self.network.transmission_ms(sender, ack_bytes)
    }

    fn wire(&self) -> Wire {
        let bytes = self.hosts.first().map(|host| host.transport.packet_bytes);
        // A SYN is shorter than other packets.
        let alike =
            |host: &Host<'_>| Some(host.transport.packet_bytes) == bytes && host.transport.opening == Opening::Data;
        Wire {
            packet_bytes: bytes.filter(|_| self.hosts.iter().all(alike)),
            ack_bytes: self.hosts.iter().map(|host| host.transport.ack_bytes).collect(),
            learns_losses: false,
        }
    }
}
