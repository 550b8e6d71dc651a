import assert from "node:assert/strict";
import { test } from "node:test";
import { kindOf } from "./address.ts";
import { isAmong, patternOf } from "./allowed.ts";

test("addresses are told apart: those of everybody, those that an operator may open, and those of nobody [X5]", () => {
  const addresses = {
    public: ["8.8.8.8", "172.32.0.1", "100.63.0.1", "2606:4700::1111", "2a00:1450:4001::200e"],
    private: [
      ...["10.0.0.1", "127.0.0.1", "127.255.255.254", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1"],
      ...["192.0.2.1", "198.18.0.1", "::1", "fd00::1", "fc00::1", "2001:db8::1", "::7f00:1", "4000::1"],
    ],
    never: [
      ...["0.0.0.0", "0.1.2.3", "169.254.169.254", "224.0.0.1", "240.0.0.1", "255.255.255.255", "168.63.129.16"],
      ...["100.100.100.200", "fd00:ec2::254", "::", "::ffff:8.8.8.8", "::ffff:7f00:1", "64:ff9b::8.8.8.8", "ff02::1"],
      ...["2002:7f00:1::", "2001:0:1::", "fe80::1", "fe80::1%lo", "localhost", "2130706433", "0177.0.0.1", ""],
    ],
  };
  for (const [kind, all] of Object.entries(addresses))
    for (const address of all) assert.deepEqual([address, kindOf(address)], [address, kind]);
});

test("a host is allowed by its whole name and its port; a star stands for what is below a name [X5]", () => {
  const patterns = ["pypi.org", "*.example.com", "mirror.local:8080", "*.cdn.test:444", "[::1]:8090", "[fd00::5]"];
  const cases: readonly (readonly [host: string, port: number, isAllowed: boolean])[] = [
    ...([
      ["pypi.org", 443, true],
      ["pypi.org", 80, true],
      ["pypi.org", 22, false],
      ["x.pypi.org", 443, false],
    ] as const),
    ...([
      ["a.example.com", 443, true],
      ["a.b.example.com", 80, true],
      ["example.com", 443, false],
    ] as const),
    ...([
      ["badexample.com", 443, false],
      [".example.com", 443, false],
      ["a.example.com", 8080, false],
    ] as const),
    ...([
      ["mirror.local", 8080, true],
      ["mirror.local", 443, false],
      ["a.cdn.test", 444, true],
      ["::1", 8090, true],
      ["::1", 443, false],
      ["fd00::5", 443, true],
    ] as const),
  ];
  for (const [host, port, isAllowed] of cases)
    assert.deepEqual([host, port, isAmong(patterns, host, port)], [host, port, isAllowed]);
  const urls = ["https://pypi.org/simple", "http://Mirror.local:8080/x", "http://a.test", "https://u:p@b.test:1/"];
  assert.deepEqual(urls.map(patternOf), ["pypi.org:443", "mirror.local:8080", "a.test:80", "b.test:1"]);
});
