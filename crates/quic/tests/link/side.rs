//! One endpoint with its connection: one of two sends on a stream, the other reads it.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use crate::stack::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointConfig, Event, ServerConfig,
    StreamEvent, StreamId, endpoint, handle, poll_transmit,
};

/// Bytes of a datagram of full size.
pub const MTU: u16 = 1200;
/// The whole network.
const ADDRESS: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 4433);

pub struct Side {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    stream: Option<StreamId>,
    pub connected: bool,
    /// It writes, and does not read.
    pub sends: bool,
    /// Bytes that are still to be written.
    pub left: usize,
    /// Bytes read.
    pub received: usize,
}

impl Side {
    pub fn client(config: ClientConfig, now: Instant) -> Side {
        let mut side = Side::new(None, 1);
        side.connection = Some(side.endpoint.connect(now, config, ADDRESS, "localhost").unwrap());
        side
    }

    pub fn server(config: ServerConfig) -> Side {
        Side::new(Some(Arc::new(config)), 2)
    }

    /// Connection IDs and packet numbers are drawn from a seed.
    fn new(config: Option<Arc<ServerConfig>>, seed: u8) -> Side {
        let mut settings = EndpointConfig::default();
        settings.rng_seed(Some([seed; 32]));
        let endpoint = endpoint(Arc::new(settings), config);
        Side { endpoint, connection: None, stream: None, connected: false, sends: false, left: 0, received: 0 }
    }

    /// Takes in a datagram.
    pub fn take(&mut self, datagram: Vec<u8>, now: Instant) {
        let mut answer = Vec::new();
        match handle(&mut self.endpoint, now, ADDRESS, &datagram, &mut answer) {
            Some(DatagramEvent::NewConnection(incoming)) => {
                let accepted = self.endpoint.accept(incoming, now, &mut answer, None);
                self.connection = Some(accepted.unwrap_or_else(|_| panic!("not accepted")));
            }
            Some(DatagramEvent::ConnectionEvent(_, event)) => self.connection().handle_event(event),
            Some(DatagramEvent::Response(_)) | None => {}
        }
    }

    /// Does what is due, and gives what is to be sent to `send`.
    pub fn drive(&mut self, now: Instant, mut send: impl FnMut(Vec<u8>)) {
        let Some((handle, connection)) = &mut self.connection else { return };
        if connection.poll_timeout().is_some_and(|at| at <= now) {
            connection.handle_timeout(now);
        }
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        self.look();
        self.write();
        let mut datagram = Vec::new();
        while poll_transmit(self.connection(), now, &mut datagram).is_some() {
            send(std::mem::take(&mut datagram));
        }
    }

    pub fn timeout(&mut self) -> Option<Instant> {
        self.connection.as_mut().and_then(|(_, connection)| connection.poll_timeout())
    }

    pub fn connection(&mut self) -> &mut Connection {
        &mut self.connection.as_mut().expect("a connection").1
    }

    fn look(&mut self) {
        while let Some(event) = self.connection().poll() {
            match event {
                Event::Connected => self.connected = true,
                Event::Stream(StreamEvent::Opened { dir }) => self.stream = self.connection().streams().accept(dir),
                Event::ConnectionLost { reason } => panic!("{reason}"),
                _ => {}
            }
        }
        self.read();
    }

    fn read(&mut self) {
        let reads = !self.sends;
        let Some(stream) = self.stream.filter(|_| reads) else { return };
        let mut receiving = self.connection().recv_stream(stream);
        let Ok(mut chunks) = receiving.read(true) else { return };
        let mut read = 0;
        while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
            read += chunk.bytes.len();
        }
        let _ = chunks.finalize();
        self.received += read;
    }

    fn write(&mut self) {
        if !self.connected || self.left == 0 {
            return;
        }
        let stream = match self.stream {
            Some(stream) => stream,
            None => self.connection().streams().open(Dir::Uni).expect("a stream"),
        };
        self.stream = Some(stream);
        let block = [0; 1 << 14];
        while self.left > 0 {
            let most = self.left.min(block.len());
            let Ok(written) = self.connection().send_stream(stream).write(&block[..most]) else { return };
            self.left -= written;
        }
        let _ = self.connection().send_stream(stream).finish();
    }
}
