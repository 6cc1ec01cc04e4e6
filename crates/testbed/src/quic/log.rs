//! What senders write down of their connections.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use noq_proto::{ConnectionId, QlogConfig, QlogFactory, Side};

use super::qlog::as_version_03;

/// The logs of a sender, one for each connection, in the order in which they were opened.
#[derive(Clone, Debug, Default)]
pub struct Logs(Arc<Mutex<Vec<Log>>>);

/// A log that grows.
#[derive(Clone, Debug, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Logs {
    /// What was written, as files.
    pub fn into_files(self) -> Vec<Vec<u8>> {
        let logs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        logs.iter().map(|log| as_version_03(&log.0.lock().unwrap_or_else(PoisonError::into_inner))).collect()
    }
}

impl QlogFactory for Logs {
    fn for_connection(&self, _: Side, _: SocketAddr, _: ConnectionId, _: Instant) -> Option<QlogConfig> {
        let log = Log::default();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(log.clone());
        Some(QlogConfig::new(Box::new(log)))
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
