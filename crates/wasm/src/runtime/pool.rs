//! The pool instances are taken from, and who may take how many.
//!
//! A plugin holds at most as many instances as it has calls in flight and ready ones in stock. The sum
//! over all plugins is checked at load, so that no plugin's burst leaves another without.

use std::collections::HashMap;
use std::sync::Arc;

use hookgate_core::LoadError;
use wasmtime::{Enabled, PoolingAllocationConfig};

use crate::limits::{
    CORE_INSTANCES_PER_COMPONENT, MAX_INSTANCE_METADATA_BYTES, MAX_INSTANCES, MAX_MEMORIES,
    MAX_TABLE_ELEMENTS, MAX_TABLES, MEMORY_KEEP_RESIDENT_BYTES, STACK_KEEP_RESIDENT_BYTES,
    TABLE_KEEP_RESIDENT_BYTES, TABLES_PER_COMPONENT,
};

/// A pool of that many component instances.
pub(super) fn config(instances: u32) -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    let count = |limit: usize| u32::try_from(limit).unwrap_or(u32::MAX);
    pool.total_component_instances(instances)
        .total_core_instances(instances.saturating_mul(CORE_INSTANCES_PER_COMPONENT))
        .total_memories(instances)
        .total_tables(instances.saturating_mul(TABLES_PER_COMPONENT))
        .total_stacks(instances)
        .max_component_instance_size(MAX_INSTANCE_METADATA_BYTES)
        .max_core_instance_size(MAX_INSTANCE_METADATA_BYTES)
        .max_core_instances_per_component(count(MAX_INSTANCES))
        .max_memories_per_component(count(MAX_MEMORIES))
        .max_memories_per_module(count(MAX_MEMORIES))
        .max_tables_per_component(count(MAX_TABLES))
        .max_tables_per_module(count(MAX_TABLES))
        .table_elements(MAX_TABLE_ELEMENTS)
        .async_stack_keep_resident(STACK_KEEP_RESIDENT_BYTES);
    // Without the scan, what is kept would be cleared whole each time, which costs more than it saves.
    if PoolingAllocationConfig::is_pagemap_scan_available() {
        pool.pagemap_scan(Enabled::Yes)
            .linear_memory_keep_resident(MEMORY_KEEP_RESIDENT_BYTES)
            .table_keep_resident(TABLE_KEEP_RESIDENT_BYTES);
    }
    pool
}

/// How many places of the pool one instance of a component takes: the pool has one memory and
/// [`TABLES_PER_COMPONENT`] tables for each.
pub(crate) fn places(memories: u32, tables: u32) -> u32 {
    memories.max(tables.div_ceil(TABLES_PER_COMPONENT)).max(1)
}

/// Whose room it is: a plugin's name, in the one host that loads it. A configuration that is loaded
/// again has the same names, and its plugins take the place of those before.
type Owner = (u64, Arc<str>);

/// What one loaded plugin may take.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Room {
    owner: Owner,
    instances: u32,
}

/// Who may take how many instances.
#[derive(Debug)]
pub(crate) struct Rooms {
    total: u32,
    /// Of each owner, the room of every generation that is still there.
    taken: HashMap<Owner, Vec<u32>>,
}

impl Rooms {
    pub(super) fn new(total: u32) -> Self {
        Self {
            total,
            taken: HashMap::new(),
        }
    }

    /// Room for a plugin's calls and its stock, if there is that much beside what others have. `places`: what
    /// one of its instances takes, see [`places`].
    pub(crate) fn take(
        &mut self,
        host: u64,
        name: &Arc<str>,
        places: u32,
        (concurrency, stock): (u32, u32),
    ) -> Result<Room, LoadError> {
        let owner = (host, Arc::clone(name));
        let others: u64 = self
            .taken
            .iter()
            .filter(|(other, _)| **other != owner)
            .filter_map(|(_, rooms)| rooms.iter().max())
            .map(|instances| u64::from(*instances))
            .sum();
        let instances = u64::from(concurrency) + u64::from(stock);
        let wanted = instances * u64::from(places);
        let left = u64::from(self.total).saturating_sub(others);
        if wanted > left {
            let each = match places {
                1 => String::new(),
                _ => format!(", each with memories or tables for {places}"),
            };
            return Err(LoadError::new(format!(
                "no room for {instances} instances at once ({concurrency} calls in flight, {stock} in \
                 stock{each}): {left} of {} are left beside the other plugins",
                self.total
            ))
            .hint("lower `limits: {concurrency: N}` or `instances: {stock: N}` here or in other wasm entries"));
        }
        let instances = u32::try_from(wanted).unwrap_or(u32::MAX);
        self.taken.entry(owner.clone()).or_default().push(instances);
        Ok(Room { owner, instances })
    }

    pub(super) fn give_back(&mut self, room: &Room) {
        let Some(rooms) = self.taken.get_mut(&room.owner) else {
            return;
        };
        if let Some(place) = rooms.iter().position(|one| *one == room.instances) {
            rooms.swap_remove(place);
        }
        if rooms.is_empty() {
            self.taken.remove(&room.owner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_plugins_share_the_pool() {
        let mut rooms = Rooms::new(100);
        let (a, b): (Arc<str>, Arc<str>) = ("a".into(), "b".into());
        let first = rooms.take(1, &a, 1, (56, 4)).unwrap();
        let error = rooms.take(1, &b, 1, (40, 1)).unwrap_err();
        assert_eq!(
            error.message,
            "no room for 41 instances at once (40 calls in flight, 1 in stock): 40 of 100 are left \
             beside the other plugins"
        );
        let second = rooms.take(1, &b, 1, (40, 0)).unwrap();
        rooms.give_back(&first);
        assert!(rooms.take(1, &a, 1, (60, 1)).is_err());
        rooms.give_back(&second);
        assert!(rooms.take(1, &a, 1, (100, 0)).is_ok());
    }

    #[test]
    fn an_instance_with_many_memories_takes_as_many_places() {
        assert_eq!([places(0, 0), places(1, 8), places(3, 2)], [1, 1, 3]);
        assert_eq!([places(1, 9), places(2, 64)], [2, 8]);
        let mut rooms = Rooms::new(100);
        let (a, b): (Arc<str>, Arc<str>) = ("a".into(), "b".into());
        let first = rooms.take(1, &a, 3, (20, 10)).unwrap();
        let error = rooms.take(1, &b, 2, (5, 1)).unwrap_err();
        assert_eq!(
            error.message,
            "no room for 6 instances at once (5 calls in flight, 1 in stock, each with memories or \
             tables for 2): 10 of 100 are left beside the other plugins"
        );
        assert!(rooms.take(1, &b, 2, (4, 1)).is_ok());
        rooms.give_back(&first);
        assert!(rooms.take(1, &a, 1, (90, 0)).is_ok());
    }

    #[test]
    fn a_plugin_that_is_loaded_again_takes_its_own_place() {
        let mut rooms = Rooms::new(100);
        let name: Arc<str> = "a".into();
        let before = rooms.take(1, &name, 1, (80, 0)).unwrap();
        let after = rooms.take(1, &name, 1, (90, 0)).unwrap();
        // Another host's plugin of that name is another plugin.
        assert!(rooms.take(2, &name, 1, (11, 0)).is_err());
        rooms.give_back(&after);
        assert!(rooms.take(2, &name, 1, (20, 0)).is_ok());
        rooms.give_back(&before);
    }
}
