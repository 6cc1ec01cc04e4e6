//! One host of a flow: a socket, noq's endpoint, and its connections.

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

use exmachina_net::time::Duration;
use noq_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Endpoint, EndpointConfig, Event, FourTuple, ServerConfig,
};

use super::configs::NAME;
use super::sockets::{dropped, put, take};

/// No datagram is longer.
const LONGEST: usize = 1 << 16;

/// The host.
pub struct Side {
    socket: UdpSocket,
    endpoint: Endpoint,
    peer: SocketAddr,
    connections: BTreeMap<usize, Connection>,
    room: Vec<u8>,
    /// By how much timers were late.
    late: Vec<Duration>,
}

impl Side {
    /// A host, which takes connections if it has the settings of a server.
    pub fn new(socket: UdpSocket, config: Arc<EndpointConfig>, server: Option<Arc<ServerConfig>>) -> io::Result<Side> {
        let (endpoint, peer) = (Endpoint::new(config, server, false), socket.peer_addr()?);
        Ok(Side { socket, endpoint, peer, connections: BTreeMap::new(), room: vec![0; LONGEST], late: Vec::new() })
    }

    /// Begins to open a connection: its number.
    pub fn connect(&mut self, config: ClientConfig) -> io::Result<usize> {
        let now = Instant::now();
        let (handle, connection) =
            self.endpoint.connect(now, config, self.peer, NAME).map_err(|error| io::Error::other(error.to_string()))?;
        self.connections.insert(handle.0, connection);
        self.send(handle.0, now)?;
        Ok(handle.0)
    }

    /// Takes in what has come and what is due, and has `on_event` do what follows from it for a connection.
    pub fn pass(&mut self, mut on_event: impl FnMut(usize, &mut Connection, Event)) -> io::Result<()> {
        let now = Instant::now();
        let mut awake = self.take_in(now)?;
        for (&number, connection) in &mut self.connections {
            if let Some(due) = connection.poll_timeout().filter(|&due| due <= now) {
                self.late.push(Duration::from_nanos((now - due).as_nanos() as u64));
                connection.handle_timeout(now);
                awake.push(number);
            }
        }
        awake.sort_unstable();
        awake.dedup();
        for number in awake {
            let Some(connection) = self.connections.get_mut(&number) else { continue };
            while let Some(event) = connection.poll() {
                on_event(number, connection, event);
            }
            self.send(number, now)?;
        }
        Ok(())
    }

    /// Datagrams that have come: which connections they are for.
    fn take_in(&mut self, now: Instant) -> io::Result<Vec<usize>> {
        let (mut awake, mut answer) = (Vec::new(), Vec::new());
        while let Some(length) = take(&self.socket, &mut self.room)? {
            let datagram = self.room[..length].into();
            match self.endpoint.handle(now, FourTuple::new(self.peer, None), None, datagram, &mut answer) {
                Some(DatagramEvent::NewConnection(incoming)) => {
                    // One that is over before it began needs no answer.
                    let Ok((handle, connection)) = self.endpoint.accept(incoming, now, &mut answer, None) else {
                        continue;
                    };
                    self.connections.insert(handle.0, connection);
                    awake.push(handle.0);
                }
                Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                    let Some(connection) = self.connections.get_mut(&handle.0) else { continue };
                    connection.handle_event(event);
                    awake.push(handle.0);
                }
                // Whoever asks is gone.
                Some(DatagramEvent::Response(_)) | None => answer.clear(),
            }
        }
        Ok(awake)
    }

    /// Sends what a connection has to send now, and forgets it if it is over.
    pub fn send(&mut self, number: usize, now: Instant) -> io::Result<()> {
        let Some(connection) = self.connections.get_mut(&number) else { return Ok(()) };
        let mut datagram = Vec::new();
        while connection.poll_transmit(now, NonZeroUsize::MIN, &mut datagram).is_some() {
            put(&self.socket, &datagram)?;
            datagram.clear();
        }
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(ConnectionHandle(number), event) {
                connection.handle_event(event);
            }
        }
        if connection.is_drained() {
            self.connections.remove(&number);
        }
        Ok(())
    }

    /// A connection, if it is not over.
    pub fn connection(&mut self, number: usize) -> Option<&mut Connection> {
        self.connections.get_mut(&number)
    }

    /// Closes a connection, and forgets it, whatever is on its way: how many of its packets it took for lost.
    pub fn close(&mut self, number: usize) -> io::Result<u64> {
        let now = Instant::now();
        let Some(connection) = self.connections.get_mut(&number) else { return Ok(0) };
        connection.close(now, 0_u32.into(), "".into());
        self.send(number, now)?;
        let closed = self.connections.remove(&number);
        Ok(closed.map_or(0, |mut connection| connection.stats().lost_packets))
    }

    /// When something is due.
    pub fn due(&self) -> Option<Instant> {
        self.connections.values().filter_map(Connection::poll_timeout).min()
    }

    /// Its socket.
    pub fn socket(&self) -> &UdpSocket {
        &self.socket
    }

    /// By how much timers were late, and how many datagrams had no room in its socket.
    pub fn late_and_dropped(self) -> (Vec<Duration>, u64) {
        (self.late, dropped(&self.socket))
    }
}
