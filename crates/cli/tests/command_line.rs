//! The `hookgate` command as a shell sees it: exit codes, messages, order of outputs.

mod command_line {
    mod call;
    mod check;
    mod demo;
    mod explain;
    mod legacy;
    mod import;
    mod python;
    mod records;
    mod refusals;
    mod run;
    mod schema;
    mod support;
    mod usage;
    mod wrong;
}
