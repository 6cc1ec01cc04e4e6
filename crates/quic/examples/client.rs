//! Asks the server for some megabytes, and says how fast they came:
//!
//! `cargo run --release -p exmachina-quic --example client -- --megabytes 100`

mod common {
    pub mod flags;
    pub mod receiving;
    pub mod transfer;
}

use std::process::ExitCode;

use common::flags::{ended, flags, read};
use common::receiving::{client, fetch};
use common::transfer::Failure;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    ended(run().await)
}

async fn run() -> Result<(), Failure> {
    let flags = flags(&[("address", "127.0.0.1:4433"), ("certificate", "server.der"), ("megabytes", "20")])?;
    let endpoint = client(read(&flags["certificate"])?.into())?;
    let bytes = 1_000_000 * flags["megabytes"].parse::<u64>()?;
    println!("{}", fetch(&endpoint, flags["address"].parse()?, bytes).await?);
    Ok(())
}
