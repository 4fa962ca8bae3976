//! The `hookgate` command as a shell sees it: exit codes, messages, order of outputs.

mod command_line {
    mod call;
    mod check;
    mod compile;
    mod demo;
    mod env;
    mod explain;
    mod import;
    mod legacy;
    mod python;
    mod records;
    mod refusals;
    mod run;
    mod schema;
    mod support;
    mod usage;
    mod wrong;
}
