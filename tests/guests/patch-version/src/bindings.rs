//! What `wit-bindgen` makes of the contract; see `wit/plugin.wit` in this folder.
#![allow(missing_docs)]

wit_bindgen::generate!({
    world: "tool-policy",
    path: "wit",
});
