import assert from "node:assert/strict";
import { test } from "node:test";
import { networkOf, openArrivals } from "./arrival.ts";

/** What is known of a request that came over a connection from there. */
function arrived(headers: Record<string, string>, address = "10.0.0.1", basePath?: string) {
  const read = openArrivals(["10.0.0.0/8", "fe80::7"]);
  return read(new Request("http://inner:7420/x", { headers }), { door: "tcp", address, basePath });
}

test("of what several proxies say the last word counts, in whatever letters; what is no word of theirs counts as none [C6]", () => {
  const { address, host, scheme, prefix } = arrived({
    ...{ "x-forwarded-for": "192.0.2.1", "x-forwarded-proto": "http, HTTPS", "x-forwarded-prefix": "/evil, /yard/" },
    ...{ "x-forwarded-host": "evil.example, yard.example:8443", host: "inner:7420" },
  });
  assert.deepEqual([address, host, scheme, prefix], ["192.0.2.1", "yard.example:8443", "https", "/yard"]);
  const odd = arrived(
    { "x-forwarded-proto": "ftp", "x-forwarded-host": "", "x-forwarded-prefix": "" },
    "10.0.0.1",
    "/b",
  );
  assert.deepEqual([odd.host, odd.scheme, odd.prefix], ["inner:7420", undefined, "/b"]);
  for (const path of ['/a"><script>', "/a b", "/a;x=1", "a", "//evil", "/a//b", "/a?b"])
    assert.equal(arrived({ "x-forwarded-prefix": path }).prefix, "", path);
  const longest = `/${"a".repeat(199)}`;
  const prefixes = [longest, `${longest}a`].map((path) => arrived({ "x-forwarded-prefix": path }).prefix);
  assert.deepEqual(prefixes, [longest, ""], "a path that a proxy names is short");
  const untold = arrived({ "x-forwarded-proto": "https", "x-forwarded-prefix": "/yard" }, "192.0.2.9", "/b");
  assert.deepEqual([untold.scheme, untold.prefix, untold.host], [undefined, "/b", "inner:7420"], "from anybody else");
});

test("whatever a proxy adds shows that there is one: nobody behind it passes for this machine [C6]", () => {
  const added = [
    ...["x-forwarded-for", "x-forwarded", "x-forwarded-port", "forwarded", "via", "x-real-ip"],
    ...["x-original-forwarded-for", "x-original-host", "true-client-ip", "cf-connecting-ip"],
  ];
  const seen = added.filter((name) => {
    const { isFromHere, isVeiled } = arrived({ [name]: "127.0.0.1" }, "127.0.0.1");
    return !isFromHere && isVeiled;
  });
  assert.deepEqual(seen, added);
  const { isFromHere, isVeiled } = arrived({ "x-request-id": "r", "x-viaduct": "y" }, "127.0.0.1");
  assert.deepEqual([isFromHere, isVeiled], [true, false]);
});

test("a caller is the same one with a zone or in the other spelling, and all addresses of a home are one place [C6]", () => {
  assert.equal(arrived({ "x-forwarded-for": "192.0.2.7" }, "fe80::7%eth0").address, "192.0.2.7", "a proxy with a zone");
  assert.equal(arrived({ "x-forwarded-for": "::FFFF:192.0.2.7" }).address, "192.0.2.7");
  assert.equal(arrived({ "x-forwarded-for": "fe80::9%eth0, 10.1.1.1" }).address, "fe80::9");
  const places = {
    "2001:db8::1": "2001:db8:0:0",
    "2001:db8::ffff:1": "2001:db8:0:0",
    "2001:db8:1:2:3:4:5:6": "2001:db8:1:2",
    "2001::1:2:3:4:5:6": "2001:0:1:2",
    "::1": "0:0:0:0",
    "192.0.2.7": "192.0.2.7",
  };
  assert.deepEqual(Object.fromEntries(Object.keys(places).map((address) => [address, networkOf(address)])), places);
});

test("behind proxies alone the farthest of them is the caller, and of a connection that is gone nobody knows whether it was of here [C6]", () => {
  assert.equal(arrived({ "x-forwarded-for": "10.0.0.9, 10.0.0.8" }).address, "10.0.0.9");
  assert.equal(arrived({ "x-forwarded-for": "[2001:db8::1]:443, 10.1.1.1:80" }).address, "2001:db8::1");
  assert.equal(arrived({ "x-forwarded-for": "192.0.2.7" }).isVeiled, false, "who calls is told");
  const read = openArrivals([]);
  const isFromHere = (door: Parameters<typeof read>[1]) => read(new Request("http://inner/"), door).isFromHere;
  assert.deepEqual([isFromHere({}), isFromHere({ door: "tcp" })], [true, false]);
  assert.deepEqual(
    [isFromHere({ door: "tcp", address: "::1" }), isFromHere({ door: "tcp", address: "::2" })],
    [true, false],
  );
});
