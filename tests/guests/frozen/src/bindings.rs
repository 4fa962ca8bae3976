//! What `wit-bindgen` makes of the contract as it was when 0.1.0 was written: `wit/plugin.wit` in this folder.
#![allow(missing_docs)]

wit_bindgen::generate!({
    world: "policy",
    path: "wit",
});
