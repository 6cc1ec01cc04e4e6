//! A transfer: the client says how many bytes it wants, the server sends as many under its table.

use std::error::Error;
use std::fmt;
use std::time::Duration;

/// Any of the errors of sockets, certificates and connections.
pub type Failure = Box<dyn Error + Send + Sync>;

/// What the certificate is for.
pub const NAME: &str = "localhost";
/// Bytes written or read at once.
pub const BLOCK: usize = 1 << 16;

/// What came of a transfer.
#[derive(Debug)]
pub struct Transferred {
    /// Bytes that arrived.
    pub bytes: u64,
    /// From the request to the last of them.
    pub took: Duration,
}

impl fmt::Display for Transferred {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (megabytes, seconds) = (self.bytes as f64 * 1e-6, self.took.as_secs_f64());
        write!(f, "{megabytes:.1} MB in {seconds:.2} s, {:.2} Mbit/s", 8.0 * megabytes / seconds)
    }
}
