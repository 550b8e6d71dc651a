import assert from "node:assert/strict";
import { test } from "node:test";
import type { Arrival } from "./arrival.ts";
import { isNavigation, isOurHost, pageOf, wantsPage } from "./origin.ts";

const arrival = (host: string, scheme?: Arrival["scheme"]): Arrival => ({
  ...{ address: "127.0.0.1", isVeiled: false, isFromHere: true, host, scheme, prefix: "" },
});
const asked = (headers: Record<string, string>, method = "GET") => new Request("http://here/", { method, headers });

test("an address in numbers is ours where all are listened on and everybody signs in, and nowhere else [C6]", () => {
  const ours = (host: string, listening: string, usersExist: boolean) =>
    isOurHost(arrival(host), { host: listening, trustedHosts: ["yard.example"] }, usersExist);
  const numbers = ["192.168.1.4:7420", "[2001:db8::1]:7420"];
  for (const host of numbers) {
    assert.deepEqual([ours(host, "0.0.0.0", true), ours(host, "::", true)], [true, true], host);
    assert.deepEqual([ours(host, "0.0.0.0", false), ours(host, "::", false)], [false, false], host);
    assert.equal(ours(host, "127.0.0.1", true), false, host);
  }
  assert.deepEqual([ours("[fd00::7]:1", "fd00::7", false), ours("[fd00::8]:1", "fd00::7", false)], [true, false]);
  assert.deepEqual(
    [ours("YARD.example", "127.0.0.1", false), ours("my.yard.example", "127.0.0.1", false)],
    [true, false],
  );
  for (const odd of [
    "evil.example@localhost",
    "localhost,evil.example",
    "localhost/x",
    "localhost?x",
    "local host",
    "",
  ])
    assert.equal(ours(odd, "127.0.0.1", true), false, odd);
});

test("a page is ours by the address and the scheme that its browser called, of which either counts where none is known [C6]", () => {
  const page = (headers: Record<string, string>, scheme?: Arrival["scheme"]) =>
    pageOf(asked(headers), arrival("yard.example", scheme), ["https://app.example"]);
  const [plain, safe] = [{ origin: "http://yard.example" }, { origin: "https://yard.example" }];
  assert.deepEqual([page(plain, "http"), page(safe, "http")], ["ours", "other"]);
  assert.deepEqual([page(plain, "https"), page(safe, "https")], ["other", "ours"]);
  assert.deepEqual([page(plain), page(safe)], ["ours", "ours"]);
  const sites = ["same-origin", "none", "same-site", "cross-site"].map((site) => page({ "sec-fetch-site": site }));
  assert.deepEqual(sites, ["none", "none", "other", "other"]);
  assert.equal(page({ ...plain, "sec-fetch-site": "cross-site" }, "http"), "other");
  assert.equal(page({ origin: "https://app.example", "sec-fetch-site": "cross-site" }), "named");
  assert.equal(page({}), "none");
});

test("whoever follows a link waits for a page, to look at it or to look whether it is there, and a script does not [C6]", () => {
  const told = (headers: Record<string, string>) =>
    ["GET", "HEAD", "POST"].map((method) => [isNavigation(asked(headers, method)), wantsPage(asked(headers, method))]);
  const [yes, no] = [
    [true, true],
    [false, false],
  ];
  assert.deepEqual(told({ "sec-fetch-mode": "navigate" }), [yes, yes, no]);
  assert.deepEqual(told({ "sec-fetch-mode": "cors", accept: "text/html" }), [no, no, no]);
  const plain = [false, true];
  assert.deepEqual(told({ accept: "text/html,application/xhtml+xml" }), [plain, plain, no]);
  assert.deepEqual(told({ accept: "application/json" }), [no, no, no]);
});
