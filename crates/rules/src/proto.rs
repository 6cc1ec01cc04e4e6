//! The messages of `.dna` files (protocol buffers, proto2; field numbers are the authors').
//!
//! prost drops fields that it does not know; [`Kept`] keeps them, so that a file of a newer tool survives our rewriting.

use prost::Message;
use prost::bytes::{Buf, BufMut};
use prost::encoding::{DecodeContext, WireType, decode_varint, encode_key, encode_varint};
use prost::{DecodeError, encoding};

use crate::law_message::LawMessage;
use crate::signal::{SIGNALS, Signal};

/// A message that knows its own field numbers.
pub(crate) trait Known: Message + Default {
    /// The fields that the message decodes itself.
    const TAGS: &'static [u32];
}

/// A message and the encoded fields of it that we do not know, in the order in which they stood.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Kept<M> {
    pub known: M,
    unknown: Vec<u8>,
}

impl<M> From<M> for Kept<M> {
    fn from(known: M) -> Self {
        Kept { known, unknown: Vec::new() }
    }
}

impl<M: Known> Message for Kept<M> {
    fn encode_raw(&self, buf: &mut impl BufMut) {
        self.known.encode_raw(buf);
        buf.put_slice(&self.unknown);
    }

    fn merge_field(
        &mut self,
        tag: u32,
        wire: WireType,
        buf: &mut impl Buf,
        ctx: DecodeContext,
    ) -> Result<(), DecodeError> {
        if M::TAGS.contains(&tag) {
            return self.known.merge_field(tag, wire, buf, ctx);
        }
        encode_key(tag, wire, &mut self.unknown);
        let length = match wire {
            WireType::Varint => {
                encode_varint(decode_varint(buf)?, &mut self.unknown);
                0
            }
            WireType::SixtyFourBit => 8,
            WireType::ThirtyTwoBit => 4,
            WireType::LengthDelimited => {
                let length = decode_varint(buf)?;
                encode_varint(length, &mut self.unknown);
                length
            }
            // Groups: none of the tools writes them, and prost's own check explains it best.
            WireType::StartGroup | WireType::EndGroup => return encoding::skip_field(wire, tag, buf, ctx),
        };
        // More than there is: let prost say so in its own words.
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if length > buf.remaining() {
            return encoding::skip_field(WireType::SixtyFourBit, tag, &mut &[0u8; 0][..], ctx);
        }
        self.unknown.put(buf.take(length));
        Ok(())
    }

    fn encoded_len(&self) -> usize {
        self.known.encoded_len() + self.unknown.len()
    }

    fn clear(&mut self) {
        self.known.clear();
        self.unknown.clear();
    }
}

macro_rules! known {
    ($($message:ty: $($tag:literal)*;)*) => { $(impl Known for $message { const TAGS: &'static [u32] = &[$($tag),*]; })* };
}

known! {
    MemoryRange: 11 12 13;
    Whisker: 31 32 33 34;
    WhiskerTree: 1 2 3 4 5 6 1000 1006 1010;
}

/// A node with what we do not know of it.
pub(crate) type Tree = Kept<WhiskerTree>;

/// One corner of a box: a double for each signal, in the field that the signal says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Memory {
    pub bounds: [Option<f64>; SIGNALS],
}

impl Known for Memory {
    const TAGS: &'static [u32] = &{
        let mut tags = [0; SIGNALS];
        let mut i = 0;
        while i < SIGNALS {
            tags[i] = Signal::ALL[i].field();
            i += 1;
        }
        tags
    };
}

impl Message for Memory {
    fn encode_raw(&self, buf: &mut impl BufMut) {
        for (tag, bound) in Self::TAGS.iter().zip(&self.bounds) {
            if let Some(bound) = bound {
                encoding::double::encode(*tag, bound, buf);
            }
        }
    }

    fn merge_field(
        &mut self,
        tag: u32,
        wire: WireType,
        buf: &mut impl Buf,
        ctx: DecodeContext,
    ) -> Result<(), DecodeError> {
        match Self::TAGS.iter().position(|&known| known == tag) {
            Some(signal) => encoding::double::merge(wire, self.bounds[signal].get_or_insert(0.0), buf, ctx),
            None => encoding::skip_field(wire, tag, buf, ctx),
        }
    }

    fn encoded_len(&self) -> usize {
        let bounds = Self::TAGS.iter().zip(&self.bounds);
        bounds.filter_map(|(tag, bound)| Some(encoding::double::encoded_len(*tag, bound.as_ref()?))).sum()
    }

    fn clear(&mut self) {
        *self = Memory::default();
    }
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct MemoryRange {
    #[prost(message, optional, tag = "11")]
    pub lower: Option<Kept<Memory>>,
    #[prost(message, optional, tag = "12")]
    pub upper: Option<Kept<Memory>>,
    /// proto2 enums are not packed.
    #[prost(int32, repeated, packed = "false", tag = "13")]
    pub active_axis: Vec<i32>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Whisker {
    #[prost(sint32, optional, tag = "31")]
    pub window_increment: Option<i32>,
    #[prost(double, optional, tag = "32")]
    pub window_multiple: Option<f64>,
    #[prost(double, optional, tag = "33")]
    pub intersend: Option<f64>,
    #[prost(message, optional, tag = "34")]
    pub domain: Option<Kept<MemoryRange>>,
}

/// The root carries, beside the tree, how it was made; what we need not look into stays as bytes.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct WhiskerTree {
    #[prost(message, optional, tag = "1")]
    pub domain: Option<Kept<MemoryRange>>,
    #[prost(message, repeated, tag = "2")]
    pub children: Vec<Tree>,
    #[prost(message, optional, tag = "3")]
    pub leaf: Option<Kept<Whisker>>,
    #[prost(bytes = "vec", optional, tag = "4")]
    pub config: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "5")]
    pub optimizer: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "6")]
    pub configvector: Option<Vec<u8>>,
    /// Ours: a field number that the authors' files leave free and their tools pass over.
    #[prost(bytes = "vec", optional, tag = "1000")]
    pub provenance: Option<Vec<u8>>,
    /// Ours, too: of all else in the file, without this field. No flipped bit makes one of the two tags the other.
    #[prost(bytes = "vec", optional, tag = "1006")]
    pub digest: Option<Vec<u8>>,
    /// Ours: what flows follow in place of the rules.
    #[prost(message, optional, tag = "1010")]
    pub law: Option<LawMessage>,
}

/// A range of a network parameter in the authors' files.
#[derive(Clone, PartialEq, Message)]
pub struct Range {
    /// Smallest value.
    #[prost(double, optional, tag = "61")]
    pub low: Option<f64>,
    /// Largest value.
    #[prost(double, optional, tag = "62")]
    pub high: Option<f64>,
    /// Step between values.
    #[prost(double, optional, tag = "63")]
    pub incr: Option<f64>,
}

/// The networks that a table was designed for, in the authors' units (packets/ms, ms, packets).
#[derive(Clone, PartialEq, Message)]
pub struct ConfigRange {
    /// Link rate, packets/ms (1 = 10 Mbit/s).
    #[prost(message, optional, tag = "71")]
    pub link_packets_per_ms: Option<Range>,
    /// Minimum RTT, ms.
    #[prost(message, optional, tag = "72")]
    pub rtt: Option<Range>,
    /// Number of senders.
    #[prost(message, optional, tag = "73")]
    pub num_senders: Option<Range>,
    /// Room in the queue, packets.
    #[prost(message, optional, tag = "74")]
    pub buffer_size: Option<Range>,
    /// Mean off-period, ms.
    #[prost(message, optional, tag = "75")]
    pub mean_off_duration: Option<Range>,
    /// Mean on-period, ms.
    #[prost(message, optional, tag = "76")]
    pub mean_on_duration: Option<Range>,
    /// Length of a simulation, ms.
    #[prost(uint32, optional, tag = "77")]
    pub simulation_ticks: Option<u32>,
    /// Loss for no reason of congestion.
    #[prost(message, optional, tag = "78")]
    pub stochastic_loss_rate: Option<Range>,
    /// Mean off-period in the files of Tao'14, ms.
    #[prost(double, optional, tag = "81")]
    pub mean_off_ms: Option<f64>,
    /// Mean on-period in the files of Tao'14, ms.
    #[prost(double, optional, tag = "82")]
    pub mean_on_ms: Option<f64>,
}

/// How one part of an action was varied in the search.
#[derive(Clone, PartialEq, Message)]
pub struct OptimizationSetting {
    /// Smallest value.
    #[prost(double, optional, tag = "41")]
    pub min_value: Option<f64>,
    /// Largest value.
    #[prost(double, optional, tag = "42")]
    pub max_value: Option<f64>,
    /// Smallest step.
    #[prost(double, optional, tag = "43")]
    pub min_change: Option<f64>,
    /// Largest step.
    #[prost(double, optional, tag = "44")]
    pub max_change: Option<f64>,
    /// Ratio of one step to the next.
    #[prost(double, optional, tag = "45")]
    pub multiplier: Option<f64>,
    /// Value of the first rule.
    #[prost(double, optional, tag = "46")]
    pub default_value: Option<f64>,
}

/// How actions were varied in the search.
#[derive(Clone, PartialEq, Message)]
pub struct OptimizationSettings {
    /// b.
    #[prost(message, optional, tag = "51")]
    pub window_increment: Option<OptimizationSetting>,
    /// m.
    #[prost(message, optional, tag = "52")]
    pub window_multiple: Option<OptimizationSetting>,
    /// r, ms.
    #[prost(message, optional, tag = "53")]
    pub intersend: Option<OptimizationSetting>,
}
