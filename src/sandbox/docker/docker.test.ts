import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createSecureServer } from "node:https";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { systemClock } from "../../base/clock.ts";
import { systemIds } from "../../base/ids.ts";
import { failed, ok } from "../../base/result.ts";
import { wordsFor } from "../../words/words.ts";
import { callFault } from "../guest/http-call.ts";
import { readAttached } from "./attached.ts";
import { containerBody } from "./container.ts";
import { countsFor } from "./counts.ts";
import { openDockerSandbox } from "./docker.ts";
import type { DockerEngine } from "./engine.ts";
import { openDockerEngine } from "./engine.ts";
import { removeUnconfirmed } from "./gone.ts";

const ping = "HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nContent-Length: 2\r\n\r\nOK";

/** An engine that says what it is told to, by the path that was asked for; what it was asked is kept. */
async function fakeEngine(t: TestContext, answers: (path: string, socket: Socket, request: string) => void) {
  const folder = mkdtempSync(join(tmpdir(), "agentyard-engine-"));
  const socketPath = join(folder, "docker.sock");
  const asked: string[] = [];
  const server: Server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", (bytes) => {
      const request = bytes.toString("latin1");
      const [, path = ""] = request.split(" ");
      asked.push(path);
      if (path === "/_ping") socket.end(ping);
      else answers(path, socket, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  t.after(() => {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { socketPath, asked, engine: openDockerEngine({ address: { socketPath }, clock: systemClock }) };
}

function answer(status: string, body: string): string {
  return `HTTP/1.1 ${status}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`;
}

test("where no engine is, and where no certificates are, the code says why [X3]", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "agentyard-engine-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const asked = async (address: Parameters<typeof openDockerEngine>[0]["address"]) => {
    const answered = await openDockerEngine({ address, clock: systemClock }).ask("GET", "/info");
    return answered.ok || `${answered.failure.why} ${answered.failure.said}`;
  };
  assert.deepEqual(
    [
      await asked({ socketPath: join(folder, "none.sock") }),
      await asked({ host: "127.0.0.1", port: 1 }),
      await asked({ host: "127.0.0.1", port: 1, tlsDir: folder }),
    ],
    ["unreachable ENOENT", "unreachable ECONNREFUSED", `unreachable ca.pem, cert.pem, key.pem in ${folder}: ENOENT`],
  );
  for (const name of ["ca.pem", "cert.pem", "key.pem"]) writeFileSync(join(folder, name), "this is no certificate\n");
  const unusable = await asked({ host: "127.0.0.1", port: 1, tlsDir: folder });
  assert.ok(String(unusable).startsWith(`unreachable ca.pem, cert.pem, key.pem in ${folder}: error:`), `${unusable}`);
});

test("an engine by TLS is known by its own name and address, and by no other [X3]", async (t) => {
  // A certificate for localhost and 127.0.0.1, good until 2126; both ends show the same.
  const tlsDir = join(import.meta.dirname, "../../../test/data/docker-tls");
  const [ca, cert, key] = ["ca.pem", "cert.pem", "key.pem"].map((name) => readFileSync(join(tlsDir, name)));
  const server = createSecureServer({ ca, cert, key, requestCert: true }, (_, response) => {
    response.writeHead(200, { "Api-Version": "1.41" }).end('{"a":1}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const place = server.address();
  const port = typeof place === "object" && place !== null ? place.port : 0;
  const asked = (host: string) =>
    openDockerEngine({ address: { host, port, tlsDir }, clock: systemClock }).ask("GET", "/info");
  assert.deepEqual([await asked("localhost"), await asked("127.0.0.1")], Array(2).fill({ ok: true, value: { a: 1 } }));
  const other = await asked("127.1");
  assert.match(other.ok ? "" : other.failure.said, /altname/i);
});

test("a stream that is attached carries both ways, and words that are no framing end it [X3]", async (t) => {
  const frame = (stream: number, text: string) => {
    const head = Buffer.alloc(8);
    head.writeUInt8(stream, 0);
    head.writeUInt32BE(text.length, 4);
    return Buffer.concat([head, Buffer.from(text)]);
  };
  const { engine } = await fakeEngine(t, (path, socket) => {
    socket.write("HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n");
    if (path.includes("/odd/")) return void socket.write("this is no framing at all");
    const both = Buffer.concat([frame(2, "oh"), frame(1, "hel"), frame(1, "lo")]);
    // A head in two halves.
    socket.write(both.subarray(0, 13));
    socket.write(both.subarray(13));
    socket.on("data", (bytes) => socket.write(frame(1, bytes.toString())));
  });
  const attached = await engine.attach("good");
  assert.ok(attached.ok);
  const { stdio, said } = readAttached(attached.value);
  let heard = "";
  await new Promise<void>((resolve) => {
    stdio.on("data", (bytes) => {
      heard += bytes;
      if (heard === "hello") stdio.write(" back");
      if (heard === "hello back") resolve();
    });
  });
  assert.equal(said(), "oh");
  stdio.destroy();
  const odd = await engine.attach("odd");
  assert.ok(odd.ok);
  const ended = readAttached(odd.value).stdio;
  await new Promise((resolve) => ended.once("close", resolve));
});

/** What an engine answers that has everything, but for what is changed. */
const info = {
  ...{ OSType: "linux", Architecture: "x86_64", MemoryLimit: true, PidsLimit: true, CpuCfsQuota: true },
  ...{ Runtimes: { runc: {} }, SecurityOptions: ["name=seccomp,profile=default"] },
};

type Told = {
  readonly info?: object;
  readonly image?: string;
  readonly has?: object;
  readonly create?: string;
  /** Hears what containers it is asked for. */
  readonly wishes?: string[];
  /** Hears what it is asked to remove. */
  readonly removals?: string[];
};

async function lacksOf(t: TestContext, told: Told, runtime?: string): Promise<string[]> {
  const { socketPath } = await fakeEngine(t, (path, socket, request) => {
    if (path.endsWith("/info")) socket.end(answer("200 OK", JSON.stringify({ ...info, ...told.info })));
    else if (path.includes("/images/")) socket.end(answer(told.image ?? "200 OK", JSON.stringify(told.has ?? {})));
    else {
      if (path.includes("/create")) told.wishes?.push(request);
      if (request.startsWith("DELETE ")) told.removals?.push(path);
      socket.end(answer(told.create ?? "500 Oh", '{"message":"no room"}'));
    }
  });
  const folder = mkdtempSync(join(tmpdir(), "agentyard-containers-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const provider = openDockerSandbox({
    ...{ installation: "m", clock: systemClock, ids: systemIds, words: wordsFor("en").sandbox, startTimeoutMs: 60_000 },
    ...{ address: { socketPath }, shownAddress: "unix:///d.sock", image: "img", runtime, folder },
  });
  const { missing } = await provider.probe();
  const wanted = { id: "g", workspace: undefined, uid: undefined, env: {}, limits };
  const opened = await provider.open(wanted);
  assert.equal(!opened.ok && opened.failure.why, "unavailable");
  await provider.close();
  return missing.map(({ name, reason }) => `${name}: ${reason}`);
}

const limits = {
  ...{ memoryBytes: 2 ** 28, processesMax: 32, cpus: 1 },
  ...{ fileBytesMax: 2 ** 20, tmpBytesMax: 2 ** 20, outputBytesMax: 2 ** 20 },
};

test("an engine that cannot have sandboxes is told with its reason, and nothing is opened [X3]", async (t) => {
  const removals: string[] = [];
  assert.deepEqual(
    [
      await lacksOf(t, { info: { OSType: "windows" } }),
      await lacksOf(t, { info: { Runtimes: null } }),
      await lacksOf(t, {}, "runsc"),
      await lacksOf(t, { image: "404 Not Found" }),
      await lacksOf(t, { image: "500 Oh" }),
      await lacksOf(t, { has: { Config: { Volumes: { "/var/lib/data": {}, "/cache": {} } } } }),
      await lacksOf(t, { has: { Config: { Volumes: null } } }),
      await lacksOf(t, { info: { SecurityOptions: ["name=rootless"] } }),
      await lacksOf(t, {}),
      await lacksOf(t, { create: "201 Created", removals }),
    ],
    [
      ["no_seccomp: The kernel's calls cannot be filtered here (windows x86_64)."],
      ["no_engine: The Docker engine does not answer (unix:///d.sock: /info)."],
      ["no_runtime: The Docker engine does not know the runtime of sandbox.docker_runtime (runsc)."],
      ["no_image: The Docker engine has no image for sandboxes (img)."],
      ["no_engine: The Docker engine does not answer (unix:///d.sock: 500 {})."],
      [
        "image_volumes: The image for sandboxes has volumes of its own (img: /var/lib/data /cache): programs could write there without a limit.",
      ],
      ["engine_start: The Docker engine does not start a sandbox (no room)."],
      ["rootless_engine: The Docker engine runs without root: files that programs make would belong to somebody else."],
      ["engine_start: The Docker engine does not start a sandbox (no room)."],
      ["engine_start: The Docker engine does not start a sandbox (no id)."],
    ],
  );
  // One that may have been made is removed by its name.
  assert.match(removals.join(), /^\/v1\.41\/containers\/agentyard-m-[^/,]+\?force=1&v=1$/);
});

const wanted: Parameters<typeof containerBody>[0] = {
  ...{ image: "agentyard-sandbox", runtime: undefined, command: ["/bin/sh", "-c", "true"], user: 64_123 },
  ...{ folder: "/workspace/c1", labels: { "agentyard.mark": "m" }, isRemapped: false },
  limits: {
    ...{ memoryBytes: 400_000_000, processesMax: 64, cpus: 1.5 },
    ...{ fileBytesMax: 1, tmpBytesMax: 32_000_000, outputBytesMax: 1 },
  },
  mounts: { "/run/agentyard": "/srv/stage" },
  sources: { workspace: undefined, programs: [], packages: undefined, close() {} },
};

test("a container has no network, no rights, no log, no swap, a root that cannot be written, and the limits of its session [X3][X4]", () => {
  assert.deepEqual(containerBody(wanted), {
    ...{ Image: "agentyard-sandbox", Entrypoint: ["/bin/sh", "-c", "true"], Cmd: [], User: "64123:64123" },
    ...{ Env: ["PATH=/usr/bin:/bin", "LANG=C.UTF-8"], Labels: { "agentyard.mark": "m" } },
    ...{ WorkingDir: "/workspace/c1", Hostname: "sandbox", Healthcheck: { Test: ["NONE"] } },
    ...{ AttachStdin: true, AttachStdout: true, AttachStderr: true, OpenStdin: true, StdinOnce: true, Tty: false },
    HostConfig: {
      ...{ AutoRemove: true, LogConfig: { Type: "none" }, NetworkMode: "none", IpcMode: "private" },
      ...{ CgroupnsMode: "private", Init: false, Privileged: false, ReadonlyRootfs: true, CapDrop: ["ALL"] },
      SecurityOpt: ["no-new-privileges:true"],
      MaskedPaths: [
        ...["/proc/asound", "/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list"],
        ...["/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/proc/interrupts", "/sys"],
      ],
      ReadonlyPaths: ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"],
      ...{ Memory: 400_000_000, MemorySwap: 400_000_000, PidsLimit: 64, NanoCpus: 1_500_000_000 },
      ...{ ShmSize: 67_108_864, Tmpfs: { "/tmp": "rw,exec,nosuid,nodev,mode=1777,size=32000000" } },
      Mounts: [
        {
          ...{ Type: "bind", Source: "/srv/stage", Target: "/run/agentyard", ReadOnly: true },
          BindOptions: { Propagation: "rprivate" },
        },
      ],
    },
  });
});

test("a container has the runtime that is set, and the users of this machine where the engine would give it others [X3]", () => {
  const { HostConfig } = Object(containerBody({ ...wanted, runtime: "runsc", isRemapped: true }));
  assert.partialDeepStrictEqual(HostConfig, { Runtime: "runsc", UsernsMode: "host" });
});

type Answer = Awaited<ReturnType<DockerEngine["ask"]>>;

/** An engine that tells this of every container. */
function telling(answer: Answer) {
  const asked: string[] = [];
  const engine: DockerEngine = {
    async ask(method, path) {
      asked.push(`${method} ${path}`);
      return answer;
    },
    attach: () => assert.fail("nobody attaches"),
  };
  return { engine, asked };
}

const stats = (memory: object, pids: object) =>
  ok({ memory_stats: memory, pids_stats: pids, cpu_stats: { cpu_usage: { total_usage: 5_500_000 } } });

test("what a container elsewhere uses is told by its engine, as far as that counts, and nothing of one that is gone [X3][X4]", async () => {
  for (const [answer, used] of [
    [stats({ usage: 7 }, { current: 2 }), { memoryBytes: 7, processes: 2, cpuMs: 5.5 }],
    [stats({}, {}), { memoryBytes: 0, processes: 0, cpuMs: 5.5 }],
    [failed(callFault("refused", "no such container", 404)), { memoryBytes: 0, processes: 0, cpuMs: 0 }],
  ] as const) {
    const { engine, asked } = telling(answer);
    // A process of this machine has its number, too.
    const { usage, near } = countsFor(engine, { container: "of-another-machine", pid: process.pid });
    assert.deepEqual([await usage(), near], [used, undefined]);
    assert.deepEqual(asked, ["GET /containers/of-another-machine/stats?stream=false&one-shot=true"]);
  }
});

const remove = "DELETE /containers/c?force=1&v=1";
const away = failed(callFault("unreachable", "ECONNREFUSED"));

test("a container whose making was never confirmed is asked for until it is removed, or nobody is there who could have made it [X3]", async () => {
  const unknown = failed(callFault("refused", "no such container", 404));
  for (const [answers, questions] of [
    [[unknown, unknown, ok(undefined)], 3],
    [[away], 1],
    [Array<typeof unknown>(9).fill(unknown), 5],
  ] as const) {
    const asked: string[] = [];
    const left: Answer[] = [...answers];
    const engine: DockerEngine = {
      async ask(method, path) {
        asked.push(`${method} ${path}`);
        return left.shift() ?? assert.fail("it was enough");
      },
      attach: () => assert.fail("nobody attaches"),
    };
    await removeUnconfirmed({ engine, clock: manualClock() }, "c");
    assert.deepEqual(asked, Array<string>(questions).fill(remove));
  }
});
