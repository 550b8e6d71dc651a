import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as settle } from "node:timers/promises";
import { BrokenOff } from "../workspace/workspace.ts";
import { bodyAsItComes, leaveBytes, openBytes } from "./bytes.ts";

const kiB = 1024;

/** Somebody who sends a file, piece by piece as it is taken, and what became of it. */
function sender(pieces: number, { signal, bytes = 64 * kiB }: { signal?: AbortSignal; bytes?: number } = {}) {
  let [taken, end] = [0, "open"];
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (taken === pieces) {
          end = "all sent";
          return controller.close();
        }
        taken += 1;
        controller.enqueue(new Uint8Array(bytes));
      },
      cancel() {
        end = "told to stop";
      },
    },
    { highWaterMark: 0 },
  );
  const headers = { "content-type": "application/octet-stream" };
  const sent: RequestInit & { duplex: "half" } = {
    method: "PUT",
    headers,
    body,
    duplex: "half",
    signal: signal ?? null,
  };
  const request = new Request("http://127.0.0.1/", sent);
  return { request, taken: () => taken, end: () => end };
}

function chunksOf(request: Request): AsyncIterable<Uint8Array> {
  const opened = openBytes(request, { isForm: false });
  assert.ok(opened.ok);
  return opened.value.chunks;
}

async function settled(): Promise<void> {
  for (let turns = 0; turns < 50; turns += 1) await settle();
}

test("a file whose sender goes away is broken off wherever it is, and never passes for a whole one [F4][Q2]", async () => {
  const gone = new AbortController();
  const { request, end } = sender(5, { signal: gone.signal });
  let got = 0;
  await assert.rejects(async () => {
    for await (const _ of chunksOf(request)) {
      got += 1;
      if (got === 2) gone.abort();
    }
  }, BrokenOff);
  assert.deepEqual([got, end()], [2, "told to stop"]);
  const late = sender(5, { signal: gone.signal });
  await assert.rejects(async () => {
    for await (const _ of chunksOf(late.request)) assert.fail("nothing of it is taken");
  }, BrokenOff);
});

test("of a file that is not wanted any more a little is let pass, and whoever has more to send is told to stop [F4]", async () => {
  const left = async (pieces: number) => {
    const { request, taken, end } = sender(pieces);
    for await (const _ of chunksOf(request)) break;
    await settled();
    return [taken(), end()];
  };
  assert.deepEqual(await left(10), [10, "all sent"]);
  const [taken, end] = await left(1_000);
  assert.equal(end, "told to stop");
  assert.ok(Number(taken) >= 17 && Number(taken) <= 19, `the first piece and a MiB of 64 KiB: ${taken}`);
});

test("whoever is refused before anything of their file was taken is told to stop, and one that is being taken is left alone [F4]", async () => {
  const refused = sender(3);
  await leaveBytes(refused.request);
  assert.deepEqual([refused.taken(), refused.end()], [0, "told to stop"]);
  const taken = sender(1);
  const reader = taken.request.body?.getReader();
  await leaveBytes(taken.request);
  assert.equal((await reader?.read())?.done, false);
});

test("the length that a sender names goes with the file, and what is no length is none [F4]", () => {
  const announced = (length: string) => {
    const headers = { "content-type": "application/octet-stream", "content-length": length };
    const request = new Request("http://127.0.0.1/", { method: "PUT", headers, body: "x" });
    const [opened, handedOn] = [openBytes(request, { isForm: false }), bodyAsItComes(request)];
    assert.ok(opened.ok && "announced" in handedOn);
    assert.equal(handedOn.announced, opened.value.announced);
    return opened.value.announced;
  };
  const longest = "9".repeat(15);
  assert.deepEqual(["0", "17", longest, `1${longest}`, "-1", "1e3", ""].map(announced), [
    0,
    17,
    Number(longest),
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  assert.deepEqual(bodyAsItComes(new Request("http://127.0.0.1/")), { bytes: undefined });
});

test("a form is a form, whatever else is written behind it, and nothing else is taken for one [F4][C6]", () => {
  const taken = (type: string, isForm: boolean) => {
    const request = new Request("http://127.0.0.1/", { method: "POST", headers: { "content-type": type }, body: "x" });
    const opened = openBytes(request, { isForm });
    return opened.ok ? "taken" : opened.failure.code;
  };
  assert.deepEqual(
    [taken("multipart/form-data; boundary=x", true), taken("application/octet-stream", true), taken("a/b", false)],
    ["taken", "form_unfit", "taken"],
  );
  assert.equal(taken(" Text/Plain ; charset=utf-8", false), "content_type_unfit");
});
