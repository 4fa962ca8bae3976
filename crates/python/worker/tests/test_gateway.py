"""The old names of the framework and the gateway's helpers, where the gateway is not installed and where it is."""

import http.server
import tempfile
import threading
import unittest
from pathlib import Path

from driver import PLUGINS, WorkerProcess

HOOKS = ["tool_pre_invoke", "tool_post_invoke", "prompt_post_fetch", "resource_post_fetch"]


class OldNames(unittest.TestCase):
    """One worker with the plugin that imports by the old names."""

    @classmethod
    def setUpClass(cls):
        cls.worker = WorkerProcess()
        cls.addClassCleanup(cls.worker.__exit__)
        given = {"HTTPX_MAX_CONNECTIONS": "7", "retry_max_attempts": 4, "of_nobody": [1], "jwt_secret_key": "s3cret"}
        ready = cls.worker.start("gateway_imports.Old", HOOKS, settings=given)
        assert ready["type"] == "ready", ready
        assert ready["hooks"] == HOOKS, ready

    def call(self, name, args=None):
        return self.worker.call("tool_pre_invoke", {"name": name, "args": args or {}})

    def found(self, *names):
        answer = self.call("settings", {"names": list(names)})
        self.assertTrue(answer["metadata"]["same"])
        return answer["metadata"]["found"]

    def test_denial_and_edit(self):
        self.assertEqual(self.call("deny")["violation"]["code"], "OLD")
        self.worker.log_with("WARNING old.plugin: denied by the old name")
        self.assertEqual(self.call("edit", {"by": "new"})["edits"], [{"op": "set", "at": "/args/by", "value": "old"}])

    def test_one_object_under_either_name(self):
        self.assertEqual(
            self.call("same")["metadata"],
            {
                "plugin": True,
                "violation": True,
                "module": "cpex.framework",
                "registry": True,
                "payload": True,
                "constants": ["tool", "gateway"],
                "models": True,
            },
        )

    def test_every_module_of_the_framework_has_its_old_name(self):
        for module in ("base", "hooks.agents", "loader.plugin", "external.mcp.server", "manager", "settings", "utils"):
            with self.subTest(module):
                statement = (
                    f"import sys, mcpgateway.plugins.framework.{module} as old, cpex.framework.{module} as new\n"
                    f"assert old is new is sys.modules['mcpgateway.plugins.framework.{module}']\n"
                    f"assert new.__spec__.name == new.__name__ == 'cpex.framework.{module}'"
                )
                self.assertEqual(self.call("import", {"statement": statement})["type"], "answer")

    def test_typed_content_is_of_the_gateway_s_classes(self):
        content = {"role": "user", "content": {"type": "text", "text": "hi", "annotations": {"priority": 0.5}}}
        answer = self.worker.call("prompt_post_fetch", {"prompt_id": "p", "result": {"messages": [content]}})
        self.assertEqual(answer["metadata"], {"kinds": [True, True, True, True]})
        message = {"role": "assistant", "content": {"type": "text", "text": "more"}}
        self.assertEqual(answer["edits"], [{"op": "set", "at": "/result/messages/-", "value": message}])
        answer = self.worker.call(
            "resource_post_fetch", {"uri": "u", "content": {"type": "resource", "id": "1", "uri": "u"}}
        )
        self.assertEqual(answer["metadata"], {"kinds": [True]})

    def test_model_of_a_tool(self):
        tool = self.worker.call("tool_post_invoke", {"name": "t", "result": 1})["metadata"]["tool"]
        self.assertEqual(
            tool,
            {
                "name": "t",
                "url": "http://h/",
                "tags": [{"id": "a"}],
                "integration_type": "MCP",
                "request_type": "SSE",
                "headers": {},
                "input_schema": {"type": "object", "properties": {}},
                "annotations": {},
            },
        )

    def test_settings_at_the_gateway_s_defaults(self):
        # As the gateway's configuration of release 1.0.8 has them.
        self.assertEqual(
            self.found(
                "app_name", "port", "auth_required", "log_level", "httpx_read_timeout", "redis_url", "tool_timeout",
                "log_file", "csrf_trusted_origins", "default_passthrough_headers", "retry_base_delay", "smtp_password",
                "app_domain", "deployment_env", "proxy_user_header", "otel_service_name", "jwt_algorithm",
            ),
            {
                "app_name": "ContextForge",
                "port": 4444,
                "auth_required": True,
                "log_level": "ERROR",
                "httpx_read_timeout": 120.0,
                "redis_url": "redis://localhost:6379/0",
                "tool_timeout": 60,
                "log_file": None,
                "csrf_trusted_origins": [],
                "default_passthrough_headers": ["X-Tenant-Id", "X-Trace-Id"],
                "retry_base_delay": 1.0,
                "smtp_password": None,
                "app_domain": "HttpUrl('http://localhost:4444/')",
                "deployment_env": "development",
                "proxy_user_header": "X-Authenticated-User",
                "otel_service_name": "mcp-gateway",
                "jwt_algorithm": "HS256",
            },
        )

    def test_given_settings_count_in_any_case(self):
        self.assertEqual(
            self.found("httpx_max_connections", "retry_max_attempts", "of_nobody", "jwt_secret_key", "csrf_secret_key"),
            {
                "httpx_max_connections": 7,
                "retry_max_attempts": 4,
                "of_nobody": [1],
                "jwt_secret_key": "SecretStr('**********')",
                "csrf_secret_key": "SecretStr('**********')",
            },
        )

    def test_unknown_setting(self):
        found = self.found("no_such_setting", "PORT", "auth_encryption_secret")
        for name, texts in {
            "no_such_setting": ("no setting 'no_such_setting'", "python: {settings: {no_such_setting: ...}}"),
            # As in the gateway, where attributes are not read in any case.
            "PORT": ("no setting 'PORT', 'port' is possible",),
            "auth_encryption_secret": ("a secret that has no default", "{auth_encryption_secret: ...}"),
        }.items():
            for text in ("AttributeError: ", *texts):
                self.assertIn(text, found[name])

    def test_addresses_for_a_log(self):
        # What the gateway's own function gives for these.
        cases = {
            "https://api.example.com?api_key=secret&q=search": "https://api.example.com?api_key=REDACTED&q=search",
            "https://admin:secret123@api.example.com/endpoint": "https://REDACTED:REDACTED@api.example.com/endpoint",
            "https://user:pass@[::1]:8080/path": "https://REDACTED:REDACTED@[::1]:8080/path",
            "https://h/?tavilyApiKey=s3": "https://h/?tavilyApiKey=REDACTED",
            "https://h/path": "https://h/path",
            "http://[broken": "REDACTED",
        }
        found = self.call("urls", {"urls": list(cases)})["metadata"]
        self.assertEqual(found["urls"], list(cases.values()))
        self.assertEqual(found["known"], "http://h/?x=REDACTED&y=2")
        self.assertEqual(found["message"], "no answer from http://REDACTED:REDACTED@h/?token=REDACTED at all")

    def test_what_is_not_supplied_says_so(self):
        for statement, texts in {
            "import mcpgateway.db": ("mcpgateway.db is a service of the gateway",),
            "import mcpgateway.services.gateway_service": ("mcpgateway.services.gateway_service is a service",),
            "from mcpgateway.services.gateway_service import GatewayService": ("gateway_service is a service",),
            "from mcpgateway.services import metrics": ("mcpgateway.services.metrics is a service",),
            "from mcpgateway.plugins import get_plugin_manager": ("mcpgateway.plugins.get_plugin_manager is",),
            "from mcpgateway import __version__": ("mcpgateway.__version__ is",),
            "from mcpgateway.common.models import RBACRole": ("supplies mcpgateway.common.models without 'RBACRole'",),
        }.items():
            with self.subTest(statement):
                answer = self.call("import", {"statement": statement})
                self.assertEqual(answer["kind"], "plugin_error")
                for text in (*texts, "hookgate", "hint: add mcp-contextforge-gateway to `requirements`"):
                    self.assertIn(text, answer["message"])

    def test_missing_modules_are_import_errors_that_plugins_may_catch(self):
        guarded = "try:\n    from mcpgateway.services.metrics import c\nexcept ModuleNotFoundError:\n    c = None"
        self.assertEqual(self.call("import", {"statement": guarded})["type"], "answer")
        answer = self.call("import", {"statement": "import mcpgateway.plugins.framework._redis"})
        self.assertIn("a part of the old framework that cpex.framework does not have", answer["message"])
        answer = self.call("import", {"statement": "from mcpgateway.plugins.framework import NoSuch"})
        self.assertIn("cannot import name 'NoSuch' from 'cpex.framework'", answer["message"])

    def test_http_client_tries_again(self):
        asked = []

        class Server(http.server.BaseHTTPRequestHandler):
            def answer(self):
                asked.append(self.command)
                number = asked.count(self.command)
                status = {"GET": {1: 503, 2: 429}, "POST": {1: 502, 2: 408}}[self.command].get(number, 200)
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                self.send_response(status)
                if status == 429:
                    self.send_header("Retry-After", "3600")
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"ok")

            do_GET = do_POST = answer

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            answer = self.call("http", {"url": f"http://127.0.0.1:{server.server_port}/"})
            self.assertEqual(answer.get("metadata"), {"status": 200, "streamed": 200, "body": "ok"}, answer)
            self.assertEqual(asked, ["GET"] * 3 + ["POST"] * 3)
            asked.clear()
            answer = self.call("http", {"url": f"http://127.0.0.1:{server.server_port}/", "client": {"max_retries": 2}})
            self.assertEqual(answer["metadata"]["status"], 429)
            self.assertEqual(asked, ["GET"] * 2 + ["POST"] * 2)
        finally:
            server.shutdown()
            thread.join()
            server.server_close()

    def test_http_client_gives_up_with_the_last_error(self):
        with http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as server:
            url = f"http://127.0.0.1:{server.server_port}/"
        answer = self.call("http", {"url": url})
        self.assertIn("ConnectError", answer["message"])


class Load(unittest.TestCase):
    """What becomes of plugins that need more, of settings that do not fit, and of an installed gateway."""

    def start(self, class_path, **changes):
        worker = WorkerProcess()
        self.addCleanup(worker.__exit__)
        self.worker = worker
        return worker.start(class_path, ["tool_pre_invoke"], **changes)

    def folder(self, files):
        """A plugin folder with these files."""
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        for name, text in files.items():
            path = Path(directory.name, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return directory.name

    def test_services_of_the_gateway_fail_the_load(self):
        failed = self.start("needs_gateway.NeedsDatabase")
        self.assertEqual((failed["type"], failed["stage"]), ("failed", "import"))
        self.assertIn("mcpgateway.db is a service of the gateway that hookgate does not supply", failed["message"])
        self.assertIn("\nhint: add mcp-contextforge-gateway to `requirements`", failed["message"])

    def test_names_that_are_not_supplied_fail_the_load(self):
        failed = self.start("needs_name.NeedsName")
        self.assertEqual((failed["type"], failed["stage"]), ("failed", "import"))
        self.assertIn("hookgate supplies mcpgateway.config without 'UI_HIDABLE_SECTIONS'", failed["message"])

    def test_settings_that_do_not_fit_fail_the_load(self):
        for given, texts in (
            ({"HTTPX_MAX_CONNECTIONS": "many"}, ("'HTTPX_MAX_CONNECTIONS' is str, int is possible",)),
            ({"auth_required": []}, ("'auth_required' is list, bool is possible", "{auth_required: true}")),
            ({"jwt_secret_key": 5}, ("'jwt_secret_key' is int, SecretStr is possible",)),
        ):
            failed = self.start("gateway_imports.Old", settings=given)
            self.assertEqual((failed["type"], failed["stage"]), ("failed", "config"))
            for text in texts:
                self.assertIn(text, failed["message"])

    def test_nothing_of_it_is_imported_unasked(self):
        plugin = (
            "import sys\nfrom cpex.framework import Plugin, PluginResult\n"
            "class Seen(Plugin):\n    async def tool_pre_invoke(self, payload, context):\n"
            "        seen = [n for n in sys.modules if n.startswith(('mcpgateway', 'hookgate_worker.gateway_'))]\n"
            "        return PluginResult(metadata={'seen': seen})\n"
        )
        ready = self.start("seen.Seen", plugin_dirs=[self.folder({"seen.py": plugin})])
        self.assertEqual(ready["type"], "ready", ready)
        self.assertEqual(self.worker.call("tool_pre_invoke", {"name": "t"})["metadata"], {"seen": []})

    def test_an_installed_gateway_is_left_alone(self):
        reads = (
            "from cpex.framework import Plugin, PluginResult\nfrom mcpgateway.config import settings\n"
            "import mcpgateway\nclass Reads(Plugin):\n    async def tool_pre_invoke(self, payload, context):\n"
            "        try:\n            import mcpgateway.plugins.framework as old\n"
            "        except ModuleNotFoundError as error:\n            said = str(error)\n"
            "        return PluginResult(metadata={'port': settings.port, 'said': said, 'is': mcpgateway.IS})\n"
        )
        folder = self.folder(
            {
                "reads.py": reads,
                "mcpgateway/__init__.py": "IS = 'real'\n",
                "mcpgateway/config.py": "class settings:\n    port = 1\n",
            }
        )
        ready = self.start("reads.Reads", plugin_dirs=[folder], settings={"port": 2})
        self.assertEqual(ready["type"], "ready", ready)
        self.assertEqual(
            self.worker.call("tool_pre_invoke", {"name": "t"})["metadata"],
            {"port": 1, "said": "No module named 'mcpgateway.plugins'", "is": "real"},
        )

    def test_a_plugin_s_own_folder_may_have_the_gateway_s_name(self):
        mine = (
            "from mcpgateway.plugins.framework import Plugin, PluginResult\nfrom mcpgateway.plugins.mine import VALUE\n"
            "class Mine(Plugin):\n    async def tool_pre_invoke(self, payload, context):\n"
            "        return PluginResult(metadata={'value': VALUE})\n"
        )
        files = {"mcpgateway/plugins/own.py": mine, "mcpgateway/plugins/mine.py": "VALUE = 3\n"}
        ready = self.start("mcpgateway.plugins.own.Mine", plugin_dirs=[self.folder(files)])
        self.assertEqual(ready["type"], "ready", ready)
        self.assertEqual(self.worker.call("tool_pre_invoke", {"name": "t"})["metadata"], {"value": 3})


class Primary(unittest.TestCase):
    """One of a plugin's workers is the primary one."""

    def test_the_next_takes_over_when_the_primary_is_gone(self):
        with tempfile.TemporaryDirectory() as directory:
            given = {"primary_worker_lock_path": str(Path(directory, "lock"))}

            def primary(worker):
                return worker.call("tool_pre_invoke", {"name": "primary"})["metadata"]["primary"]

            with WorkerProcess() as first, WorkerProcess() as second:
                for worker in (first, second):
                    worker.start("gateway_imports.Old", ["tool_pre_invoke"], settings=given)
                self.assertEqual([primary(first), primary(second)], [[True, True], [False, False]])
                first.process.kill()
                first.process.wait()
                self.assertEqual(primary(second), [True, True])

    def test_another_election_has_no_primary(self):
        with WorkerProcess() as worker:
            worker.start(
                "gateway_imports.Old", ["tool_pre_invoke"], settings={"primary_worker_election_backend": "redis"}
            )
            answer = worker.call("tool_pre_invoke", {"name": "primary"})
            self.assertEqual(answer["metadata"]["primary"], [False, False])
            worker.log_with("primary_worker_election_backend is 'redis', 'filelock' is possible")


if __name__ == "__main__":
    unittest.main()
