//! Reading tables such that a list is none, and such that what is wrong with one is said at its own place.
//!
//! serde's derived code takes a list for a table whose fields are in order; and an error that a conversion finds after
//! reading carries the place of the list or table around it, not that of the item.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Reads a table as it is written, and makes of it what it means.
pub(super) fn checked<'de, D, T, U>(deserializer: D, check: fn(T) -> Result<U, String>) -> Result<U, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    deserializer.deserialize_any(TableVisitor { check, of: PhantomData })
}

/// Reads a table.
pub(super) fn table<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    checked(deserializer, Ok::<T, String>)
}

/// Reads a table that may be left out.
pub(super) fn some_table<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    table(deserializer).map(Some)
}

/// Reads a list of tables that may be left out.
pub(super) fn some_tables<'de, D, T>(deserializer: D) -> Result<Option<Vec<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let items: Vec<Item<T>> = Vec::deserialize(deserializer)?;
    Ok(Some(items.into_iter().map(|Item(item)| item).collect()))
}

/// A table of a list.
#[derive(Deserialize)]
#[serde(bound(deserialize = "T: Deserialize<'de>"))]
pub(super) struct Item<T>(#[serde(deserialize_with = "table")] pub T);

struct TableVisitor<T, U> {
    check: fn(T) -> Result<U, String>,
    of: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>, U> Visitor<'de> for TableVisitor<T, U> {
    type Value = U;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<U, A::Error> {
        (self.check)(T::deserialize(MapAccessDeserializer::new(map))?).map_err(A::Error::custom)
    }
}
