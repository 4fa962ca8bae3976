//! Compiled code that outlives the process: what is taken from the cache, what is not, and that plugins
//! answer right either way.

mod cache {
    mod bounds;
    mod damaged;
    mod places;
    mod support;
    mod warm;
}
