//! The client's side of a transfer.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use noq::rustls::RootCertStore;
use noq::rustls::pki_types::CertificateDer;
use noq::{ClientConfig, Endpoint};

use super::transfer::{BLOCK, Failure, NAME, Transferred};

/// An endpoint that trusts one certificate.
pub fn client(certificate: CertificateDer<'static>) -> Result<Endpoint, Failure> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate)?;
    let endpoint = Endpoint::client((Ipv4Addr::UNSPECIFIED, 0).into())?;
    endpoint.set_default_client_config(ClientConfig::with_root_certificates(Arc::new(roots))?);
    Ok(endpoint)
}

/// Asks a server for so many bytes.
pub async fn fetch(endpoint: &Endpoint, address: SocketAddr, bytes: u64) -> Result<Transferred, Failure> {
    let connection = endpoint.connect(address, NAME)?.await?;
    let (mut send, mut receive) = connection.open_bi().await?;
    let began = Instant::now();
    send.write_all(&bytes.to_le_bytes()).await?;
    send.finish()?;
    let mut received = 0;
    while let Some(chunk) = receive.read_chunk(BLOCK).await? {
        received += chunk.len() as u64;
    }
    let took = began.elapsed();
    connection.close(0_u32.into(), b"done");
    endpoint.wait_idle().await;
    Ok(Transferred { bytes: received, took })
}
