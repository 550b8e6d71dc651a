import assert from "node:assert/strict";
import type { NetworkInterfaceInfo } from "node:os";
import { test } from "node:test";
import { openableAddress } from "../../src/openable-address.ts";

test("a server that listens everywhere is named by an address that a browser can open [P2]", () => {
  const lan = { lo: [on("127.0.0.1", true)], eth0: [on("169.254.1.1"), on("fe80::1"), on("fd00::2"), on("192.0.2.7")] };
  assert.equal(openableAddress("http://0.0.0.0:7420", lan), "http://192.0.2.7:7420");
  assert.equal(openableAddress("http://[::]:7420", lan), "http://192.0.2.7:7420");
  assert.equal(openableAddress("http://[::]:7420", { eth0: [on("fd00::2")] }), "http://[fd00::2]:7420");
  assert.equal(openableAddress("http://0.0.0.0:7420", { lo: [on("127.0.0.1", true)] }), "http://127.0.0.1:7420");
  for (const one of ["http://127.0.0.1:7420", "http://10.0.0.0:7420", "http://[::1]:7420"])
    assert.equal(openableAddress(one, lan), one);
});

function on(address: string, internal = false): NetworkInterfaceInfo {
  const more = { address, internal, netmask: "", mac: "", cidr: null };
  return address.includes(":") ? { ...more, family: "IPv6", scopeid: 0 } : { ...more, family: "IPv4" };
}
