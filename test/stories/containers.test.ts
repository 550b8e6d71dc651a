import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { z } from "zod";
import { runAsNobody } from "../world/as-nobody.ts";

// What containers are like. `npm run deploy-suite` builds and starts all of compose.yaml in a real engine.

const root = join(import.meta.dirname, "..", "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
/** Of the image. */
const uid = 10_001;

test("a user for whom the system has no name, as containers have it, chats and is told about the machine [P1][N1]", {
  skip: process.getuid?.() !== 0 && "only root starts programs as somebody else",
}, async (t) => {
  const ran = await runAsNobody(t, ["bin/agentyard.mjs", "run", "what time is it", "--data", `t/data-${uid}`], uid);
  assert.equal(ran.status, 0, ran.output);
  const looked = await runAsNobody(t, ["bin/agentyard.mjs", "doctor", "--json", "--data", `t/data-${uid}`], uid);
  assert.match(looked.output, /"checks":/);
});

const Service = z.object({
  image: z.string(),
  restart: z.string(),
  mem_limit: z.string(),
  logging: z.object({ options: z.object({ "max-size": z.string() }) }),
  environment: z.record(z.string(), z.string().nullable()).optional(),
  volumes: z.array(z.string()).optional(),
});
const Compose = z.object({ services: z.record(z.string(), Service) });

test("every container of compose.yaml has limits, ends up in no full disk, and finds its files and neighbours where the image has them [N1]", () => {
  const { services } = Compose.parse(parse(read("compose.yaml"), { merge: true }));
  assert.deepEqual(Object.keys(services).sort(), ["balancer", "one", "postgres", "sandbox-host", "two"]);
  const dockerfile = read("deploy/Dockerfile");
  assert.match(dockerfile, /^USER 10001:10001$/m);
  for (const folder of ["/data", "/files"]) assert.ok(new RegExp(`=${folder}\\b`).test(dockerfile), folder);
  for (const name of ["one", "two"]) {
    const { environment = {}, volumes = [] } = services[name] ?? {};
    assert.equal(environment.AGENTYARD_PEER_ADDRESS, "0.0.0.0:7421");
    assert.deepEqual(
      volumes.map((volume) => volume.slice(volume.lastIndexOf(":") + 1)),
      ["/data", "/files"],
    );
  }
  // The engine mounts by path: inside as outside, or sandboxes would see other folders.
  const [, ...folders] = services["sandbox-host"]?.volumes ?? [];
  for (const volume of folders) {
    const place = /^(\$\{\w+:-([^}]+)\}):\1$/.exec(volume);
    assert.ok(place !== null, volume);
  }
});

test("in compose.yaml only the balancer says from where somebody calls, and it says nothing of what callers say [C6][N1]", () => {
  const { services, networks } = Networked.parse(parse(read("compose.yaml"), { merge: true }));
  const plain = (text: string) => text.replaceAll(/\$\{\w+:-([^}]*)\}/g, "$1");
  const balancer = plain(services.balancer?.networks?.default.ipv4_address ?? "");
  for (const name of ["one", "two"])
    assert.equal(plain(services[name]?.environment?.AGENTYARD_TRUSTED_PROXIES ?? ""), `${balancer},127.0.0.1`, name);
  // Nobody else is given it: containers that start get addresses of the lower half.
  const [{ subnet, ip_range: given } = { subnet: "", ip_range: "" }] = networks.default.ipam.config;
  const three = balancer.replace(/\.250$/, "");
  assert.deepEqual([plain(subnet), plain(given)], [`${three}.0/24`, `${three}.0/25`]);
  const settings = read("deploy/balancer/haproxy.cfg");
  for (const line of [
    'acl is-proxy src "${PROXY_BEFORE}"',
    "http-request del-header X-Forwarded- -m beg unless is-proxy",
    "http-request del-header Forwarded unless is-proxy",
    "option forwardfor",
  ])
    assert.ok(settings.includes(`\n  ${line}\n`), line);
  assert.equal(services.balancer?.environment?.PROXY_BEFORE, "${AGENTYARD_PROXY_BEFORE:-127.0.0.1}");
});

const Networked = z.object({
  services: z.record(
    z.string(),
    z.object({
      environment: z.record(z.string(), z.string().nullable()).optional(),
      networks: z.object({ default: z.object({ ipv4_address: z.string() }) }).optional(),
    }),
  ),
  networks: z.object({
    default: z.object({ ipam: z.object({ config: z.array(z.object({ subnet: z.string(), ip_range: z.string() })) }) }),
  }),
});
