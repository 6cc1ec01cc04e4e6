//! A law in a `.dna` file: a field of ours, by which all that flows do stands in the file.

use prost::Message;

use crate::law::Law;

/// A [`Law`], whose numbers are in 2^-16.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct LawMessage {
    #[prost(uint32, tag = "1")]
    target_of_rtt: u32,
    #[prost(uint32, tag = "27")]
    target_of_root: u32,
    #[prost(uint32, tag = "38")]
    target_of_fourth: u32,
    #[prost(uint32, tag = "2")]
    target_of_gap: u32,
    #[prost(uint32, tag = "3")]
    target_of_spread: u32,
    #[prost(sint32, repeated, tag = "4")]
    growth: Vec<i32>,
    #[prost(uint32, repeated, tag = "5")]
    packets: Vec<u32>,
    #[prost(uint32, repeated, tag = "6")]
    pace: Vec<u32>,
    #[prost(uint32, repeated, tag = "7")]
    most: Vec<u32>,
    #[prost(uint32, tag = "39")]
    most_of_path: u32,
    #[prost(uint32, tag = "8")]
    faster: u32,
    #[prost(uint32, tag = "9")]
    fastest: u32,
    #[prost(uint32, tag = "10")]
    first_window: u32,
    #[prost(uint32, tag = "31")]
    first_rate: u32,
    #[prost(uint32, tag = "35")]
    first_most: u32,
    #[prost(uint32, tag = "36")]
    first_train: u32,
    #[prost(uint32, tag = "37")]
    first_train_ns: u32,
    #[prost(uint32, tag = "11")]
    first_pause_ns: u32,
    #[prost(uint32, tag = "12")]
    first_growth: u32,
    #[prost(uint32, tag = "13")]
    first_pace: u32,
    #[prost(uint32, tag = "14")]
    first_until: u32,
    #[prost(uint32, tag = "15")]
    then_window: u32,
    #[prost(uint32, tag = "16")]
    room: u32,
    #[prost(uint32, tag = "17")]
    least_packets: u32,
    #[prost(uint32, tag = "18")]
    again_rtts: u32,
    // 23 to 26 were numbers of how RTTs leap.
    #[prost(uint32, tag = "28")]
    silence_most: u32,
    #[prost(uint32, tag = "29")]
    silence_packets: u32,
    #[prost(uint32, tag = "34")]
    silence_adds: u32,
    #[prost(uint32, tag = "30")]
    loss_most: u32,
    #[prost(uint32, tag = "32")]
    min_rtt_keeps: u32,
    #[prost(uint32, tag = "33")]
    delivered_keeps: u32,
    #[prost(uint32, tag = "19")]
    shared_below: u32,
    #[prost(uint32, tag = "20")]
    shared_scale: u32,
    #[prost(uint32, tag = "21")]
    shared_cut: u32,
    #[prost(uint32, tag = "22")]
    shared_rtts: u32,
}

impl LawMessage {
    pub(crate) fn of(law: &Law) -> LawMessage {
        LawMessage {
            target_of_rtt: law.target_of_rtt,
            target_of_root: law.target_of_root,
            target_of_fourth: law.target_of_fourth,
            target_of_gap: law.target_of_gap,
            target_of_spread: law.target_of_spread,
            silence_most: law.silence_most,
            silence_packets: law.silence_packets,
            silence_adds: law.silence_adds,
            loss_most: law.loss_most,
            growth: law.growth.to_vec(),
            packets: law.packets.to_vec(),
            pace: law.pace.to_vec(),
            most: law.most.to_vec(),
            most_of_path: law.most_of_path,
            faster: law.faster,
            fastest: law.fastest,
            first_window: law.first_window,
            first_rate: law.first_rate,
            first_most: law.first_most,
            first_train: law.first_train,
            first_train_ns: law.first_train_ns,
            first_pause_ns: law.first_pause_ns,
            first_growth: law.first_growth,
            first_pace: law.first_pace,
            first_until: law.first_until,
            then_window: law.then_window,
            room: law.room,
            delivered_keeps: law.delivered_keeps,
            min_rtt_keeps: law.min_rtt_keeps,
            least_packets: law.least_packets,
            again_rtts: law.again_rtts,
            shared_below: law.shared_below,
            shared_scale: law.shared_scale,
            shared_cut: law.shared_cut,
            shared_rtts: law.shared_rtts,
        }
    }

    /// None if there are more or fewer levels.
    pub(crate) fn law(&self) -> Option<Law> {
        Some(Law {
            target_of_rtt: self.target_of_rtt,
            target_of_root: self.target_of_root,
            target_of_fourth: self.target_of_fourth,
            target_of_gap: self.target_of_gap,
            target_of_spread: self.target_of_spread,
            silence_most: self.silence_most,
            silence_packets: self.silence_packets,
            silence_adds: self.silence_adds,
            loss_most: self.loss_most,
            growth: self.growth.as_slice().try_into().ok()?,
            packets: self.packets.as_slice().try_into().ok()?,
            pace: self.pace.as_slice().try_into().ok()?,
            most: self.most.as_slice().try_into().ok()?,
            most_of_path: self.most_of_path,
            faster: self.faster,
            fastest: self.fastest,
            first_window: self.first_window,
            first_rate: self.first_rate,
            first_most: self.first_most,
            first_train: self.first_train,
            first_train_ns: self.first_train_ns,
            first_pause_ns: self.first_pause_ns,
            first_growth: self.first_growth,
            first_pace: self.first_pace,
            first_until: self.first_until,
            then_window: self.then_window,
            room: self.room,
            delivered_keeps: self.delivered_keeps,
            min_rtt_keeps: self.min_rtt_keeps,
            least_packets: self.least_packets,
            again_rtts: self.again_rtts,
            shared_below: self.shared_below,
            shared_scale: self.shared_scale,
            shared_cut: self.shared_cut,
            shared_rtts: self.shared_rtts,
        })
    }
}
