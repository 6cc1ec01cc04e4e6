//! Where a table comes from: kept in its `.dna` file.

use prost::Message;

use crate::proto;

/// Everything that is needed to repeat the design of a table.
#[derive(Clone, PartialEq, Message)]
pub struct Provenance {
    /// Version of this program.
    #[prost(string, tag = "1")]
    pub version: String,
    /// The model file, whole.
    #[prost(string, tag = "2")]
    pub model: String,
    /// Settings of the search, as JSON.
    #[prost(string, tag = "3")]
    pub search: String,
    /// Root seed.
    #[prost(uint64, tag = "4")]
    pub seed: u64,
    /// Score on the training specimens, per specimen.
    #[prost(double, tag = "5")]
    pub score: f64,
    /// The networks in the authors' form, where it can express them.
    #[prost(message, optional, tag = "6")]
    pub config: Option<proto::ConfigRange>,
    /// The step sizes in the authors' form.
    #[prost(message, optional, tag = "7")]
    pub optimizer: Option<proto::OptimizationSettings>,
}
