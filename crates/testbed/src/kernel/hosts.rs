//! The ends of a flow as the kernel has them: sockets that are opened, filled, emptied and closed.

use std::io;
use std::net::{SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags};

use super::pair::{Pair, drain};
use crate::ends::{Counts, Hosts, readable};

/// How often a sender is looked at whose last bytes have arrived, but not the ACK for them.
const LOOK: Duration = Duration::from_millis(1);

/// A sender in this thread's namespace, and a receiver in the other.
#[derive(Debug)]
pub struct KernelHosts {
    /// Where the receiver waits for connections.
    listener: TcpListener,
    address: SocketAddrV4,
    /// The kernel's name of what the sender runs.
    congestion: String,
    pair: Option<Pair>,
    /// Receivers whose senders have stopped, with packets still on their way.
    leaving: Vec<TcpStream>,
    counts: Counts,
}

impl KernelHosts {
    /// Hosts without a connection.
    pub fn new(listener: TcpListener, address: SocketAddrV4, congestion: String) -> KernelHosts {
        KernelHosts { listener, address, congestion, pair: None, leaving: Vec::new(), counts: Counts::default() }
    }
}

impl Hosts for KernelHosts {
    fn open(&mut self) -> io::Result<()> {
        self.pair = Some(Pair::open(self.address, &self.congestion)?);
        Ok(())
    }

    fn send(&mut self, bytes: u64) -> io::Result<()> {
        if self.pair.is_none() {
            self.open()?;
        }
        let pair = self.pair.as_mut().expect("it was opened");
        (pair.to_write, pair.to_read) = (bytes, bytes);
        if pair.receiver.is_some() { pair.write() } else { Ok(()) }
    }

    fn is_through(&self) -> io::Result<bool> {
        match &self.pair {
            Some(pair) if pair.to_read == 0 => pair.is_acknowledged(),
            _ => Ok(false),
        }
    }

    fn close(&mut self) -> io::Result<()> {
        let Some(pair) = self.pair.take() else { return Ok(()) };
        self.counts.timeouts += pair.timeouts();
        self.leaving.extend(pair.receiver);
        Ok(())
    }

    fn pass(&mut self) -> io::Result<()> {
        let read_bytes = &mut self.counts.read_bytes;
        // A receiver is done when its sender's RST has come.
        self.leaving.retain_mut(|receiver| match drain(receiver) {
            Ok(bytes) => {
                *read_bytes += bytes;
                true
            }
            Err(_) => false,
        });
        let Some(pair) = &mut self.pair else { return Ok(()) };
        pair.accept(&self.listener)?;
        pair.write()?;
        *read_bytes += pair.read()?;
        Ok(())
    }

    fn due(&self) -> Option<Instant> {
        self.pair.as_ref().filter(|pair| pair.to_read == 0).map(|_| Instant::now() + LOOK)
    }

    fn sockets(&self) -> impl Iterator<Item = PollFd<'_>> {
        let pair = self.pair.as_ref();
        let writes = pair.filter(|pair| pair.to_write > 0).map(|pair| &pair.sender);
        let accepts = pair.filter(|pair| pair.receiver.is_none()).map(|_| readable(&self.listener));
        let reads = pair.and_then(|pair| pair.receiver.as_ref()).into_iter().chain(&self.leaving).map(readable);
        let writes = writes.map(|sender| PollFd::new(sender.as_fd(), PollFlags::POLLOUT));
        writes.into_iter().chain(accepts).chain(reads)
    }

    fn counts(self) -> Counts {
        self.counts
    }
}
