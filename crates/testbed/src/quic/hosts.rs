//! The two hosts of a flow: one sends zeros on a stream of each connection, the other reads them.

use std::io;
use std::net::UdpSocket;
use std::time::Instant;

use nix::poll::PollFd;
use noq_proto::{ClientConfig, Connection, Dir, Event, StreamEvent, StreamId};

use super::configs::{Configs, Controllers};
use super::log::Logs;
use super::side::Side;
use crate::ends::{Counts, Hosts, ZEROS, readable};

/// The hosts.
pub struct QuicHosts {
    sender: Side,
    receiver: Side,
    config: ClientConfig,
    sending: Option<Sending>,
    logs: Option<Logs>,
    counts: Counts,
}

/// The sender's connection.
#[derive(Debug)]
struct Sending {
    connection: usize,
    /// Its stream, once it is open and something is to be sent.
    stream: Option<StreamId>,
    /// The handshake is done.
    is_open: bool,
    /// Bytes that are still to be written.
    to_write: u64,
    /// All of them were acknowledged.
    is_through: bool,
}

impl QuicHosts {
    /// Hosts without a connection, at these sockets; they write down what they do if `logs`.
    pub fn new(
        [sender, receiver]: [UdpSocket; 2],
        configs: &Configs,
        controllers: Controllers,
        logs: bool,
    ) -> io::Result<QuicHosts> {
        let logs = logs.then(Logs::default);
        Ok(QuicHosts {
            sender: Side::new(sender, configs.endpoint.clone(), None)?,
            receiver: Side::new(receiver, configs.endpoint.clone(), Some(configs.server.clone()))?,
            config: configs.client(controllers, logs.as_ref()),
            sending: None,
            logs,
            counts: Counts::default(),
        })
    }
}

impl Sending {
    fn on_event(&mut self, connection: &mut Connection, event: &Event) {
        match event {
            Event::Connected => self.is_open = true,
            Event::Stream(StreamEvent::Finished { .. }) => self.is_through = true,
            _ => {}
        }
        self.write(connection);
    }

    /// Writes what the connection takes. What has an end is ended.
    fn write(&mut self, connection: &mut Connection) {
        if !self.is_open || self.to_write == 0 {
            return;
        }
        let Some(stream) = self.stream.or_else(|| connection.streams().open(Dir::Uni)) else { return };
        self.stream = Some(stream);
        let mut stream = connection.send_stream(stream);
        while self.to_write > 0 {
            let most = self.to_write.min(ZEROS.len() as u64) as usize;
            let Ok(written) = stream.write_chunks(&mut [ZEROS[..most].into()].as_mut_slice()) else { return };
            self.to_write -= written as u64;
        }
        // It is refused only where the connection is over.
        let _ = stream.finish();
    }
}

impl Hosts for QuicHosts {
    fn open(&mut self) -> io::Result<()> {
        let connection = self.sender.connect(self.config.clone())?;
        self.sending = Some(Sending { connection, stream: None, is_open: false, to_write: 0, is_through: false });
        Ok(())
    }

    fn send(&mut self, bytes: u64) -> io::Result<()> {
        if self.sending.is_none() {
            self.open()?;
        }
        let sending = self.sending.as_mut().expect("it was opened");
        sending.to_write = bytes;
        let Some(connection) = self.sender.connection(sending.connection) else { return Ok(()) };
        sending.write(connection);
        self.sender.send(sending.connection, Instant::now())
    }

    fn is_through(&self) -> io::Result<bool> {
        Ok(self.sending.as_ref().is_some_and(|sending| sending.is_through))
    }

    fn close(&mut self) -> io::Result<()> {
        if let Some(sending) = self.sending.take() {
            self.counts.sent_again += self.sender.close(sending.connection)?;
        }
        Ok(())
    }

    fn pass(&mut self) -> io::Result<()> {
        let (sending, read_bytes, mut lost) = (&mut self.sending, &mut self.counts.read_bytes, None);
        self.receiver.pass(|_, connection, event| *read_bytes += read(connection, &event))?;
        self.sender.pass(|number, connection, event| {
            let Some(sending) = sending.as_mut().filter(|sending| sending.connection == number) else { return };
            match event {
                Event::ConnectionLost { reason } => lost = Some(reason),
                _ => sending.on_event(connection, &event),
            }
        })?;
        // Its sender is on and has nothing to send over: what comes of that is nothing to compare.
        lost.map_or(Ok(()), |reason| Err(io::Error::other(format!("noq gave up a connection: {reason}"))))
    }

    fn due(&self) -> Option<Instant> {
        [&self.sender, &self.receiver].into_iter().filter_map(Side::due).min()
    }

    fn sockets(&self) -> impl Iterator<Item = PollFd<'_>> {
        [&self.sender, &self.receiver].into_iter().map(|side| readable(side.socket()))
    }

    fn counts(self) -> Counts {
        let [(sender_late, sender_dropped), (receiver_late, receiver_dropped)] =
            [self.sender, self.receiver].map(Side::late_and_dropped);
        Counts {
            late: [sender_late, receiver_late].concat(),
            dropped: sender_dropped + receiver_dropped,
            logs: self.logs.map(Logs::into_files).unwrap_or_default(),
            ..self.counts
        }
    }
}

/// Reads what has come on a stream: how many bytes. A stream that is opened may have some already. They are read in any order: noq
/// ends a connection whose receiver holds more than some thousand pieces (`MAX_CHUNKS`), and one overshoot of a long queue leaves more.
fn read(connection: &mut Connection, event: &Event) -> u64 {
    let stream = match event {
        Event::Stream(StreamEvent::Opened { dir }) => connection.streams().accept(*dir),
        Event::Stream(StreamEvent::Readable { id }) => Some(*id),
        _ => None,
    };
    let Some(stream) = stream else { return 0 };
    let mut stream = connection.recv_stream(stream);
    let Ok(mut chunks) = stream.read(false) else { return 0 };
    let mut bytes = 0;
    while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
        bytes += chunk.bytes.len() as u64;
    }
    // Windows are so large that nobody has to be told of what was read.
    let _ = chunks.finalize();
    bytes
}
