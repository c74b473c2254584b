//! Perfetto's own format: a sequence of packets in protocol buffers. Of its messages these are the fields that a timeline has;
//! the numbers are those of Perfetto's `trace_packet.proto` and what it includes.

use prost::Message;
use recal_hal::timeline::Span;

use super::{Drawn, Form, told};

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

/// Messages whose memory is used again.
#[derive(Default)]
pub(super) struct Perfetto {
    begin: Packet,
    end: Packet,
}

/// The track of the process; rows come after it.
const PROCESS: u64 = 1 << 32;
/// All packets are of one sequence.
const SEQUENCE: Option<u32> = Some(1);

/// A trace is its packets, one after the other, each as its field 1.
fn put(out: &mut Vec<u8>, packet: &Packet) {
    out.push(1 << 3 | 2);
    packet.encode_length_delimited(out).expect("memory grows");
}

fn describe(out: &mut Vec<u8>, descriptor: TrackDescriptor) {
    let track_descriptor = Some(descriptor);
    put(out, &Packet { trusted_packet_sequence_id: SEQUENCE, track_descriptor, ..Default::default() });
}

/// Puts a text where one was, or none.
fn set(to: &mut Option<String>, text: &str) {
    let to = to.get_or_insert_default();
    to.clear();
    to.push_str(text);
}

impl Form for Perfetto {
    fn begin(&mut self, out: &mut Vec<u8>, process: u32, name: &str) {
        let process = ProcessDescriptor { pid: Some(process as i32), process_name: Some(name.into()) };
        describe(out, TrackDescriptor { uuid: Some(PROCESS), process: Some(process), ..Default::default() });
    }

    fn track(&mut self, out: &mut Vec<u8>, track: Drawn, name: &str) {
        let thread = track.thread.then(|| ThreadDescriptor {
            pid: Some(track.process as i32),
            tid: Some(track.number as i32),
            thread_name: Some(name.into()),
        });
        let descriptor = TrackDescriptor {
            uuid: Some(PROCESS + u64::from(track.number)),
            name: Some(name.into()),
            process: None,
            thread,
            parent_uuid: Some(PROCESS),
        };
        describe(out, descriptor);
    }

    fn span(&mut self, out: &mut Vec<u8>, track: Drawn, span: &Span) {
        let uuid = Some(PROCESS + u64::from(track.number));
        let event = self.begin.track_event.get_or_insert_default();
        event.r#type = Some(1);
        event.track_uuid = uuid;
        set(&mut event.name, &span.name);
        event.categories.resize_with(1, String::new);
        event.categories[0].clear();
        event.categories[0].push_str(span.kind);
        event.flow_ids.clear();
        event.flow_ids.extend(Some(span.leaves).filter(|flow| *flow > 0));
        event.terminating_flow_ids.clear();
        event.terminating_flow_ids.extend(span.arrives.numbers());
        event.debug_annotations.clear();
        let mut text = String::new();
        if let Some(name) = told(&span.detail, &mut text) {
            let (name, string_value) = (Some(name.into()), Some(text));
            event.debug_annotations.push(DebugAnnotation { string_value, name });
        }
        let event = self.end.track_event.get_or_insert_default();
        event.r#type = Some(2);
        event.track_uuid = uuid;
        for (timestamp, packet) in [(span.start, &mut self.begin), (span.end, &mut self.end)] {
            packet.timestamp = Some(timestamp);
            packet.trusted_packet_sequence_id = SEQUENCE;
            put(out, packet);
        }
    }

    fn end(&self) -> &'static [u8] {
        b""
    }
}
