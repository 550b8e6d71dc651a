import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { openDockerEngine } from "../../src/sandbox/docker/engine.ts";
import { ownerUid, workspaceFolder } from "../contracts/sandbox-guests.ts";
import {
  cannotUseDocker,
  dockerUnderTest,
  engineSocket,
  openDocker,
  sandboxImage,
} from "../contracts/sandbox-on-docker.ts";
import { conversation, done, hostFolder, triedGuest, wantedGuest } from "../contracts/sandbox-place.ts";
import { providerContract } from "../contracts/sandbox-promises.ts";
import { until } from "../world/events.ts";

const options = { skip: cannotUseDocker };

const servingChild = join(import.meta.dirname, "../contracts/sandbox-serving-child.ts");

const engine = openDockerEngine({ address: { socketPath: engineSocket ?? "/nowhere" }, clock: systemClock });

async function containersOf(installation: string): Promise<string[]> {
  const filters = encodeURIComponent(JSON.stringify({ label: [`agentyard.mark=${installation}`] }));
  const listed = await engine.ask("GET", `/containers/json?all=1&filters=${filters}`);
  assert.ok(listed.ok);
  return Array.isArray(listed.value) ? listed.value.map(({ Id }) => Id) : [];
}

test(
  "a container ends with the server that was killed, and its files are swept by the next one [X3]",
  options,
  async (t) => {
    const installation = `test${systemIds.hex(12)}`;
    const folder = hostFolder(t);
    const server = spawn(process.execPath, [servingChild, "docker", "served", installation, folder], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    t.after(() => server.kill("SIGKILL"));
    await new Promise((resolve) => server.stdout.once("data", resolve));
    assert.equal((await containersOf(installation)).length, 1);
    server.kill("SIGKILL");
    await until("its container is gone", async () => (await containersOf(installation)).length === 0, 30_000);

    const next = openDocker({ installation, folder });
    t.after(() => next.close());
    assert.deepEqual(readdirSync(folder), ["served"]);
    assert.deepEqual(await next.reap(), { processes: 0, groups: 0, mounts: 1 });
    assert.deepEqual(readdirSync(folder), []);
  },
);

test(
  "containers that nobody looks after are found by their label and ended, those of others are not [X3]",
  options,
  async (t) => {
    const [installation, other] = [`test${systemIds.hex(12)}`, `test${systemIds.hex(12)}`];
    for (const one of [installation, other]) {
      const body = {
        Image: sandboxImage,
        Entrypoint: ["sleep", "1000"],
        Labels: { "agentyard.mark": one },
        HostConfig: { NetworkMode: "none" },
      };
      const made = await engine.ask("POST", "/containers/create", { body });
      assert.ok(made.ok, JSON.stringify(made));
    }
    t.after(async () => {
      for (const left of await containersOf(other)) await engine.ask("DELETE", `/containers/${left}?force=1`);
    });
    const provider = openDocker({ installation });
    t.after(() => provider.close());
    assert.deepEqual(await provider.reap(), { processes: 1, groups: 0, mounts: 0 });
    assert.deepEqual([(await containersOf(installation)).length, (await containersOf(other)).length], [0, 1]);
  },
);

const weaknesses: readonly (readonly [
  without: string,
  edit: (wanted: Record<string, unknown>) => void,
  found: RegExp,
])[] = [
  ["a network of its own", (wanted) => Object.assign(wanted, { NetworkMode: "host" }), /interfaces/],
  ["the dropped capabilities", (wanted) => Object.assign(wanted, { CapDrop: [] }), /capabilities/],
  ["the read-only root", (wanted) => Object.assign(wanted, { ReadonlyRootfs: false }), /writable/],
  ["processes of their own", (wanted) => Object.assign(wanted, { PidMode: "host" }), /user/],
];

for (const [without, edit, found] of weaknesses) {
  test(`an engine whose containers silently lack ${without} runs no code [X3]`, options, async (t) => {
    const socketPath = await startEditingEngine(t, hostFolder(t), edit);
    const provider = openDocker({ address: { socketPath } });
    t.after(() => provider.close());
    const { missing } = await provider.probe();
    assert.deepEqual(
      missing.map(({ name }) => name),
      ["engine_walls"],
    );
    assert.match(missing[0]?.reason ?? "", found);
    const opened = await provider.open(wantedGuest({}));
    assert.equal(!opened.ok && opened.failure.why, "unavailable");
  });
}

test("an image or a runtime that the engine does not have is named, with what gets it [X3]", options, async (t) => {
  const lacking = async (changes: Parameters<typeof openDocker>[0]) => {
    const provider = openDocker(changes);
    t.after(() => provider.close());
    return (await provider.probe()).missing.map(({ name, reason }) => `${name}: ${reason}`);
  };
  assert.deepEqual(
    [await lacking({ image: "agentyard-nowhere" }), await lacking({ runtime: "nothing" })],
    [
      ["no_image: The Docker engine has no image for sandboxes (agentyard-nowhere)."],
      ["no_runtime: The Docker engine does not know the runtime of sandbox.docker_runtime (nothing)."],
    ],
  );
});

test(
  "a workspace that is swapped for another folder while the engine mounts it is not opened [W5][X3]",
  options,
  async (t) => {
    const [own, others] = [workspaceFolder(t), workspaceFolder(t)];
    mkdirSync(join(others, "outputs"));
    const swap = (wanted: Record<string, unknown>) => {
      const text = JSON.stringify(wanted).replaceAll(`"${own}/outputs"`, `"${others}/outputs"`);
      Object.assign(wanted, JSON.parse(text));
    };
    const provider = openDocker({ address: { socketPath: await startEditingEngine(t, hostFolder(t), swap) } });
    t.after(() => provider.close());
    const opened = await provider.open(wantedGuest({ workspace: conversation(own), uid: ownerUid }));
    assert.deepEqual(!opened.ok && opened.failure.why, "wrong_workspace");
  },
);

test(
  "programs of a container are limited by the engine, and nothing of it is on the host afterwards [X4]",
  options,
  async (t) => {
    const folder = hostFolder(t);
    const installation = `test${systemIds.hex(12)}`;
    const provider = openDocker({ installation, folder });
    t.after(() => provider.close());
    const opened = await provider.open(wantedGuest({ id: "limited" }));
    assert.ok(opened.ok, JSON.stringify(opened));
    const looked = await engine.ask("GET", `/containers/agentyard-${installation}-limited/json`);
    assert.ok(looked.ok);
    assert.partialDeepStrictEqual(looked.value, {
      HostConfig: {
        ...{ NetworkMode: "none", ReadonlyRootfs: true, CapDrop: ["ALL"], Privileged: false, PidsLimit: 64 },
        ...{
          Memory: 400 * 1024 ** 2,
          MemorySwap: 400 * 1024 ** 2,
          NanoCpus: 1e9,
          SecurityOpt: ["no-new-privileges:true"],
        },
      },
    });
    assert.deepEqual(await triedGuest(opened.value).run("bash", "ulimit -c; ls -A /sys"), done({ stdout: "0\n" }));
    await opened.value.close("over");
    assert.deepEqual([await containersOf(installation), readdirSync(folder)], [[], []]);
  },
);

providerContract("docker", async () => dockerUnderTest(), { skip: cannotUseDocker });

/** A way to the real engine that changes what containers are asked for: the product has no switch to leave a wall out. */
async function startEditingEngine(
  t: { after(action: () => void): void },
  folder: string,
  edit: (hostConfig: Record<string, unknown>) => void,
): Promise<string> {
  const handOn = async (incoming: IncomingMessage, answer: ServerResponse) => {
    const body = await textOf(incoming);
    const sent = incoming.url?.includes("/containers/create") ? edited(body, edit) : body;
    const headers = { ...incoming.headers, "content-length": Buffer.byteLength(sent) };
    const { method, url } = incoming;
    const onward = request({ socketPath: engineSocket, path: url, method, headers, agent: false }, (answered) => {
      answer.writeHead(answered.statusCode ?? 0, answered.headers);
      answered.pipe(answer);
    });
    onward.on("error", () => answer.destroy());
    onward.end(sent);
  };
  const server = createServer((incoming, answer) => void handOn(incoming, answer));
  server.on("upgrade", (incoming, socket) => {
    const { method, url: path, headers } = incoming;
    const onward = request({ socketPath: engineSocket, path, method, headers, agent: false });
    onward.on("upgrade", (_, engine, head) => {
      socket.write("HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n");
      socket.write(head);
      engine.pipe(socket).pipe(engine);
      for (const end of [engine, socket]) end.on("error", () => {});
    });
    onward.end();
  });
  const path = join(folder, "engine.sock");
  await new Promise<void>((resolve) => server.listen(path, resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return path;
}

function edited(body: string, edit: (hostConfig: Record<string, unknown>) => void): string {
  const wanted = JSON.parse(body);
  edit(wanted.HostConfig);
  return JSON.stringify(wanted);
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece);
  return Buffer.concat(pieces).toString("utf8");
}
