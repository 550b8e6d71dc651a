import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as settle } from "node:timers/promises";
import { systemIds } from "../base/ids.ts";
import { bodyAsItComes, openBytes } from "./bytes.ts";
import { placeNamed } from "./conversation-named.ts";
import { idFor, uuidFrom } from "./once.ts";
import { routedPath } from "./routed-path.ts";

const kiB = 1024;

/** Somebody who sends a file, piece by piece as it is taken, and what became of it. */
function sender(pieces: number) {
  let [taken, end] = [0, "open"];
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (taken === pieces) {
          end = "all sent";
          return controller.close();
        }
        taken += 1;
        controller.enqueue(new Uint8Array(64 * kiB));
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

type Sent = {
  readonly body?: { readonly [name: string]: unknown };
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

const places: [sent: Sent, id: string | undefined, folder?: string][] = [
  [{}, undefined],
  [{ body: { conversation_id: "a" }, query: "b" }, "a"],
  [{ query: "b", headers: { conversation_id: "c" } }, "b"],
  [{ headers: { conversation_id: "c", "x-conversation-id": "d" } }, "c"],
  [{ headers: { "x-conversation-id": "d" }, body: { event: { conversation_id: "e" } } }, "d"],
  [{ body: { event: { conversation_id: "e" }, working_directory: "f" } }, "e", "f"],
  [{ body: { event: { conversation_id: 7 } } }, undefined],
  [{ body: { working_directory: "f/outputs/x" } }, "f", "outputs/x"],
  [{ body: { working_directory: "/workspace/f" } }, "f"],
  [{ body: { working_directory: "/workspace/f/uploads/temparea/" } }, "f", "uploads/temparea"],
  [{ body: { working_directory: "/workspace" } }, undefined],
  [{ body: { working_directory: "/workspace/a/temp", conversation_id: "a" } }, "a", "temp"],
  [{ body: { working_directory: "a/./temp", conversation_id: "a" } }, "a", "temp"],
  [{ body: { working_directory: "/workspace/outputs", conversation_id: "a" } }, "a", "outputs"],
  [{ body: { working_directory: "src", conversation_id: "a" } }, "a", "src"],
  // It is for the sandbox to say what is wrong with it.
  [{ body: { working_directory: "/workspace/a/../b" } }, "a", "../b"],
];

test("a program names its conversation by one of five fields, or by the folder it works in [X2]", () => {
  const told = places.map(([sent]) => {
    const place = placeNamed(asked(sent));
    assert.ok(place.ok);
    const { id, folder } = place.value;
    return folder === undefined ? [sent, id] : [sent, id, folder];
  });
  assert.deepEqual(told, places);
});

test("a folder that is nobody's is refused with the reason [X2]", () => {
  const refused = [
    { working_directory: "/etc" },
    { working_directory: "/workspaces/a" },
    { working_directory: "outputs" },
    { working_directory: "/workspace/b/temp", conversation_id: "a" },
  ].map((body) => {
    const place = placeNamed(asked({ body }));
    return place.ok ? "taken" : place.failure.params.what;
  });
  assert.deepEqual(refused, [
    "body.working_directory: is not below /workspace",
    "body.working_directory: is not below /workspace",
    "body.working_directory: needs conversation_id",
    "body.working_directory: is another conversation's",
  ]);
});

function asked({ body = {}, query, headers = {} }: Sent) {
  return {
    body: { code: "1", language: "python", timeout: 30, ...body } as const,
    query: { conversation_id: query },
    header: (name: string) => headers[name],
  };
}

test("what is made under a key has the same id each time, one for each thing, in the form of a random one [C6]", () => {
  const ids = { ...systemIds, uuid: () => "random" };
  const once = (seed: string) => ({ once: { seed, isRetry: false } });
  assert.equal(idFor(once("s"), ids, "message"), idFor(once("s"), ids, "message"));
  const all = [idFor(once("s"), ids, "message"), idFor(once("s"), ids, "reply"), idFor(once("t"), ids, "message")];
  assert.equal(new Set(all).size, 3);
  for (const id of all) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(idFor({ once: undefined }, ids, "message"), "random");
  assert.equal(uuidFrom("0123456789abcdef".repeat(2)), "01234567-89ab-4def-8123-456789abcdef");
  assert.equal(uuidFrom(`${"0".repeat(16)}f${"0".repeat(15)}`), "00000000-0000-4000-b000-000000000000");
});

test("the internal names of the chat service and the operator platform lead to the same routes, and only those [C1][T4]", () => {
  const paths = {
    "/api/agent-app/internal/v1/app/a/chat/completion": "/api/agent-app/v1/app/a/chat/completion",
    "/api/agent-factory/internal/v1/app/a": "/api/agent-factory/v1/app/a",
    "/api/agent-operator-integration/internal-v1/tool-box": "/api/agent-operator-integration/v1/tool-box",
    "/api/agent-app/v1/app/internal/v1/x": "/api/agent-app/v1/app/internal/v1/x",
    "/api/agent-app/internal/v2/app/a": "/api/agent-app/internal/v2/app/a",
    "/api/agent-app/internal/v1": "/api/agent-app/internal/v1",
    "/api/agent-other/internal/v1/app": "/api/agent-other/internal/v1/app",
    "/api/agent-operator-integration/internal-v1": "/api/agent-operator-integration/internal-v1",
    "/x/api/agent-app/internal/v1/app": "/x/api/agent-app/internal/v1/app",
  };
  const routed = Object.keys(paths).map((path) => [path, routedPath(new Request(`http://here${path}?a=b`))]);
  assert.deepEqual(Object.fromEntries(routed), paths);
});
