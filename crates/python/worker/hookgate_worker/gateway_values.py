"""Default values of the gateway's settings that are text or several values; see `gateway_defaults`."""

WORDS = r"""
METRICS_NAMESPACE=default app_name=ContextForge auth_header_name=Authorization basic_auth_user=admin
cache_prefix=mcpgw: cache_type=database content_pattern_validation_mode=strict cookie_samesite=lax
correlation_id_header=X-Correlation-ID csrf_cookie_name=mcpgateway_csrf_token csrf_cookie_samesite=Strict
csrf_token_name=X-CSRF-Token database_url=sqlite:///./mcp.db db_driver=postgresql+psycopg db_pool_class=auto
db_pool_pre_ping=auto db_query_log_file=logs/db-queries.log db_query_log_format=both
db_query_log_json_file=logs/db-queries.jsonl dcr_token_endpoint_auth_method=client_secret_basic
default_admin_role=platform_admin default_team_member_role=viewer default_team_owner_role=team_admin
default_user_role=platform_viewer deployment_env=development elasticsearch_index_prefix=mcpgateway-logs
environment=development experimental_rust_a2a_runtime_url=http://127.0.0.1:8788
experimental_rust_mcp_runtime_url=http://127.0.0.1:8787 filelock_name=gateway_service_leader.lock
gateway_tool_name_separator=- host=127.0.0.1 identity_propagation_headers_prefix=X-Forwarded-User
identity_propagation_mode=both jq_filter_execution=subprocess jwt_algorithm=HS256 jwt_audience=mcpgateway-api
jwt_issuer=mcpgateway llm_api_prefix=/v1 log_filemode=a+ log_format=json log_level=ERROR masked_auth_value=*****
mcp_rust_ingress=internal mcp_rust_public_proxy_upstream=http://127.0.0.1:8787
mcpgateway_bootstrap_roles_in_db_file=additional_roles_in_db.json mcpgateway_catalog_file=mcp-catalog.yml
oauth_preferred_code_challenge_method=S256 otel_baggage_header_mappings=[] otel_exporter_otlp_protocol=grpc
otel_service_name=mcp-gateway otel_traces_exporter=otlp pagination_default_sort_field=created_at
pagination_default_sort_order=desc passthrough_headers_source=db platform_admin_email=admin@example.com
primary_worker_election_backend=filelock primary_worker_redis_key=mcpgw:primary_worker
primary_worker_redis_unavailable_policy=fail_closed protocol_version=2025-11-25
proxy_user_header=X-Authenticated-User redis_leader_key=gateway_service_leader redis_parser=auto
redis_url=redis://localhost:6379/0 security_logging_level=failures_only siem_export_backpressure_policy=drop_oldest
siem_export_consumer_group=siem-exporters siem_export_stream_name=mcpgateway:siem:events smtp_from_name=ContextForge
sso_entra_groups_claim=groups sso_generic_groups_claim=groups sso_keycloak_email_claim=email
sso_keycloak_groups_claim=groups sso_keycloak_realm=master sso_keycloak_username_claim=preferred_username
transport_type=all validation_aggregation_pattern=^(5m|24h)$
validation_entity_type_pattern=^(tools|resources|prompts|servers)$ validation_entity_types_pattern=^[a-zA-Z,]*$
validation_error_code_pattern=^[a-zA-Z0-9_]+$ validation_export_format_pattern=^(json|csv|ndjson)$
validation_gateway_id_list_pattern=^[a-zA-Z0-9_,-]*$ validation_gateway_id_pattern=^[a-zA-Z0-9_-]+$
validation_http_method_pattern=^(GET|POST|PUT|DELETE|PATCH|HEAD|OPTIONS|TRACE|CONNECT)$
validation_hyphen_identifier_pattern=^[a-zA-Z0-9_-]+$ validation_identifier_pattern=^[a-zA-Z0-9_\-\.]+$
validation_period_type_pattern=^(hourly|daily)$ validation_relationship_pattern=^(owner|member|public)$
validation_render_mode_pattern=^[a-zA-Z_-]+$ validation_scope_id_pattern=^[a-zA-Z0-9_-]+$
validation_status_filter_pattern=^(all|ok|error)$ validation_team_id_pattern=^[a-zA-Z0-9_-]+$
validation_time_range_pattern=^(1h|6h|12h|24h|7d|30d)$ validation_tool_method_pattern=^[a-zA-Z][a-zA-Z0-9_\./-]*$
validation_tool_name_pattern=^[a-zA-Z0-9_][a-zA-Z0-9._/-]*$
validation_toolops_mode_pattern=^(generate|query|status)$ validation_trace_id_pattern=^[a-zA-Z0-9_-]+$
validation_trace_status_pattern=^(ok|error)$ validation_unsafe_uri_pattern=[<>"\'\\]
validation_user_identifier_pattern=^[a-zA-Z0-9._%+@-]+$ validation_visibility_pattern=^(private|team|public)$
well_known_custom_files={} x_frame_options=DENY
"""

TEXT = {
    "dcr_client_name_template": "ContextForge ({gateway_name})",
    "legacy_api_sunset_date": "Sat, 26 Sep 2026 00:00:00 GMT",
    "otel_redact_fields": (
        "password,secret,token,api_key,authorization,credential,auth_value,access_token,refres"
        "h_token,auth_token,client_secret,cookie,set-cookie,private_key,session_id,sessionid"
    ),
    "platform_admin_full_name": "Platform Administrator",
    "sso_adfs_display_name": "ADFS Login",
    "sso_adfs_scope": "openid profile email",
    "sso_generic_scope": "openid profile email",
    "sso_okta_scope": "openid profile email",
    "validation_cursor_pattern": "^[a-zA-Z0-9_=+/-]+$",
    "validation_dangerous_html_pattern": (
        "<(script|iframe|object|embed|link|meta|base|form|img|svg|video|audio|source|track|are"
        r"a|map|canvas|applet|frame|frameset|html|head|body|style)\b|</*(script|iframe|object|e"
        "mbed|link|meta|base|form|img|svg|video|audio|source|track|area|map|canvas|applet|fram"
        "e|frameset|html|head|body|style)>"
    ),
    "validation_dangerous_js_pattern": (
        "(?i)(?:^|\\s|[\\\"'`<>=])(javascript:|vbscript:|data:\\s*[^,]*[;\\s]*(javascript|vbscript)"
        r"|\bon[a-z]+\s*=|<\s*script\b)"
    ),
    "validation_name_pattern": r"^[a-zA-Z0-9_.\- ]+$",
    "validation_resource_name_pattern": "^[a-zA-Z0-9_. /-]+$",
    "validation_safe_uri_pattern": r"^[a-zA-Z0-9_\-.:/?=&%{}]+$",
    "validation_tags_filter_pattern": "^[a-zA-Z0-9_,+ .-]*$",
    "well_known_robots_txt": (
        "User-agent: *\nDisallow: /\n\n# ContextForge is a private API gateway\n# Public crawling "
        "is disabled by default"
    ),
}

LISTS = {
    "content_allowed_resource_mimetypes": [
        "text/plain", "text/markdown", "text/html", "text/csv", "application/json", "application/xml",
        "application/yaml", "application/pdf", "application/octet-stream", "image/png", "image/jpeg", "image/gif",
        "image/svg+xml", "image/webp", "audio/mpeg", "audio/wav", "video/mp4", "video/webm",
    ],
    "content_blocked_patterns": [
        "<script[^>]*>.*?</script>", "javascript:", r"on\w+\s*=", "<iframe[^>]*>", r";\s*rm\s+-rf", r"&&|\|\|",
        "`[^`]+`", r"\$\([^)]+\)", r"(?i)(union|select|insert|update|delete|drop)\s+", r"--\s*$",
        r"'\s*or\s*'1'\s*=\s*'1", r"\{\{\s*config\s*\}\}", r"\{\{\s*config\.", r"\{%\s*for\s+\w+\s+in\s+config",
        r"\$\{.*\}",
    ],
    "content_blocked_template_patterns": [
        "__import__", "__builtins__", "__globals__", "__locals__", "__class__", "__base__", "__subclasses__",
        r"eval\s*\(", r"exec\s*\(", r"compile\s*\(", r"open\s*\(", r"file\s*\(", r"input\s*\(", r"__\w+__",
    ],
    "csrf_exempt_paths": [
        "/health", "/auth/login", "/auth/logout", "/auth/refresh", "/auth/email/login", "/auth/email/register",
        "/auth/email/forgot-password", "/auth/email/reset-password", "/admin", "/admin/login",
        "/admin/forgot-password", "/admin/reset-password", "/oauth/fetch-tools", "/docs", "/redoc", "/openapi.json",
        "/metrics", "/mcp/", "/sse", "/message", "/rpc", "/api/metrics/", "/toolops/", "/tokens", "/teams/",
        "/llmchat/", "/api/logs/", "/_internal/mcp/",
    ],
    "dangerous_patterns": [r"[;&|`$(){}\[\]<>]", r"\.\.[\\/]", r"[\x00-\x1f\x7f-\x9f]"],
    "dcr_default_scopes": ["mcp:read"],
    "default_passthrough_headers": ["X-Tenant-Id", "X-Trace-Id"],
    "identity_sensitive_attributes": ["password_hash", "internal_id", "ssn"],
    "observability_exclude_paths": ["/health", "/healthz", "/ready", "/metrics", "/static/.*"],
    "observability_include_paths": [
        "^/rpc/?$", "^/sse$", "^/message$", "^/mcp(?:/|$)", "^/servers/[^/]+/mcp/?$", "^/servers/[^/]+/sse$",
        "^/servers/[^/]+/message$", "^/a2a(?:/|$)", "^/v1/a2a(?:/|$)",
    ],
    "siem_export_event_sources": ["auth", "security", "audit"],
    "siem_export_redact_fields": [
        "user_email", "authorization", "token", "password", "secret", "api_key",
    ],
    "ssrf_blocked_hosts": ["metadata.google.internal", "metadata.internal"],
    "ssrf_blocked_networks": [
        "169.254.169.254/32", "169.254.169.123/32", "fd00::1/128", "169.254.0.0/16", "fe80::/10", "100.64.0.0/10",
    ],
    "tool_description_forbidden_patterns": ["&&", "||", "$("],
    "validation_allowed_mime_types": [
        "text/plain", "text/html", "text/css", "text/markdown", "text/javascript", "application/json",
        "application/xml", "application/pdf", "image/png", "image/jpeg", "image/gif", "image/svg+xml",
        "application/octet-stream",
    ],
    "validation_allowed_url_schemes": ["http://", "https://", "ws://", "wss://"],
}

SETS = {
    "allowed_mime_types": [
        "application/json", "application/xml", "image/gif", "image/jpeg", "image/png", "text/html", "text/markdown",
        "text/plain",
    ],
    "allowed_origins": [
        "http://127.0.0.1:3000", "http://127.0.0.1:4444", "http://127.0.0.1:8080", "http://localhost",
        "http://localhost:3000", "http://localhost:4444", "http://localhost:8080",
    ],
}
