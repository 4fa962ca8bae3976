//! The words that only the framework's shape has.

use crate::config::keys::More;

const SERVER: &str = "plugins do not run as a server of their own here";
const CLIENT: &str = "the plugin runs here, nothing is connected to";
const ROUTES: &str = "entries are chosen by their own conditions";
const GATEWAY: &str = "it is the gateway's business";

/// At the top of a file.
pub(super) const TOP: More = More {
    known: &["plugin_dirs", "plugin_settings"],
    noted: &[
        ("server_settings", SERVER),
        ("grpc_server_settings", SERVER),
        ("unix_socket_server_settings", SERVER),
        ("global", ROUTES),
        ("routes", ROUTES),
    ],
};

/// In an entry.
pub(super) const ENTRY: More = More {
    known: &[
        "namespace",
        "capabilities",
        "applied_to",
        "max_content_size",
        "default_config",
        "default_configs",
    ],
    noted: &[("mcp", CLIENT), ("grpc", CLIENT), ("unix_socket", CLIENT)],
};

/// In `plugin_settings:`.
pub(super) const SETTINGS: More = More {
    known: &[],
    noted: &[
        (
            "parallel_execution_within_band",
            "the mode says what runs at once",
        ),
        (
            "parallel_execution_within_plugins",
            "the mode says what runs at once",
        ),
        ("parallel_execution", "the mode says what runs at once"),
        ("enable_plugin_api", GATEWAY),
        (
            "plugin_health_check_interval",
            "workers are watched all the time",
        ),
        ("include_user_info", GATEWAY),
        ("route_cache_max_entries", "there are no routes"),
    ],
};
