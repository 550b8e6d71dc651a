import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { systemIds } from "../../src/base/ids.ts";
import { labels, listPods } from "../../src/sandbox/kubernetes/follow.ts";
import { ownerUid, workspaceFolder } from "../contracts/sandbox-guests.ts";
import { cannotUseKubernetes, openReal, realApi } from "../contracts/sandbox-on-kubernetes.ts";
import { done, triedGuest, wantedGuest } from "../contracts/sandbox-place.ts";
import { providerContract } from "../contracts/sandbox-promises.ts";
import { until } from "../world/events.ts";

const options = { skip: cannotUseKubernetes };
const servingChild = join(import.meta.dirname, "../contracts/sandbox-serving-child.ts");
const place = realApi();

async function podsOf(installation: string) {
  const listed = await listPods(place, { [labels.installation]: installation });
  assert.ok(listed.ok, JSON.stringify(listed));
  return listed.value.pods;
}

test("a pod ends with the server that was killed, and is swept by another one [X3]", options, async (t) => {
  const installation = `test${systemIds.hex(12)}`;
  const args = [servingChild, "kubernetes", systemIds.hex(16), installation, "killed"];
  const server = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => server.kill("SIGKILL"));
  await new Promise((resolve) => server.stdout.once("data", resolve));
  assert.equal((await podsOf(installation)).length, 1);
  server.kill("SIGKILL");
  await until(
    "its programs are over",
    async () => (await podsOf(installation)).every(({ end }) => end !== undefined),
    120_000,
  );
  const next = openReal({ installation, server: "another" });
  t.after(() => next.close());
  assert.equal((await next.reap()).processes, 1);
  await until("its pod is gone", async () => (await podsOf(installation)).length === 0, 120_000);
});

test(
  "programs of a pod find a machine without a network, a token, or a name of the cluster [X3][X5]",
  options,
  async (t) => {
    const provider = openReal();
    t.after(() => provider.close());
    const opened = await provider.open(wantedGuest({}));
    assert.ok(opened.ok, JSON.stringify(opened));
    const { run } = triedGuest(opened.value);
    const look =
      "ls /var/run/secrets 2> /dev/null; env | grep -ci kubernetes; getent hosts kubernetes.default.svc; hostname";
    assert.deepEqual(await run("bash", look), done({ stdout: "0\nsandbox\n" }));
  },
);

const { api, pods } = realApi();

providerContract(
  "kubernetes",
  async () => ({
    provider: openReal(),
    workspace: workspaceFolder,
    uid: (number) => (ownerUid === undefined ? undefined : ownerUid + number),
    async accident(id) {
      await api.ask("DELETE", `${pods}/agentyard-${id}?gracePeriodSeconds=0`);
    },
  }),
  { skip: cannotUseKubernetes },
);
