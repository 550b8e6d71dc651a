import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { type Home, makeHome } from "../world/program.ts";
import { saidOf } from "../world/said.ts";

// `agentyard sandbox` as an operator starts it: the real program, a real port.

test("the sandbox says where it is, answers there, has exec as its client, keeps others from its data, and ends when told to [P2][P4][S1][X1][X2]", async (t) => {
  const home = makeHome(t);
  const { service, address } = await serve(home);
  const { output } = service.written;
  assert.match(output, new RegExp(`^The sandbox listens on ${address} \\(data: ${join(home.folder, "data")}\\)\n`));
  assert.match(
    output,
    /\n(Code runs here with all walls and limits\.|! Code runs here, but .+ missing that it could have\. .+)\n/,
  );
  const session = await post(`${address}/api/v1/sessions`, { user_id: "u1", agent_id: "a1" });
  assert.deepEqual([session.status, session.json.session_id, session.json.ttl], [201, "sb-session-u1", 7200]);
  const place = `${address}/api/v1/executions/sessions/sess-u1`;
  const run = await post(`${place}/execute-sync`, { code: "print(6*7)" });
  assert.deepEqual([run.status, run.json.status, run.json.stdout], [200, "completed", "42\n"]);

  const exec = (code: string) => home.start("exec", "--conversation", "talk", code).ended;
  assert.deepEqual(await exec("x = 41"), { code: 0, output: "", errors: "" });
  assert.deepEqual(await exec("print(x + 1)"), { code: 0, output: "42\n", errors: "" });
  assert.deepEqual(await home.start("sandbox", "--port", "0").ended, {
    code: 1,
    output: "",
    errors: `✗ Another AgentYard (process ${service.child.pid}) uses this data directory. End that process first, which may be a terminal that is still open, or choose another data directory with --data.\n`,
  });

  const waiting = post(`${place}/execute-sync`, { code: "while True: pass" });
  for (let isRunning = false; !isRunning; ) {
    const listed = await fetch(`${place}/executions`);
    isRunning = /"status":"running"/.test(await listed.text());
  }
  service.child.kill("SIGTERM");
  const { status, json } = await waiting;
  const title = `The server ends, and the execution ${json.params.id} ends with it.`;
  assert.deepEqual([status, json.code, json.params.why, json.title], [408, "execution_running", "server_ends", title]);
  assert.deepEqual([(await service.ended).code, service.written.errors], [0, ""]);
});

test("a change of the settings holds without a new start, and no host in them leads a program to AgentYard itself [P2][P5][X2][X5][Q1]", async (t) => {
  const home = makeHome(t);
  const { address } = await serve(home);
  const made = async (user: string) => (await post(`${address}/api/v1/sessions`, { user_id: user })).json;
  const run = async (user: string, code: string) =>
    (await post(`${address}/api/v1/executions/sessions/sess-${user}/execute-sync`, { code })).json;
  const long = "print('x' * 10_000)";
  assert.deepEqual([(await made("u1")).ttl, (await run("u1", long)).stdout_truncated], [7200, false]);
  home.configure("sandbox_platform:\n  default_ttl: 1800\n");
  assert.equal((await made("u2")).ttl, 1800);
  home.configure("sandbox:\n  output_bytes_max: 2000\n");
  assert.equal((await run("u3", long)).stdout_truncated, true);
  home.configure("sandbox:\n  output_bytes_max: nonsense\n");
  assert.equal((await run("u4", long)).stdout_truncated, true);
  const { host } = new URL(address);
  home.configure(`sandbox:\n  network_hosts: ["${host}"]\n  network_private_hosts: ["${host}"]\n`);
  // By the proxy, whatever NO_PROXY says inside.
  const code = `import http.client
proxy = http.client.HTTPConnection("127.0.0.1", 3128)
proxy.request("GET", "${address}/api/v1/health")
answer = proxy.getresponse()
print(answer.status, answer.read().decode())`;
  const asked = await run("u5", code);
  assert.equal(asked.stdout.trim(), `403 ${host} is AgentYard itself, which no program may reach`);
});

test("beside a server it is refused with the server's address, which has the same routes; where a port is taken the data directory is free again [P2][P4]", async (t) => {
  const home = makeHome(t);
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  t.after(() => taken.close());
  const { port } = taken.address() as AddressInfo;
  const { code, errors } = await home.start("sandbox", "--port", `${port}`).ended;
  assert.equal(code, 1);
  const said = saidOf("address_unusable", { host: "127.0.0.1", port, why: "taken" });
  assert.ok(errors.startsWith(`✗ ${said} Choose another port with --port`), errors);

  const server = home.start("serve", "--port", "0");
  const [, address = ""] = await server.until("output", /listens on (http:\/\/127\.0\.0\.1:\d+) [\s\S]*Ctrl\+C/);
  const refused = await home.start("sandbox", "--port", "0").ended;
  const served = `✗ AgentYard is already served at ${address} (process ${server.child.pid}).`;
  assert.ok(refused.errors.startsWith(served), refused.errors);
  const run = await post(`${address}/api/v1/executions/sessions/sess-u1/execute-sync`, { code: "print(6*7)" });
  assert.equal(run.json.stdout, "42\n");
});

/** Started, and everything said that it says at its start. */
async function serve(home: Home) {
  const service = home.start("sandbox", "--port", "0");
  const [, address = ""] = await service.until("output", /listens on (http:\/\/127\.0\.0\.1:\d+) [\s\S]*Ctrl\+C/);
  return { service, address };
}

async function post(url: string, body: object) {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: response.status, json: JSON.parse(await response.text()) };
}
