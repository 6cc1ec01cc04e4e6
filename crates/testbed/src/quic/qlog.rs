//! noq's log in the version of qlog that qvis reads: 0.3 (draft-ietf-quic-qlog-main-schema-02), as JSON text sequences (RFC 7464).
//!
//! noq writes draft 13, of which qvis knows neither the head nor the names. It has ranges of acknowledged packets end one too late,
//! the pace in bytes, and calls the `owner` of transport parameters their initiator. Timers, of which there are three for each packet, are left out.

use serde_json::{Value, json};

/// What stands before each record.
const SEPARATOR: u8 = 0x1e;
/// What is kept, and its name there.
const NAMES: [(&str, &str); 6] = [
    ("quic:connection_started", "connectivity:connection_started"),
    ("quic:parameters_set", "transport:parameters_set"),
    ("quic:packet_sent", "transport:packet_sent"),
    ("quic:packet_received", "transport:packet_received"),
    ("quic:packet_lost", "recovery:packet_lost"),
    ("quic:recovery_metrics_updated", "recovery:metrics_updated"),
];

/// A sender's log, `written` by noq.
pub fn as_version_03(written: &[u8]) -> Vec<u8> {
    let common = json!({ "protocol_type": ["QUIC"], "time_format": "relative", "reference_time": 0 });
    let trace = json!({ "vantage_point": { "type": "client" }, "common_fields": common });
    let head = json!({ "qlog_version": "0.3", "qlog_format": "JSON-SEQ", "trace": trace });
    let events = written.split(|&byte| byte == SEPARATOR).filter_map(event);
    [head]
        .into_iter()
        .chain(events)
        .flat_map(|record| [b"\x1e", record.to_string().as_bytes(), b"\n"].concat())
        .collect()
}

/// An event of a record, if it is one that is kept.
fn event(record: &[u8]) -> Option<Value> {
    let Value::Object(mut event) = serde_json::from_slice(record).ok()? else { return None };
    let (_, name) = NAMES.iter().find(|(theirs, _)| event.get("name").is_some_and(|name| name == theirs))?;
    let mut data = event.remove("data")?;
    if let Some(length) = data.get_mut("header").and_then(|header| header.as_object_mut()?.remove("length")) {
        data["raw"] = json!({ "length": length });
    }
    if let Some(rate) = data.get("pacing_rate").and_then(Value::as_u64) {
        data["pacing_rate"] = rate.saturating_mul(8).into();
    }
    if let Some(owner) = data.as_object_mut()?.remove("initiator") {
        data["owner"] = owner;
    }
    data.get_mut("frames").and_then(Value::as_array_mut).into_iter().flatten().for_each(mend);
    Some(json!({ "time": event.remove("time")?, "name": name, "data": data }))
}

/// A frame with its length where it was, and packets acknowledged from the first to the last.
fn mend(frame: &mut Value) {
    if let Some(length) = frame.get("raw").and_then(|raw| raw.get("length")).cloned() {
        frame["length"] = length;
    }
    for range in frame.get_mut("acked_ranges").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(&[first, end]) = packets(range).as_deref().and_then(|packets| packets.first_chunk::<2>()) {
            *range = json!([first, end - 1]);
        }
    }
}

fn packets(range: &Value) -> Option<Vec<u64>> {
    range.as_array()?.iter().map(Value::as_u64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a file holds, one record for each separator.
    fn records(file: &[u8]) -> Vec<Value> {
        let records = file.split(|&byte| byte == SEPARATOR).skip(1);
        records.map(|record| serde_json::from_slice(record).unwrap()).collect()
    }

    #[test]
    fn an_event_has_the_name_and_the_fields_of_version_03() {
        let written = b"\x1e{\"file_schema\":\"urn:ietf:params:qlog:file:sequential\"}\n\
            \x1e{\"time\":1.5,\"name\":\"quic:packet_sent\",\"data\":{\"header\":{\"packet_type\":\"1RTT\",\"packet_number\":7,\
            \"length\":1222},\"frames\":[{\"frame_type\":\"stream\",\"stream_id\":2,\"offset\":0,\"raw\":{\"length\":1190}}]}}\n\
            \x1e{\"time\":2.5,\"name\":\"quic:timer_updated\",\"data\":{}}\n\
            \x1e{\"time\":2.5,\"name\":\"quic:recovery_metrics_updated\",\"data\":{\"pacing_rate\":1000}}\n";
        let found = records(&as_version_03(written));
        assert_eq!(found.len(), 3);
        assert_eq!((&found[0]["qlog_version"], &found[0]["qlog_format"]), (&"0.3".into(), &"JSON-SEQ".into()));
        assert_eq!((&found[1]["time"], &found[1]["name"]), (&1.5.into(), &"transport:packet_sent".into()));
        let data = &found[1]["data"];
        assert_eq!(data["header"], json!({ "packet_type": "1RTT", "packet_number": 7 }));
        assert_eq!((&data["raw"]["length"], &data["frames"][0]["length"]), (&1222.into(), &1190.into()));
        assert_eq!(found[2]["data"]["pacing_rate"], 8000);
    }

    /// What qvis looks for in a file's head, before it reads on; times are milliseconds (there is no `time_units`) since the connection began.
    #[test]
    fn the_head_says_what_the_file_is_and_from_when_on_it_counts() {
        let found = records(&as_version_03(b""));
        assert_eq!(
            (found.len(), &found[0]["qlog_version"], &found[0]["qlog_format"]),
            (1, &"0.3".into(), &"JSON-SEQ".into())
        );
        let trace = &found[0]["trace"];
        assert_eq!(trace["vantage_point"]["type"], "client");
        let common = json!({ "protocol_type": ["QUIC"], "time_format": "relative", "reference_time": 0 });
        assert_eq!((&trace["common_fields"], trace.get("configuration")), (&common, None));
    }

    #[test]
    fn transport_parameters_have_an_owner() {
        let written = b"\x1e{\"time\":0.5,\"name\":\"quic:parameters_set\",\"data\":{\"initiator\":\"remote\",\"initial_max_data\":9}}\n";
        let found = records(&as_version_03(written));
        assert_eq!(found[1]["name"], "transport:parameters_set");
        assert_eq!(found[1]["data"], json!({ "owner": "remote", "initial_max_data": 9 }));
    }

    #[test]
    fn packets_are_acknowledged_from_the_first_to_the_last() {
        let written =
            b"\x1e{\"time\":1.5,\"name\":\"quic:packet_received\",\"data\":{\"frames\":[{\"frame_type\":\"ack\",\
            \"acked_ranges\":[[0,1],[2,38]]}]}}\n";
        let found = records(&as_version_03(written));
        assert_eq!(found[1]["data"]["frames"][0]["acked_ranges"], json!([[0, 0], [2, 37]]));
    }
}
