//! UDP sockets on this machine's loopback.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsRawFd;

use nix::errno::Errno;
use nix::sys::socket::{setsockopt, sockopt};

/// What a socket may hold that nobody has read: the system gives what it allows.
const BUFFER_BYTES: usize = 1 << 23;

/// Two sockets that speak to each other only.
pub fn connected() -> io::Result<[UdpSocket; 2]> {
    let sockets = [bound()?, bound()?];
    let [one, other] = &sockets;
    one.connect(other.local_addr()?)?;
    other.connect(one.local_addr()?)?;
    Ok(sockets)
}

fn bound() -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    socket.set_nonblocking(true)?;
    setsockopt(&socket, sockopt::RcvBuf, &BUFFER_BYTES)?;
    Ok(socket)
}

/// A datagram, if there is one.
pub fn take(socket: &UdpSocket, room: &mut [u8]) -> io::Result<Option<usize>> {
    match socket.recv(room) {
        Ok(length) => Ok(Some(length)),
        Err(error) if is_nothing(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Sends a datagram. At the end of a run nobody may be there any more.
pub fn put(socket: &UdpSocket, datagram: &[u8]) -> io::Result<()> {
    match socket.send(datagram) {
        Err(error) if !is_nothing(&error) => Err(error),
        _ => Ok(()),
    }
}

fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted | ErrorKind::ConnectionRefused)
}

/// Datagrams that had no room in a socket (`SK_MEMINFO_DROPS` of Linux since 4.12; 0 before).
pub fn dropped(socket: &UdpSocket) -> u64 {
    const DROPS: usize = 8;
    let mut info = [0_u32; DROPS + 1];
    let mut bytes = size_of_val(&info) as libc::socklen_t;
    // SAFETY: the kernel writes at most `bytes` bytes.
    let answer = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MEMINFO,
            info.as_mut_ptr().cast(),
            &raw mut bytes,
        )
    };
    if Errno::result(answer).is_ok() { u64::from(info[DROPS]) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_room_in_a_socket_is_counted() {
        let [one, other] = connected().unwrap();
        let (mut sent, mut room) = (0, [0; 2000]);
        while dropped(&other) == 0 {
            put(&one, &[7; 1222]).unwrap();
            sent += 1;
        }
        let mut read = 0;
        while take(&other, &mut room).unwrap().is_some() {
            read += 1;
        }
        assert_eq!((read + dropped(&other), dropped(&one)), (sent, 0));
    }
}
