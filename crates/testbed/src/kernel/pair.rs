//! The two sockets of a connection.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{self, AddressFamily, SockFlag, SockType, SockaddrIn, sockopt};

use crate::ends::ZEROS;

/// A connection: the sender's socket, and the receiver's once it is open.
#[derive(Debug)]
pub struct Pair {
    /// The sender's.
    pub sender: TcpStream,
    /// The receiver's.
    pub receiver: Option<TcpStream>,
    /// Bytes that are still to be written.
    pub to_write: u64,
    /// Bytes that are still to be read; without end until it is said how many are to be written.
    pub to_read: u64,
}

impl Pair {
    /// Begins to open a connection, from this thread's namespace, whose sender has this congestion control of the kernel.
    pub fn open(to: SocketAddrV4, congestion: &str) -> io::Result<Pair> {
        let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
        let socket: OwnedFd = socket::socket(AddressFamily::Inet, SockType::Stream, flags, None)?;
        socket::setsockopt(&socket, sockopt::TcpCongestion, &congestion.into()).map_err(|error| {
            io::Error::other(format!("this kernel has no congestion control {congestion}: {error}"))
        })?;
        // What is left when it is closed goes nowhere: the peer is told by an RST.
        socket::setsockopt(&socket, sockopt::Linger, &libc::linger { l_onoff: 1, l_linger: 0 })?;
        match socket::connect(socket.as_raw_fd(), &SockaddrIn::from(to)) {
            Ok(()) | Err(Errno::EINPROGRESS) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(Pair { sender: socket.into(), receiver: None, to_write: 0, to_read: u64::MAX })
    }

    /// Takes the receiver's socket, if the connection is open by now. Others that wait are of senders that stopped before.
    pub fn accept(&mut self, listener: &TcpListener) -> io::Result<()> {
        while self.receiver.is_none() {
            match listener.accept() {
                Ok((receiver, from)) if from == self.sender.local_addr()? => {
                    receiver.set_nonblocking(true)?;
                    self.receiver = Some(receiver);
                }
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
                Err(error) if is_later(&error) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Writes what the socket takes.
    pub fn write(&mut self) -> io::Result<()> {
        while self.to_write > 0 {
            let most = self.to_write.min(ZEROS.len() as u64) as usize;
            match self.sender.write(&ZEROS[..most]) {
                Ok(bytes) => self.to_write -= bytes as u64,
                Err(error) if is_later(&error) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Reads what has come: how many bytes.
    pub fn read(&mut self) -> io::Result<u64> {
        let Some(receiver) = &mut self.receiver else { return Ok(0) };
        let bytes = drain(receiver)?;
        self.to_read -= bytes.min(self.to_read);
        Ok(bytes)
    }

    /// Whether everything was acknowledged: nothing is left in the sender's socket.
    pub fn is_acknowledged(&self) -> io::Result<bool> {
        let mut left: libc::c_int = 0;
        // SAFETY: SIOCOUTQ (TIOCOUTQ) writes one int.
        let answer = unsafe { libc::ioctl(self.sender.as_raw_fd(), libc::TIOCOUTQ, &raw mut left) };
        Errno::result(answer)?;
        Ok(left == 0)
    }

    /// Times that the sender's retransmission timer has expired: `tcpi_total_rto` of Linux since 6.7; 0 before.
    pub fn timeouts(&self) -> u64 {
        const TOTAL_RTO: usize = 240;
        let mut info = [0_u8; 512];
        let mut bytes = info.len() as libc::socklen_t;
        // SAFETY: the kernel writes at most `bytes` bytes, and says how many.
        let answer = unsafe {
            libc::getsockopt(
                self.sender.as_raw_fd(),
                libc::IPPROTO_TCP,
                libc::TCP_INFO,
                info.as_mut_ptr().cast(),
                &raw mut bytes,
            )
        };
        let known = answer == 0 && bytes as usize >= TOTAL_RTO + 2;
        if known { u64::from(u16::from_ne_bytes([info[TOTAL_RTO], info[TOTAL_RTO + 1]])) } else { 0 }
    }
}

/// Reads all that has come, and how many bytes that were. A peer that is gone is not waited for.
pub fn drain(receiver: &mut TcpStream) -> io::Result<u64> {
    let mut room = [0; 1 << 16];
    let mut bytes = 0;
    loop {
        match receiver.read(&mut room) {
            Ok(0) => return Ok(bytes),
            Ok(read) => bytes += read as u64,
            Err(error) if is_later(&error) => return Ok(bytes),
            Err(error) => return Err(error),
        }
    }
}

/// Nothing is wrong: it is only not now.
fn is_later(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::NotConnected | ErrorKind::Interrupted)
}
