//! Perfetto's own format: a sequence of packets in protocol buffers. Of its messages these are the fields that a timeline has;
//! the numbers are those of Perfetto's `trace_packet.proto` and what it includes.

use prost::Message;
use recal_hal::timeline::Span;

use super::{Drawn, Form};

#[derive(Clone, PartialEq, Message)]
struct Trace {
    #[prost(message, repeated, tag = "1")]
    packet: Vec<Packet>,
}

#[derive(Clone, PartialEq, Message)]
struct Packet {
    /// Nanoseconds.
    #[prost(uint64, optional, tag = "8")]
    timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "10")]
    trusted_packet_sequence_id: Option<u32>,
    #[prost(message, optional, tag = "11")]
    track_event: Option<TrackEvent>,
    #[prost(message, optional, tag = "60")]
    track_descriptor: Option<TrackDescriptor>,
}

#[derive(Clone, PartialEq, Message)]
struct TrackEvent {
    #[prost(message, repeated, tag = "4")]
    debug_annotations: Vec<DebugAnnotation>,
    /// 1 begins a slice, 2 ends it.
    #[prost(int32, optional, tag = "9")]
    r#type: Option<i32>,
    #[prost(uint64, optional, tag = "11")]
    track_uuid: Option<u64>,
    #[prost(string, repeated, tag = "22")]
    categories: Vec<String>,
    #[prost(string, optional, tag = "23")]
    name: Option<String>,
    #[prost(fixed64, repeated, packed = "false", tag = "47")]
    flow_ids: Vec<u64>,
    #[prost(fixed64, repeated, packed = "false", tag = "48")]
    terminating_flow_ids: Vec<u64>,
}

#[derive(Clone, PartialEq, Message)]
struct DebugAnnotation {
    #[prost(string, optional, tag = "6")]
    string_value: Option<String>,
    #[prost(string, optional, tag = "10")]
    name: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
struct TrackDescriptor {
    #[prost(uint64, optional, tag = "1")]
    uuid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    name: Option<String>,
    #[prost(message, optional, tag = "3")]
    process: Option<ProcessDescriptor>,
    #[prost(message, optional, tag = "4")]
    thread: Option<ThreadDescriptor>,
    #[prost(uint64, optional, tag = "5")]
    parent_uuid: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
struct ProcessDescriptor {
    #[prost(int32, optional, tag = "1")]
    pid: Option<i32>,
    #[prost(string, optional, tag = "6")]
    process_name: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
struct ThreadDescriptor {
    #[prost(int32, optional, tag = "1")]
    pid: Option<i32>,
    #[prost(int32, optional, tag = "2")]
    tid: Option<i32>,
    #[prost(string, optional, tag = "5")]
    thread_name: Option<String>,
}

pub(super) struct Perfetto;

/// The track of the process; rows come after it.
const PROCESS: u64 = 1 << 32;

fn put(out: &mut Vec<u8>, packet: Packet) {
    let packet = Packet { trusted_packet_sequence_id: Some(1), ..packet };
    // A trace is its packets, one after the other.
    out.extend(Trace { packet: vec![packet] }.encode_to_vec());
}

impl Form for Perfetto {
    fn begin(&self, out: &mut Vec<u8>, process: u32, name: &str) {
        let process = ProcessDescriptor { pid: Some(process as i32), process_name: Some(name.into()) };
        let descriptor =
            TrackDescriptor { uuid: Some(PROCESS), process: Some(process), ..Default::default() };
        put(out, Packet { track_descriptor: Some(descriptor), ..Default::default() });
    }

    fn track(&self, out: &mut Vec<u8>, track: &Drawn<'_>) {
        let thread = track.thread.then(|| ThreadDescriptor {
            pid: Some(track.process as i32),
            tid: Some(track.number as i32),
            thread_name: Some(track.name.into()),
        });
        let descriptor = TrackDescriptor {
            uuid: Some(PROCESS + u64::from(track.number)),
            name: Some(track.name.into()),
            process: None,
            thread,
            parent_uuid: Some(PROCESS),
        };
        put(out, Packet { track_descriptor: Some(descriptor), ..Default::default() });
    }

    fn span(&self, out: &mut Vec<u8>, track: &Drawn<'_>, span: &Span<'_>, [start, end]: [u64; 2]) {
        let annotation = |(name, value): &(&str, String)| DebugAnnotation {
            name: Some((*name).into()),
            string_value: Some(value.clone()),
        };
        let uuid = Some(PROCESS + u64::from(track.number));
        let begin = TrackEvent {
            debug_annotations: span.details.iter().map(annotation).collect(),
            r#type: Some(1),
            track_uuid: uuid,
            categories: vec![span.kind.into()],
            name: Some(span.name.into()),
            flow_ids: span.leaves.into_iter().collect(),
            terminating_flow_ids: span.arrives.to_vec(),
        };
        let finish = TrackEvent { r#type: Some(2), track_uuid: uuid, ..Default::default() };
        for (timestamp, event) in [(start, begin), (end, finish)] {
            put(out, Packet { timestamp: Some(timestamp), track_event: Some(event), ..Default::default() });
        }
    }

    fn end(&self) -> &'static [u8] {
        b""
    }
}
