//! The server's side of a transfer.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use exmachina_quic::{TableConfig, TableController};
use exmachina_rules::RuleTable;
use noq::rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use noq::{Connection, Endpoint, Incoming, PathId, ServerConfig, TransportConfig};

use super::transfer::{BLOCK, Failure, NAME, Transferred};

/// An endpoint that sends under a table, and the certificate that its clients must know.
pub fn server(table: &RuleTable, address: SocketAddr) -> Result<(Endpoint, CertificateDer<'static>), Failure> {
    let made = rcgen::generate_simple_self_signed([NAME.into()])?;
    let certificate = made.cert.der().clone();
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let mut config = ServerConfig::with_single_cert(vec![certificate.clone()], key.into())?;
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(TableConfig::new(table)?));
    config.transport_config(Arc::new(transport));
    Ok((Endpoint::server(config, address)?, certificate))
}

/// Sends what a client asks for. With the mean of the smoothed RTT, as it was at each block.
pub async fn serve(incoming: Incoming) -> Result<(Connection, Transferred, Duration), Failure> {
    let connection = incoming.await?;
    let (mut send, mut receive) = connection.accept_bi().await?;
    let mut wanted = [0; 8];
    receive.read_exact(&mut wanted).await?;
    let (bytes, began) = (u64::from_le_bytes(wanted), Instant::now());
    let (block, mut left) = (vec![0; BLOCK], bytes);
    let (mut rtts, mut blocks) = (Duration::ZERO, 0);
    while left > 0 {
        let most = left.min(BLOCK as u64);
        send.write_all(&block[..most as usize]).await?;
        left -= most;
        rtts += connection.rtt(PathId::ZERO).unwrap_or_default();
        blocks += 1;
    }
    send.finish()?;
    // Until all of it is acknowledged.
    send.stopped().await?;
    Ok((connection, Transferred { bytes, took: began.elapsed() }, rtts / blocks.max(1)))
}

/// The controller of a connection's first path, as it is now.
pub fn controller(connection: &Connection) -> Option<TableController> {
    let state = connection.congestion_state(PathId::ZERO)?;
    state.into_any().downcast().ok().map(|controller| *controller)
}
