import assert from "node:assert/strict";
import { test } from "node:test";
import { noteWeb, siteServer } from "../world/web.ts";

// What a model could be talked into asking for. The connector notes who would have been called: it must be nobody.

const { signal } = new AbortController();

/** What names mean: one list of addresses for each time that somebody asks; the last one stays. */
function namesOf(zone: Readonly<Record<string, readonly (readonly string[])[]>>) {
  const asked: string[] = [];
  const lookup = async (host: string) => {
    asked.push(host);
    const turns = zone[host] ?? [];
    return turns[Math.min(asked.filter((one) => one === host).length, turns.length) - 1] ?? [];
  };
  return { asked, lookup };
}

/** Each with the reason it is refused for. Port 80 or 443, so that nothing but the host is the matter. */
const refused: Readonly<Record<string, readonly string[]>> = {
  private: listed(`
    http://127.0.0.1/ http://127.255.255.254/ http://10.0.0.1/ http://172.16.0.1/ http://192.168.1.1/ http://100.64.0.1/
    http://192.0.2.1/ http://198.18.0.1/ http://203.0.113.9/ https://[::1]/ http://[fd00::1]/ http://[fc00::1]/
    http://[2001:db8::1]/ http://[::7f00:1]/ http://[::127.0.0.1]/
    // One address in many spellings: decimal, octal, hexadecimal, short, with wide digits, with a dot at the end.
    http://2130706433/ http://0177.0.0.1/ http://0x7f.0.0.1/ http://0x7f000001/ http://127.1/ http://127.0.1/
    http://017700000001/ http://１２７.0.0.1/ http://127。0。0。1/ http://127.0.0.1./ http://%31%32%37.0.0.1/
    http://①②⑦.0.0.1/ HTTP://127.0.0.1 http:/127.0.0.1/ 127.0.0.1 //127.0.0.1/
    // Names that mean this machine or its network, whoever is asked.
    http://localhost/ http://LOCALHOST./ http://a.localhost/ http://printer.local/ http://intranet/ http://nas.lan/
    http://metadata.google.internal/computeMetadata/v1/ http://ｌocalhost/ localhost:80`),
  never: listed(`
    http://0.0.0.0/ http://0/ http://0x0/ http://169.254.169.254/latest/meta-data/ http://2852039166/ http://0xA9FEA9FE/
    http://0251.0376.0251.0376/ http://168.63.129.16/ http://100.100.100.200/ http://224.0.0.1/ http://255.255.255.255/
    http://240.0.0.1/ http://[::]/ http://[ff02::1]/ http://[fe80::1]/ http://[fd00:ec2::254]/ http://[::ffff:127.0.0.1]/
    http://[::ffff:7f00:1]/ http://[::ffff:169.254.169.254]/ http://[0:0:0:0:0:ffff:10.0.0.1]/ http://[64:ff9b::7f00:1]/
    http://[64:ff9b:1::a00:1]/ http://[2002:7f00:1::]/ http://[2001:0:7f00:1::]/ http://[::ffff:0:127.0.0.1]/`),
  form: [
    ...[
      "",
      "   ",
      "http://a b/",
      "http://127.0.0.1\t.example.com/",
      "http://exam\nple.com/",
      "http://a\u200b.example/",
    ],
    `http://a.example/${"x".repeat(8_192)}`,
    ...listed(`
      http:// http://[fe80::1%25eth0]/ http://[fe80::1%eth0]/ http://127.0.0.1:99999/ http:127.0.0.1/
      http://256.256.256.256/ http://1.2.3.4.5/ http://a.example:0/ http://[::1/`),
  ],
  scheme: listed(`
    file:///etc/passwd file:/etc/passwd ftp://example.com/ gopher://127.0.0.1:6379/_INFO data:text/html,x
    javascript:alert(1) dict://127.0.0.1:11211/ unix:///var/run/docker.sock ws://example.com/ about:blank`),
  credentials: listed(`
    http://user@example.com/ http://user:pass@example.com/ https://example.com@127.0.0.1/ http://:x@example.com/`),
  port: listed("http://example.com:22/ http://example.com:25/ https://example.com:6379/ http://8.8.8.8:53/"),
};

/** Parted by blanks; a line that begins with two slashes and a blank is a remark. */
function listed(text: string): string[] {
  const lines = text.split("\n").filter((line) => !line.trim().startsWith("// "));
  return lines.flatMap((line) => line.trim().split(" ")).filter(Boolean);
}

for (const [why, urls] of Object.entries(refused)) {
  test(`addresses are refused and nobody is called: ${why} [T7]`, async () => {
    const { web, called, looked } = noteWeb({ lookup: async () => ["93.184.215.14"] });
    for (const url of urls) {
      const answer = await web.fetch({ url, signal });
      assert.deepEqual(
        [url, answer.ok ? "reached" : `${answer.failure.code} ${answer.failure.params.why}`],
        [url, `web_address_refused ${why}`],
      );
    }
    assert.deepEqual({ called, looked }, { called: [], looked: [] });
  });
}

test("a password in an address that is refused is not told [T7]", async () => {
  const { web } = noteWeb();
  for (const url of ["http://me:hunter2@example.com/", "ftp://me:hunter2@example.com/", "http://me:hunter2@[::1/"]) {
    const answer = await web.fetch({ url, signal });
    assert.ok(!JSON.stringify(answer).includes("hunter2"), url);
  }
});

test("a name that leads to a private address is refused, also when only one of its addresses may be reached [T7]", async () => {
  const inside = ["10.0.0.7", "127.0.0.1", "169.254.169.254", "::1", "fd00::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1"];
  const zone = Object.fromEntries(inside.map((address, n) => [`n${n}.example.com`, [[address]]]));
  const mixed = ["10.0.0.7", "93.184.215.14", "::1"];
  const { lookup } = namesOf({ ...zone, "mixed.example.com": [mixed] });
  const { web, called } = noteWeb({ lookup });
  for (const name of Object.keys(zone)) {
    const answer = await web.fetch({ url: `https://${name}/`, signal });
    assert.equal(answer.ok ? "" : answer.failure.code, "web_address_refused", name);
  }
  assert.deepEqual(called, []);
  const answer = await web.fetch({ url: "http://mixed.example.com/", signal });
  assert.deepEqual([answer.ok ? "" : answer.failure.params.why, called], ["unreachable", ["93.184.215.14:80"]]);
});

test("a name that means somebody else a moment later leads to the address that was looked at, or nowhere [T7]", async () => {
  const { lookup, asked } = namesOf({
    "rebind.example.com": [["93.184.215.14"], ["127.0.0.1"]],
    "both.example.com": [["2606:2800:21f:cb07::1"], ["::1"]],
  });
  const { web, called } = noteWeb({ lookup });
  const fates: unknown[] = [];
  for (const url of [
    "http://rebind.example.com/",
    "http://rebind.example.com/",
    "https://both.example.com/",
    "https://both.example.com/",
  ]) {
    const answer = await web.fetch({ url, signal });
    fates.push(answer.ok ? "reached" : answer.failure.params.why);
  }
  assert.deepEqual(fates, ["unreachable", "private", "unreachable", "private"]);
  // Once for each request: between the look and the call nobody is asked again.
  assert.deepEqual(asked, ["rebind.example.com", "rebind.example.com", "both.example.com", "both.example.com"]);
  assert.deepEqual(called, ["93.184.215.14:80", "2606:2800:21f:cb07::1:443"]);
});

test("every redirect is judged anew: none leads inside, to another scheme or to another port [T7]", async (t) => {
  const goals = [
    ...["http://127.0.0.1/", "http://169.254.169.254/latest/", "//[::1]/", "http://2130706433/", "http://localhost/"],
    ...[
      "file:///etc/passwd",
      "http://x:y@example.com/",
      "http://example.com:22/",
      "http://rebound.example.com/",
      "http://[",
    ],
  ];
  const port = await siteServer(t, (request, response) => {
    response.writeHead(302, { location: goals[Number(request.url?.slice(1))] }).end();
  });
  const { web, called } = noteWeb({
    lookup: async (host) => (host === "rebound.example.com" ? ["10.1.1.1"] : ["93.184.215.14"]),
    reach: (address) => (address === "93.184.215.14" ? port : undefined),
  });
  const fates: unknown[] = [];
  for (const number of goals.keys()) {
    const answer = await web.fetch({ url: `http://example.com/${number}`, signal });
    fates.push(answer.ok ? "reached" : `${answer.failure.code} ${answer.failure.params.why}`);
  }
  const whys = "private never private private private scheme credentials port private form".split(" ");
  assert.deepEqual(
    fates,
    whys.map((why) => `web_address_refused ${why}`),
  );
  assert.deepEqual(new Set(called), new Set(["93.184.215.14:80"]));
  assert.equal(called.length, goals.length);
});

test("an operator opens a private host by its name and port, and nothing else with it [T7]", async (t) => {
  const port = await siteServer(t, (request, response) => {
    if (request.url === "/away") response.writeHead(302, { location: "http://other.corp/" });
    response.end("wiki");
  });
  const { web, called } = noteWeb({
    settings: { privateHosts: ["wiki.corp:8090", "127.0.0.1:8090", "meta.corp"] },
    lookup: async (host) => (host === "meta.corp" ? ["169.254.169.254"] : ["10.0.0.5"]),
    reach: () => port,
  });
  const fateOf = async (url: string) => {
    const answer = await web.fetch({ url, signal });
    return answer.ok ? answer.value.bytes.toString() : answer.failure.params.why;
  };
  assert.equal(await fateOf("http://wiki.corp:8090/"), "wiki");
  assert.equal(await fateOf("http://127.0.0.1:8090/"), "wiki");
  assert.equal(await fateOf("http://wiki.corp/"), "private");
  assert.equal(await fateOf("http://wiki.corp:8090/away"), "private");
  assert.equal(await fateOf("http://meta.corp/"), "never");
  assert.deepEqual(called, ["10.0.0.5:8090", "127.0.0.1:8090", "10.0.0.5:8090"]);
});

test("where an operator names hosts, no other one is reached [T7]", async () => {
  const { web, called } = noteWeb({ settings: { hosts: ["*.example.com"] }, lookup: async () => ["93.184.215.14"] });
  const fates: unknown[] = [];
  for (const url of ["https://a.example.com/", "https://example.org/", "https://1.1.1.1/"]) {
    const answer = await web.fetch({ url, signal });
    fates.push(answer.ok ? "reached" : `${answer.failure.code} ${answer.failure.params.why}`);
  }
  const kept = "web_address_refused host";
  assert.deepEqual([fates, called], [["web_fetch_failed unreachable", kept, kept], ["93.184.215.14:443"]]);
});
