//! What connections are set to.

use std::sync::Arc;

use exmachina_hosts::library::Library;
use exmachina_hosts::scheme::SchemeName;
use exmachina_quic::TableConfig;
use noq_proto::congestion::{Bbr3Config, ControllerFactory, CubicConfig, NewRenoConfig};
use noq_proto::rustls::RootCertStore;
use noq_proto::rustls::pki_types::PrivatePkcs8KeyDer;
use noq_proto::{ClientConfig, EndpointConfig, ServerConfig, TransportConfig, VarInt};

use super::log::Logs;

/// What the certificate is for.
pub const NAME: &str = "localhost";
/// Bytes that a sender may have written and nobody acknowledged: never the limit.
const SEND_WINDOW: u64 = 1 << 30;

/// What makes a connection's congestion control.
pub type Controllers = Arc<dyn ControllerFactory + Send + Sync>;

/// What all hosts of a run have in common.
#[derive(Debug)]
pub struct Configs {
    /// Of endpoints.
    pub endpoint: Arc<EndpointConfig>,
    /// Of receivers.
    pub server: Arc<ServerConfig>,
    client: ClientConfig,
    datagram_bytes: u16,
}

impl Configs {
    /// With datagrams of so many bytes at most, and a certificate that is made for it.
    ///
    /// # Errors
    /// If none can be made.
    pub fn new(datagram_bytes: u16) -> Result<Configs, String> {
        let made = rcgen::generate_simple_self_signed([NAME.to_owned()]).map_err(told)?;
        let certificate = made.cert.der();
        let mut roots = RootCertStore::empty();
        roots.add(certificate.clone()).map_err(told)?;
        let client = ClientConfig::with_root_certificates(Arc::new(roots)).map_err(told)?;
        let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
        let mut server = ServerConfig::with_single_cert(vec![certificate.clone()], key.into()).map_err(told)?;
        server.transport_config(Arc::new(transport(datagram_bytes)));
        let mut endpoint = EndpointConfig::default();
        endpoint.max_udp_payload_size(datagram_bytes).map_err(told)?;
        Ok(Configs { endpoint: Arc::new(endpoint), server: Arc::new(server), client, datagram_bytes })
    }

    /// Of a sender, which keeps logs if there are any to be kept.
    pub fn client(&self, controllers: Controllers, logs: Option<&Logs>) -> ClientConfig {
        let mut transport = transport(self.datagram_bytes);
        transport.congestion_controller_factory(controllers);
        if let Some(logs) = logs {
            transport.qlog_factory(Arc::new(logs.clone()));
        }
        let mut client = self.client.clone();
        client.transport_config(Arc::new(transport));
        client
    }
}

/// One datagram is one packet of the path, and nothing but congestion control holds anybody up.
fn transport(datagram_bytes: u16) -> TransportConfig {
    let mut transport = TransportConfig::default();
    transport.initial_mtu(datagram_bytes).min_mtu(datagram_bytes).mtu_discovery_config(None);
    transport.stream_receive_window(VarInt::MAX).receive_window(VarInt::MAX).send_window(SEND_WINDOW);
    // A connection may be open long before it is used.
    transport.max_idle_timeout(None).enable_segmentation_offload(false);
    transport
}

/// What noq calls a scheme, or a rule table as it is.
///
/// # Errors
/// If the scenario's table cannot be run.
pub fn controller(scheme: &SchemeName, library: &Library) -> Result<Controllers, String> {
    Ok(match scheme {
        SchemeName::Cubic => Arc::new(CubicConfig::default()),
        SchemeName::NewReno => Arc::new(NewRenoConfig::default()),
        SchemeName::Bbr3 => Arc::new(Bbr3Config::default()),
        SchemeName::Table(name) => {
            let table = library.tables.get(name).ok_or_else(|| format!("testbed: {name}: expected a rule table"))?;
            Arc::new(TableConfig::from(table.clone()))
        }
        _ => unreachable!("it was refused"),
    })
}

fn told(error: impl std::fmt::Display) -> String {
    format!("testbed: {error}")
}
