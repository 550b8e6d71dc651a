import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { ok } from "../../src/base/result.ts";
import { failure } from "../../src/protocol/failure.ts";
import type { SandboxProvider } from "../../src/sandbox/provider.ts";
import type { ProgramOutput } from "../../src/sandbox/sandbox.ts";
import { playedProvider } from "../world/played-provider.ts";
import { openGround } from "./sandbox-service-place.ts";
import { alice, unwrap } from "./storage-place.ts";

const saidBytes = 30 * 1024 * 1024;

test("of outputs that are over, the newest are kept whole; a slow reader of an older one is told what it missed [X1][X4]", async (t) => {
  const { submit, follow } = await openTalkers(t);
  const first = await submit();
  const slow = follow(first)[Symbol.asyncIterator]();
  const { value: beginning } = await slow.next();
  const second = await submit();
  const third = await submit();
  const rest: ProgramOutput[] = [];
  for (let next = await slow.next(); next.done !== true; next = await slow.next()) rest.push(next.value);
  assert.deepEqual(
    rest.filter(({ cutBytes }) => cutBytes > 0).map(({ stream }) => stream),
    ["stdout"],
  );
  const heard = [beginning, ...rest].reduce((bytes, { text, cutBytes }) => bytes + text.length + cutBytes, 0);
  assert.equal(heard, saidBytes);
  for (const id of [second, third]) {
    const told = await allOf(follow(id));
    assert.deepEqual(
      told.reduce((sum, { text, cutBytes }) => [(sum[0] ?? 0) + text.length, (sum[1] ?? 0) + cutBytes], [0, 0]),
      [saidBytes, 0],
    );
  }
});

test("the newest output that is over is kept whole, however long it is [X1][X4]", async (t) => {
  const bytes = 64 * 1024 * 1024 + 1;
  const { submit, follow } = await openTalkers(t, bytes);
  const told = { bytes: 0, cutBytes: 0 };
  for await (const { text, cutBytes } of follow(await submit())) {
    told.bytes += text.length;
    told.cutBytes += cutBytes;
  }
  assert.deepEqual(told, { bytes, cutBytes: 0 });
});

test("what a report leaves out lies in a file, and where that cannot be written none is named [X1][Q2]", async (t) => {
  const ground = await openGround(t, { provider: () => playedProvider(({ code }) => ({ code: 0, says: code })) });
  const place = await ground.place("c1");
  const files = place.workspace ?? assert.fail("the place has a workspace");
  const told = async (bytes: number, workspace = files) => {
    const wanted = { language: "bash", code: "x".repeat(bytes), timeoutMs: 1000 } as const;
    const { stdout } = await unwrap(await ground.sandbox.run({ ...place, workspace }, wanted)).report;
    const kept = stdout.path === undefined ? undefined : unwrap(await files.read(stdout.path)).bytes.length;
    return { cutBytes: stdout.cutBytes, kept };
  };
  assert.deepEqual(
    [await told(64 * 1024), await told(64 * 1024 + 1)],
    [
      { cutBytes: 0, kept: undefined },
      { cutBytes: 1, kept: 64 * 1024 + 1 },
    ],
  );
  const write = async () => failure("write_failed", { path: "temp", why: "full" });
  assert.deepEqual(await told(64 * 1024 + 1, { ...files, write }), { cutBytes: 1, kept: undefined });
  assert.ok(ground.logged.includes('the output of an execution could not be kept {"code":"write_failed"}'));
});

/** Programs that say much and end. */
async function openTalkers(t: TestContext, bytes = saidBytes) {
  const ground = await openGround(t, { provider: () => talking(bytes) });
  const place = { owner: alice, conversation: undefined, workspace: undefined, agent: "root" };
  const { executions } = ground.sandbox;
  const wanted = { language: "bash", code: "at once", timeoutMs: 1000, conversationId: undefined } as const;
  return {
    async submit() {
      const { id } = unwrap(await executions.submit(place, wanted));
      await executions.wait(alice, id, new AbortController().signal);
      return id;
    },
    follow: (id: string) => executions.follow(alice, id) ?? assert.fail("it is not known"),
  };
}

function talking(bytes: number): SandboxProvider {
  const played = playedProvider();
  return {
    ...played,
    async open(wanted) {
      const opened = await played.open(wanted);
      if (!opened.ok) return opened;
      const guest = opened.value;
      return ok({
        ...guest,
        async *run(execution) {
          yield { kind: "output", stream: "stdout", bytes: Buffer.alloc(bytes, "x") };
          yield* guest.run(execution);
        },
      });
    },
  };
}

async function allOf(outputs: AsyncIterable<ProgramOutput>): Promise<ProgramOutput[]> {
  const all: ProgramOutput[] = [];
  for await (const output of outputs) all.push(output);
  return all;
}
