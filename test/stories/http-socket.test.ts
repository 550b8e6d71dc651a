import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { createClient } from "../../src/client/client.ts";
import { socketFetch } from "../../src/client/socket-fetch.ts";
import { socketPathFor } from "../../src/client/socket-path.ts";
import { listen } from "../../src/http/http.ts";
import { protocolVersion } from "../../src/protocol/routes.ts";
import { until } from "../world/events.ts";
import { countListeners } from "../world/listeners.ts";
import { endlessClock } from "../world/manual-clock.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

test("another process of the same user talks and listens over the local socket [P3]", async (t) => {
  const socketPath = join(await folder(t), "s.sock");
  const listeners = countListeners();
  await using yard = await startYard(listeners.options);
  await using _ = await onSocket(yard, socketPath);
  assert.equal((await stat(socketPath)).mode & 0o777, 0o600);
  const client = createClient({ fetch: socketFetch(socketPath, systemClock), language: "zh", actsAs: "ann" });
  assert.ok((await client.call("createConversation", { body: { id: "c" } })).ok);
  const health = await client.call("health");
  assert.ok(health.ok);
  const { uptime, ...rest } = health.value;
  assert.deepEqual(rest, { status: "ok", version: "0.0.0-test", protocol: protocolVersion });
  assert.ok(uptime >= 0);
  const missing = await client.call("getState", { params: { id: "没有/这个" } });
  assert.match(missing.ok ? "" : missing.failure.detail, /^未找到对话：没有\/这个。/);
  assert.ok((await client.call("deleteConversation", { params: { id: "c" } })).ok);

  const row = await yard.start("followed");
  const seen: string[] = [];
  const stop = new AbortController();
  const local = createClient({ fetch: socketFetch(socketPath, systemClock) });
  for await (const frame of local.follow("followed", { signal: stop.signal })) {
    if (frame.frame === "caught_up") await must(yard.log.rename(row, "新"));
    if (frame.frame === "event" && frame.event.type === "conversation.renamed") seen.push(frame.event.title);
    if (seen.length > 0) break;
  }
  assert.deepEqual(seen, ["新"]);
  stop.abort();
  await until("nobody listens", () => listeners.held() === 0);
});

test("nobody behind the socket is a failure with a name [P3]", async (t) => {
  const client = createClient({ fetch: socketFetch(join(await folder(t), "none.sock"), systemClock) });
  const health = await client.call("health");
  assert.deepEqual(health.ok || [health.failure.code, health.failure.retryable], ["network", true]);
});

test("a socket left behind by a killed process is replaced, one that answers is not [P3]", async (t) => {
  const socketPath = join(await folder(t), "s.sock");
  const killed = spawn(process.execPath, [
    "-e",
    `require("net").createServer().listen(${JSON.stringify(socketPath)}, () => process.kill(process.pid, "SIGKILL"))`,
  ]);
  await once(killed, "exit");
  assert.ok((await stat(socketPath)).isSocket());
  await using yard = await startYard();
  await using _ = await onSocket(yard, socketPath);
  const second = await listen(yard.app, { socketPath }, { clock: systemClock });
  assert.equal(second.ok || second.failure.reason, "taken");
  const health = await createClient({ fetch: socketFetch(socketPath, systemClock) }).call("health");
  assert.ok(health.ok, "the first one still answers");
});

test("a file that is no socket is left alone [P3]", async (t) => {
  const socketPath = join(await folder(t), "notes.txt");
  await writeFile(socketPath, "keep me");
  await using yard = await startYard();
  const refused = await listen(yard.app, { socketPath }, { clock: systemClock });
  assert.equal(refused.ok || refused.failure.reason, "taken");
  assert.equal((await stat(socketPath)).size, 7);
  const nowhere = await listen(yard.app, { socketPath: join(socketPath, "s.sock") }, { clock: systemClock });
  assert.equal(nowhere.ok || nowhere.failure.reason, "other");
});

test("closing ends streams and frees the place at once", async (t) => {
  const socketPath = join(await folder(t), "s.sock");
  const listeners = countListeners();
  await using yard = await startYard(listeners.options);
  await yard.start("c");
  for (const at of [{ socketPath }, { socketPath }, { host: "127.0.0.1", port: 0 }]) {
    const server = await listen(yard.app, at, { clock: endlessClock });
    assert.ok(server.ok);
    const url = `${"host" in at ? server.value.address : "http://localhost"}/api/v1/conversations/c/stream`;
    const init = { method: "GET", headers: {} };
    const response = await ("host" in at ? fetch(url, init) : socketFetch(socketPath, systemClock)(url, init));
    const reader = response.body?.getReader();
    await reader?.read();
    const ended = (async () => {
      let text = "";
      for (let next = await reader?.read(); next?.done === false; next = await reader?.read())
        text += new TextDecoder().decode(next.value);
      assert.match(text, /^event: closing\n/);
    })();
    await Promise.all([server.value.close(), ended]);
    assert.equal(listeners.held(), 0);
    await assert.rejects(stat(socketPath));
  }
});

test("the socket's place follows from the data directory, however it is spelled [P3]", async (t) => {
  const root = await folder(t);
  const place = { runtimeDirectory: root, temporaryDirectory: root, uid: process.getuid?.() ?? 0 };
  await mkdir(join(root, "data"));
  await mkdir(join(root, "other"));
  await symlink(join(root, "data"), join(root, "link"));
  const pathFor = (name: string) => {
    const path = socketPathFor({ ...place, dataDirectory: join(root, name) });
    assert.ok(path.ok);
    return path.value;
  };
  assert.match(pathFor("data").slice(root.length), /^\/[0-9a-f]{16}\.sock$/);
  assert.equal(pathFor("link"), pathFor("data"));
  assert.notEqual(pathFor("other"), pathFor("data"));
});

test("a place for the socket that is too long, or not ours, is refused [P3]", async (t) => {
  const root = await folder(t);
  const uid = process.getuid?.() ?? 0;
  const fitting = "/".padEnd(107 - "/0123456789abcdef.sock".length, "x");
  const codeAt = (options: { runtimeDirectory?: string; temporaryDirectory?: string; uid?: number }) => {
    const path = socketPathFor({ dataDirectory: root, temporaryDirectory: root, uid, ...options });
    return path.ok ? Buffer.byteLength(path.value) : path.failure.code;
  };
  assert.equal(codeAt({ runtimeDirectory: fitting }), 107);
  assert.equal(codeAt({ runtimeDirectory: `${fitting}x` }), "setting_invalid");
  const ours = join(root, `agentyard-${uid}`);
  codeAt({});
  assert.equal((await stat(ours)).mode & 0o777, 0o700);
  await chmod(ours, 0o777);
  assert.notEqual(codeAt({}), "setting_invalid");
  assert.equal((await stat(ours)).mode & 0o777, 0o700, "closed again");
  assert.equal(codeAt({ temporaryDirectory: root, uid: uid + 1 }), "setting_invalid", "the folder has another owner");
  assert.equal(codeAt({ temporaryDirectory: "/dev/null" }), "setting_invalid", "no folder can be made there");
  await rm(ours, { recursive: true });
  await mkdir(join(root, "elsewhere"));
  await symlink(join(root, "elsewhere"), ours);
  assert.equal(codeAt({}), "setting_invalid", "a link may lead anywhere");
});

test("a runtime directory of somebody else, or that others can write to, is passed over for a place of our own [P3][Q1]", async (t) => {
  const root = await folder(t);
  const uid = process.getuid?.() ?? 0;
  const runtime = join(root, "runtime");
  await mkdir(runtime, { mode: 0o700 });
  await symlink(runtime, join(root, "link"));
  const folderAt = (runtimeDirectory: string, whose = uid) => {
    const path = socketPathFor({ dataDirectory: root, temporaryDirectory: root, uid: whose, runtimeDirectory });
    return path.ok ? dirname(path.value) : path.failure.params.name;
  };
  const own = join(root, `agentyard-${uid}`);
  assert.deepEqual([folderAt(runtime), folderAt(join(root, "link"))], [runtime, own]);
  // Nobody else's folder can be made here either: what is left to say is that there is no place.
  assert.equal(folderAt(runtime, uid + 1), "TMPDIR");
  await chmod(runtime, 0o777);
  assert.equal(folderAt(runtime), own);
});

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "yard-"));
  t.after(() => rm(path, { recursive: true, force: true }));
  return path;
}

async function onSocket(yard: TestYard, socketPath: string) {
  const server = await listen(yard.app, { socketPath }, { clock: systemClock });
  assert.ok(server.ok, JSON.stringify(server));
  assert.equal(server.value.address, socketPath);
  return { close: server.value.close, [Symbol.asyncDispose]: server.value.close };
}
