//! The examples' transfer, over UDP on this machine.

#[path = "../examples/common"]
mod common {
    pub mod receiving;
    pub mod sending;
    pub mod transfer;
}

use common::{receiving, sending};
use exmachina_rules::{Action, RuleTable, Signal};

#[tokio::test]
async fn what_a_client_asks_for_arrives_under_the_servers_table() {
    let rule = Action { multiple: 0.0, increment: 30, intersend_ms: 0.01 };
    let table = RuleTable::single(&Signal::ALL[..4], rule);
    let (endpoint, certificate) = sending::server(&table, "127.0.0.1:0".parse().unwrap()).unwrap();
    let address = endpoint.local_addr().unwrap();
    let served = tokio::spawn(async move { sending::serve(endpoint.accept().await.unwrap()).await.unwrap() });
    let client = receiving::client(certificate).unwrap();
    let fetched = receiving::fetch(&client, address, 300_000).await.unwrap();
    let (connection, sent, _) = served.await.unwrap();
    assert_eq!((fetched.bytes, sent.bytes), (300_000, 300_000));
    let controller = sending::controller(&connection).unwrap();
    assert_eq!((controller.flow().controller().window(), controller.flow().controller().intersend_ns()), (30, 10_000));
}
