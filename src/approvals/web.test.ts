import assert from "node:assert/strict";
import { test } from "node:test";
import { callOf, inSandbox } from "../../test/world/judging.ts";
import { type CallFacts, openApprovals } from "./approvals.ts";
import { defaultRules } from "./rules.ts";

const approvals = openApprovals({ rules: defaultRules, checkers: [] });

const named = "https://a.example/x?y=1";
const outward: readonly (readonly [tool: string, given: object, facts: Partial<CallFacts>, verdict: string])[] = [
  ["fetch_web", { url: named }, {}, "allow"],
  ["fetch_web", { url: named }, { tainted: true, addressNamed: true }, "allow"],
  ["fetch_web", { url: named }, { tainted: true }, "ask network medium GET https://a.example /x?y=1"],
  ["jina_reader", { url: named }, { tainted: true }, "ask network medium GET https://a.example /x?y=1"],
  ["http_fetch", { method: "GET", url: named }, {}, "allow"],
  ["http_fetch", { method: "HEAD", url: named }, { tainted: true }, "ask network medium HEAD https://a.example /x?y=1"],
  ["http_fetch", { method: "GET", url: named, headers: "" }, { tainted: true, addressNamed: true }, "allow"],
  [
    "http_fetch",
    { method: "GET", url: named, headers: "X-Data: all of it" },
    { tainted: true, addressNamed: true },
    "ask network medium GET https://a.example /x?y=1",
  ],
  ["http_fetch", { method: "POST", url: named }, {}, "ask network medium POST https://a.example /x?y=1"],
  [
    "http_fetch",
    { method: "DELETE", url: named },
    { tainted: true, addressNamed: true },
    "ask network raised to high DELETE https://a.example /x?y=1",
  ],
  ["http_fetch", { method: "PUT", url: "nonsense" }, {}, "ask network medium PUT nonsense"],
  ["web_search", { query: "tides" }, { tainted: true }, "allow"],
];

test("reading the web goes by itself; what may change something there asks, and so do addresses that nobody named, after text from outside was read [H1][T7]", () => {
  const said = outward.map(([tool, given, facts]) => {
    const { verdict, findings } = approvals.judge(callOf(tool, { ...given }), { ...inSandbox, ...facts }, []);
    // Only what text from outside made graver says so.
    const told = findings.map(({ kind, risk, what, raised }) => `${kind} ${raised ? "raised to " : ""}${risk} ${what}`);
    return [verdict, ...told].join(" ");
  });
  assert.deepEqual(
    said,
    outward.map(([, , , verdict]) => verdict),
  );
});

test("one host of the web can be allowed always, and no other with it [H2][T7]", () => {
  const post = (url: string) => callOf("http_fetch", { method: "POST", url });
  const { always } = approvals.judge(post("https://a.example/1"), inSandbox, []);
  assert.deepEqual(always.at(-1), {
    match: "findings",
    covers: [{ kind: "network", pattern: "POST https://a.example *", risk: "medium" }],
  });
  const match = always.at(-1) ?? assert.fail();
  const stored = [{ id: "r", tool: "http_fetch", scope: "user", match, at: 0, by: "local" } as const];
  const verdictOf = (url: string) => approvals.judge(post(url), inSandbox, stored).verdict;
  assert.deepEqual(
    ["https://a.example/2", "https://a.example.evil.test/2", "http://a.example/2", "https://b.example/"].map(verdictOf),
    ["allow", "ask", "ask", "ask"],
  );
});
