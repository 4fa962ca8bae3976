//! Environments: built once, shared, replaced when broken, and never half there. All but what needs the
//! framework itself is installed from wheels the tests make, so that no index is asked.

mod environments {
    mod alive;
    mod building;
    mod failing;
    mod folders;
    mod managing;
    mod others;
    mod rig;
    mod store;
    mod verdicts;
}
