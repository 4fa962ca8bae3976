//! [`Request`]: one caller's journey through several hooks, and [`RequestView`], what a plugin sees of it.

use std::fmt;
use std::sync::Arc;

use indexmap::IndexMap;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Json;

/// Who calls, as the front door tells with every call. Only state is carried from hook to hook;
/// identity is taken from each call anew.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, remote = "Self")]
pub struct Request {
    /// Ties the hooks of one request together; without it the call is a request of its own.
    pub id: Option<String>,
    /// The caller's id for this one call.
    pub call_id: Option<String>,
    /// A string or an object.
    pub user: Option<Json>,
    /// The legacy framework's `UserContext`, an object.
    pub user_context: Option<Json>,
    /// Tenant.
    pub tenant_id: Option<String>,
    /// Server.
    pub server_id: Option<String>,
    /// Content type.
    pub content_type: Option<String>,
    /// JSON object.
    pub metadata: Option<Json>,
    /// JSON object of typed side-channel slots. Debug output shows no tokens in it.
    pub extensions: Option<Json>,
}

/// A derived struct would also take an array of its fields in order, and `[]` for an empty request.
impl<'de> Deserialize<'de> for Request {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Request;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Request, A::Error> {
                Request::deserialize(MapAccessDeserializer::new(members))
            }
        }

        deserializer.deserialize_map(Object)
    }
}

impl Serialize for Request {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl Request {
    /// A request with an id and nothing else.
    #[must_use]
    pub fn with_id(id: impl Into<String>) -> Self {
        Self {
            id: Some(id.into()),
            ..Self::default()
        }
    }

    /// A field of the caller's identity as JSON; none where the caller gave none or the field is unknown.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<Json> {
        let string = |value: &Option<String>| value.as_deref().map(Json::string);
        match name {
            "user" => self.user.clone(),
            "user_context" => self.user_context.clone(),
            "tenant_id" => string(&self.tenant_id),
            "server_id" => string(&self.server_id),
            "content_type" => string(&self.content_type),
            "metadata" => self.metadata.clone(),
            _ => None,
        }
    }
}

/// Keys and values of state, in the order they were first written.
pub type StateMap = IndexMap<String, Json>;

/// What one plugin sees of a request during one call. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct RequestView {
    pub(crate) caller: Arc<Request>,
    pub(crate) private: Option<Arc<StateMap>>,
    pub(crate) shared: Option<Arc<StateMap>>,
    pub(crate) metadata: Option<Arc<StateMap>>,
    /// Bytes of all state of the request, other plugins' private state included.
    pub(crate) state_bytes: u64,
}

impl RequestView {
    /// Who calls. The id is always there, extensions never: [`crate::HookCall::extensions`] are what the plugin
    /// is lent of them.
    #[must_use]
    pub fn caller(&self) -> &Request {
        &self.caller
    }

    /// The request's id; the engine makes one for a caller that gave none.
    #[must_use]
    pub fn id(&self) -> &str {
        self.caller.id.as_deref().unwrap_or_default()
    }

    /// This plugin's own state.
    #[must_use]
    pub fn private(&self) -> &StateMap {
        self.private.as_deref().unwrap_or(&EMPTY)
    }

    /// What every plugin of the request shares.
    #[must_use]
    pub fn shared(&self) -> &StateMap {
        self.shared.as_deref().unwrap_or(&EMPTY)
    }

    /// What plugins added to the request's metadata; it goes over what the caller sent.
    #[must_use]
    pub fn metadata(&self) -> &StateMap {
        self.metadata.as_deref().unwrap_or(&EMPTY)
    }
}

/// What a request without state shows.
static EMPTY: std::sync::LazyLock<StateMap> = std::sync::LazyLock::new(StateMap::default);
