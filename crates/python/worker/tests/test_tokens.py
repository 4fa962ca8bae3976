"""The hooks about tokens: known without the plugin's help, and secrets in their payloads and results."""

import unittest

from driver import WorkerProcess

TOKEN = "eyJhbGciOi.J9.abcdef"
MINTED = "minted-0123456789"


class Tokens(unittest.TestCase):
    """One worker, asked about both hooks."""

    @classmethod
    def setUpClass(cls):
        cls.worker = WorkerProcess().__enter__()
        cls.ready = cls.worker.start("minting.Minting", ["identity_resolve", "token_delegate"])

    @classmethod
    def tearDownClass(cls):
        cls.worker.__exit__()

    def resolve(self, do):
        return self.worker.call("identity_resolve", {"raw_token": TOKEN, "client_host": do})

    def delegate(self, kind):
        return self.worker.call("token_delegate", {"target_name": "t", "target_type": kind, "bearer_token": TOKEN})

    def test_the_hooks_are_served(self):
        self.assertEqual(self.ready["type"], "ready", self.ready)
        self.assertEqual(self.ready["hooks"], ["identity_resolve", "token_delegate"])

    def test_an_identity_is_a_result_with_its_secrets_dumped(self):
        answer = self.resolve("identity")
        self.assertEqual((answer["verdict"], answer["edits"]), ("allow", []))
        claims = {"length": len(TOKEN), "secret": "**********", "type": "IdentityPayload"}
        self.assertEqual(answer["result"]["raw_claims"], claims)
        self.assertEqual(answer["result"]["reject_status"], 401)

    def test_a_payload_that_comes_back_keeps_its_token(self):
        answer = self.resolve("same")
        self.assertEqual((answer["verdict"], answer["edits"], answer["result"]), ("allow", [], None))

    def test_a_payload_with_another_token_is_a_fault(self):
        for do in ("other", "none", "plain"):
            answer = self.resolve(do)
            self.assertEqual((answer["type"], answer.get("kind")), ("fault", "plugin_error"), do)
            self.assertIn("raw_token of the payload that hook 'identity_resolve' returned", answer["message"])
            self.assertNotIn(TOKEN, str(answer))
        answer = self.delegate("bearer")
        self.assertIn("bearer_token of the payload that hook 'token_delegate' returned", answer["message"])
        self.assertNotIn(MINTED, answer["message"])

    def test_a_token_for_the_target_is_in_clear_whatever_its_type(self):
        for kind, expected in (("str", MINTED), ("secret", MINTED), ("bytes", MINTED), ("none", None)):
            answer = self.delegate(kind)
            self.assertEqual(answer["type"], "answer", answer)
            self.assertEqual(answer["result"]["delegated_token"], expected, kind)

    def test_a_call_that_does_not_fit_shows_no_token(self):
        answer = self.worker.call("identity_resolve", {"raw_token": TOKEN, "headers": TOKEN})
        self.assertEqual((answer["type"], answer["kind"]), ("fault", "plugin_error"))
        self.assertNotIn(TOKEN, str(answer))


if __name__ == "__main__":
    unittest.main()
