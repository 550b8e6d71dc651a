import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer as createTlsServer } from "node:https";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { cannotStart } from "../contracts/sandbox-guests.ts";
import { attempt, newFolder } from "./guest.ts";
import { forbidden, heard, mirror, openReaching, port, portOf, reaching, said, secret } from "./reaching.ts";

// Whom a program reaches with the one way out that an operator has opened for it, and whom not.

const options = { skip: cannotStart };

test(
  "a program reaches the host that is allowed, by http and through a tunnel, with the tools that people use [X5]",
  options,
  async () => {
    const [first = ""] = [
      await attempt(await reaching(), {
        language: "bash",
        code: `curl -sS http://${mirror}/a; curl -sSp http://${mirror}/b; python3 -c "import urllib.request as u; print(u.urlopen('http://${mirror}/c').read())"`,
      }),
    ];
    assert.equal(first, "hellohellob'hello' | done 0");
    assert.deepEqual(heard.slice(-3), [`GET ${mirror} /a`, `GET ${mirror} /b`, `GET ${mirror} /c`]);
  },
);

test(
  "a program reaches an allowed host by https, and it is the program that checks the certificate [X5]",
  options,
  async () => {
    const folder = newFolder();
    const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
    const made = spawnSync("openssl", [
      ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"],
      ...["-subj", "/CN=tls.test", "-addext", "subjectAltName=DNS:tls.test", "-keyout", key, "-out", certificate],
    ]);
    assert.equal(made.status, 0, String(made.stderr));
    const server = createTlsServer({ key: readFileSync(key), cert: readFileSync(certificate) }, (_, response) =>
      response.end("hello by tls"),
    );
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    after(() => server.close());
    const place = `tls.test:${portOf(server)}`;
    const trusting = await openReaching({ hosts: [place], privateHosts: [place] });
    const pem = JSON.stringify(readFileSync(certificate, "utf8"));
    const code = `
import ssl, urllib.request, urllib.error
def read(context=None):
    try:
        return urllib.request.urlopen("https://${place}/", context=context).read().decode()
    except urllib.error.URLError as error:
        return type(error.reason).__name__
say([read(ssl.create_default_context(cadata=${pem})), read()])
`;
    assert.deepEqual(await said(code, trusting), ["hello by tls", "SSLCertVerificationError"]);
  },
);

test(
  "attack 181: reaching a host that nobody allowed is stopped by the list, which the answer names [X5]",
  options,
  async () => {
    const answer = await said(`say(ask(tunnel("evil.test:443")))`);
    const text =
      "evil.test:443 is not allowed here; an operator can add it to sandbox.network_hosts in config/agentyard.yaml";
    assert.match(String(answer), new RegExp(`^HTTP/1.1 403 Forbidden: ${text}\r\n.*\r\n\r\n${text}\n$`, "s"));
    const { logged } = await reaching();
    assert.deepEqual(
      logged.at(-1),
      `a program was kept from the network {"owner":"local","why":"host","host":"evil.test","port":443}`,
    );
  },
);

test("attack 182: names that only look like an allowed one are stopped by whole names [X5]", options, async () => {
  const names = [
    "evilallowed.test",
    "allowed.test",
    "a.allowed.test.evil.test",
    "mirror.test.evil.test",
    "xmirror.test",
  ];
  const answers = await said(
    `say([status(tunnel(name + ":443")) for name in ${JSON.stringify(names)}] + [status(tunnel("a.b.allowed.test:443"))])`,
  );
  // The last one is allowed by its name, and not by its address.
  assert.deepEqual(answers, new Array(6).fill(forbidden));
  assert.match((await reaching()).logged.at(-1) ?? "", /"why":"private","host":"a\.b\.allowed\.test"/);
});

test(
  "attack 183: other ports of an allowed host, mail and shells among them, are stopped by the list [X5]",
  options,
  async () => {
    const places = [
      `mirror.test:${secret}`,
      "mirror.test:22",
      "mirror.test:25",
      "mirror.test:443",
      "allowed.test:443",
      "a.allowed.test:8443",
    ];
    assert.deepEqual(
      await said(`say([status(tunnel(place)) for place in ${JSON.stringify(places)}])`),
      new Array(6).fill(forbidden),
    );
  },
);

test(
  "attack 184: this machine, the network around it and the cloud's credentials by any spelling are stopped by the list [X5]",
  options,
  async () => {
    const hosts = [
      "127.0.0.1",
      "localhost",
      "2130706433",
      "0177.0.0.1",
      "0x7f.1",
      "127.1",
      "0",
      "169.254.169.254",
      "[::1]",
      "[::ffff:127.0.0.1]",
      "[::ffff:7f00:1]",
      "10.0.0.1",
    ];
    const code = `say([status(request) for host in ${JSON.stringify(hosts)} for request in (tunnel(host + ":${secret}"), get("http://" + host + ":${secret}/"))])`;
    assert.deepEqual(await said(code), new Array(24).fill(forbidden));
  },
);

test(
  "attack 185: an allowed name that leads to a private address is stopped when it is looked up [X5]",
  options,
  async () => {
    for (const [addresses, why] of [
      [["10.1.2.3"], "private"],
      [["127.0.0.1", "::1"], "private"],
      [["fd12::1"], "private"],
      [["100.64.0.1"], "private"],
      [["169.254.169.254"], "never"],
      [["::ffff:169.254.169.254"], "never"],
      [["64:ff9b::a9fe:a9fe"], "never"],
      [["2002:7f00:1::"], "never"],
      [["0.0.0.0"], "never"],
      [["224.0.0.1", "fe80::1"], "never"],
    ] as const) {
      const attacked = await openReaching({ hosts: ["mirror.test"], privateHosts: [], lookup: async () => addresses });
      assert.equal(await said(`say(status(tunnel("mirror.test:80")))`, attacked), forbidden);
      assert.match(attacked.logged.at(-1) ?? "", new RegExp(`"why":"${why}"`));
      await attacked.guest.close("done");
    }
  },
);

test(
  "attack 186: the cloud's credentials stay out of reach also by a name whose private address is allowed [X5]",
  options,
  async () => {
    const attacked = await openReaching({ lookup: async () => ["169.254.169.254", "0.0.0.0", "::"] });
    assert.equal(await said(`say(status(tunnel("${mirror}")))`, attacked), forbidden);
  },
);

test(
  "attack 187: a name that changes its address after the check is stopped by one look only [X5]",
  options,
  async () => {
    const before = heard.length;
    let looks = 0;
    const rebinding = await openReaching({
      privateHosts: [],
      async lookup() {
        looks += 1;
        // A public address that nobody has; then this machine.
        return looks === 1 ? ["3ffe::1"] : ["127.0.0.1"];
      },
      limits: { connectMsMax: 200 },
    });
    assert.equal(await said(`say(status(get("http://${mirror}/")))`, rebinding), "502 Bad Gateway");
    assert.deepEqual([looks, heard.length], [1, before]);
  },
);

test(
  "attack 187b: a name that leads to a public address and to this machine is stopped by leaving the second one out [X5]",
  options,
  async () => {
    const before = heard.length;
    const both = await openReaching({
      privateHosts: [],
      lookup: async () => ["127.0.0.1", "3ffe::1"],
      limits: { connectMsMax: 200 },
    });
    assert.equal(await said(`say(status(get("http://${mirror}/")))`, both), "502 Bad Gateway");
    assert.equal(heard.length, before);
  },
);

test(
  "attack 187c: approving for the user at the port of AgentYard itself is stopped also where that host is allowed [X5][H1]",
  options,
  async () => {
    const before = heard.length;
    const all = Object.values(networkInterfaces()).flatMap((some) => some ?? []);
    const mine = all.find(({ internal, family }) => !internal && family === "IPv4");
    const text = `${mirror} is AgentYard itself, which no program may reach`;
    for (const address of ["127.0.0.1", "127.0.0.2", "::1", mine?.address ?? "127.0.0.1"]) {
      const shut = await openReaching({ lookup: async () => [address], ownPorts: new Set([port]) });
      assert.deepEqual(await said(`say([status(get("http://${mirror}/")), ask(tunnel("${mirror}"))])`, shut), [
        forbidden,
        `HTTP/1.1 403 Forbidden: ${text}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${text.length + 1}\r\nConnection: close\r\n\r\n${text}\n`,
      ]);
      await shut.guest.close("done");
    }
    assert.equal(heard.length, before);
    const beside = await openReaching({ ownPorts: new Set([port + 1]) });
    assert.equal(await said(`say(status(get("http://${mirror}/")))`, beside), "200 OK");
  },
);

test(
  "attack 188: being sent on to a host that is not allowed is stopped at the second step [X5]",
  options,
  async () => {
    const code = `import urllib.request, urllib.error
try:
    say(urllib.request.urlopen("http://${mirror}/away").read().decode())
except urllib.error.HTTPError as error:
    say([error.code, error.read().decode().split(" ")[0]])`;
    assert.deepEqual(await said(code), [403, `secret.test:${port}`]);
  },
);

test(
  "attack 189: naming another host in the header is stopped by the name that was checked [X5]",
  options,
  async () => {
    const before = heard.length;
    const code = `say(status("GET http://${mirror}/fronted HTTP/1.1\\r\\nHost: secret.test\\r\\nhost: other.test\\r\\nProxy-Authorization: x\\r\\nConnection: keep-alive, x-hop\\r\\nX-Hop: 1\\r\\n\\r\\n"))`;
    assert.equal(await said(code), "200 OK");
    assert.deepEqual(heard.slice(before), [`GET ${mirror} /fronted`]);
  },
);

test(
  "attack 190: requests that two readers could take for different ones are stopped by a strict reader [X5]",
  options,
  async () => {
    const requests = [
      `GET http://user@${mirror}/ HTTP/1.1\r\n\r\n`,
      `GET http://evil.test\\@${mirror}/ HTTP/1.1\r\n\r\n`,
      `GET http://mirror%2etest:${port}/ HTTP/1.1\r\n\r\n`,
      `GET http://${mirror}/ HTTP/1.1\r\nA: b\r\n c: folded\r\n\r\n`,
      `GET http://${mirror}/ HTTP/1.1\r\nA: b\nHost: secret.test\r\n\r\n`,
      `GET http://${mirror}/ HTTP/1.1\r\nA\0: b\r\n\r\n`,
      `GET http://${mirror}/ HTTP/1.1\r\nA : b\r\n\r\n`,
      `GET http://${mirror}/ HTTP/2\r\n\r\n`,
      `GET  http://${mirror}/ HTTP/1.1\r\n\r\n`,
      `get http://${mirror}/ HTTP/1.1\r\n\r\n`,
      `GET / HTTP/1.1\r\nHost: ${mirror}\r\n\r\n`,
      `GET https://${mirror}/ HTTP/1.1\r\n\r\n`,
      `GET ftp://${mirror}/ HTTP/1.1\r\n\r\n`,
      `CONNECT mirror.test HTTP/1.1\r\n\r\n`,
      `CONNECT mirror.test:0 HTTP/1.1\r\n\r\n`,
      `CONNECT mirror.test:99999 HTTP/1.1\r\n\r\n`,
      `CONNECT http://${mirror} HTTP/1.1\r\n\r\n`,
      `CONNECT ${mirror}/x HTTP/1.1\r\n\r\n`,
      "\x16\x03\x01\x02\x00\r\n\r\n",
      "\r\n\r\n",
    ];
    const before = heard.length;
    const answers = await said(
      `say([status(request) for request in json.loads(${JSON.stringify(JSON.stringify(requests))})])`,
    );
    assert.deepEqual([answers, heard.length], [new Array(requests.length).fill("400 Bad Request"), before]);
  },
);
