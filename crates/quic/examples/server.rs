//! Sends under a rule table whatever clients ask for, and says how that went:
//!
//! `cargo run --release -p exmachina-quic --example server -- --table python/exmachina/algorithms/tao-100x-robust.dna`

mod common {
    pub mod flags;
    pub mod sending;
    pub mod transfer;
}

use std::process::ExitCode;
use std::time::Duration;

use common::flags::{ended, flags, read};
use common::sending::{controller, serve, server};
use common::transfer::{Failure, Transferred};
use exmachina_rules::RuleTable;
use noq::{Connection, Incoming, PathId};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    ended(run().await)
}

async fn run() -> Result<(), Failure> {
    let flags = flags(&[
        ("table", "python/exmachina/algorithms/tao-100x-robust.dna"),
        ("address", "127.0.0.1:4433"),
        ("certificate", "server.der"),
    ])?;
    let table = RuleTable::from_dna(&read(&flags["table"])?)?;
    let (endpoint, certificate) = server(&table, flags["address"].parse()?)?;
    std::fs::write(&flags["certificate"], certificate)?;
    println!("{} on {}, certificate in {}", flags["table"], endpoint.local_addr()?, flags["certificate"]);
    while let Some(incoming) = endpoint.accept().await {
        tokio::spawn(answer(incoming));
    }
    Ok(())
}

async fn answer(incoming: Incoming) {
    let address = incoming.remote_address();
    match serve(incoming).await {
        Ok((connection, sent, rtt)) => println!("{address}: {}", told(&connection, &sent, rtt)),
        Err(error) => eprintln!("{address}: {error}"),
    }
}

fn told(connection: &Connection, sent: &Transferred, rtt: Duration) -> String {
    let mut told = format!("{sent}; RTT {:.1} ms", rtt.as_secs_f64() * 1e3);
    if let Some(stats) = connection.path_stats(PathId::ZERO) {
        told += &format!("; {} of {} packets lost", stats.lost_packets, stats.sent_packets);
    }
    if let Some(controller) = controller(connection) {
        let state = controller.flow().controller();
        let pace_ms = state.intersend_ns() as f64 * 1e-6;
        told += &format!("; at the end a window of {} packets, one per {pace_ms:.3} ms", state.window());
    }
    told
}
