//! What `wit-bindgen` makes of the contract; documented in `wit/plugin.wit`.
#![allow(missing_docs)]

wit_bindgen::generate!({
    world: "tool-policy",
    path: "../../../wit/plugin.wit",
});
