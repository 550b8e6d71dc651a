import assert from "node:assert/strict";
import { test } from "node:test";
import { ownCookie, setCookie, waysIn } from "./cookie.ts";

test("of all cookies only those go further that a sign-in through a service needs, by each of their names [C6][N1]", () => {
  const names = (["http", "https"] as const).flatMap((scheme) =>
    ["", "/yard"].map((prefix) => ownCookie("agentyard-way", { scheme, prefix })),
  );
  assert.deepEqual(names, ["agentyard-way", "agentyard-way", "__Host-agentyard-way", "__Secure-agentyard-way"]);
  const ways = [...new Set(names)].map((name) => `${name}=sealed`);
  const others = ["agentyard=secret", "__Host-agentyard=secret", "xagentyard-way=1", "agentyard-ways=1"];
  assert.equal(waysIn([...others, ...ways].join(";  ")), ways.join("; "));
  assert.equal(waysIn(undefined), "");
});

test("a cookie is set for the path that we are served below, in whole seconds, and over https for https alone [C6]", () => {
  const set = (at: Parameters<typeof setCookie>[2]) => setCookie("a", "v", at);
  assert.equal(set({ scheme: "http", prefix: "", seconds: 1.6 }), "a=v; Path=/; Max-Age=2; HttpOnly; SameSite=Lax");
  assert.equal(
    set({ scheme: "https", prefix: "/yard", path: "/sign-in", seconds: -1 }),
    "a=v; Path=/yard/sign-in; Max-Age=0; HttpOnly; SameSite=Lax; Secure",
  );
});
