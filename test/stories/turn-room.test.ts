import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { ok } from "../../src/base/result.ts";
import { defineTool } from "../../src/tools/tools.ts";
import { all } from "../world/events.ts";
import { type Answer, type AskedRequest, calls, modelServer, type Script, says } from "../world/model-server.ts";
import { newConversation, place } from "../world/undo.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

const onePixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const picture: Joining = { text: "look", images: [{ mime: "image/png", base64: onePixel.toString("base64") }] };
const words: Joining = { text: "In a few words, please." };

const manyReads = [{ window: 32_000, files: 8, kilobytes: 40 }];

for (const { window, files, kilobytes } of manyReads) {
  test(`${files} files of ${kilobytes} KB read in one answer fit into a window of ${window} tokens together [F1][Z4]`, async () => {
    const names = Array.from({ length: files }, (_, n) => `file-${n}.txt`);
    await using model = await modelServer(
      within(window, ({ body }) =>
        body.messages.at(-1)?.role === "tool"
          ? says("seen")
          : calls(...names.map((name): [string, object] => ["read_file", { path: `outputs/${name}` }])),
      ),
    );
    await using yard = await startYard({ model, env: { MODEL_BASIC_CONTEXT_WINDOW: `${window}` } });
    const id = await newConversation(yard);
    for (const name of names) place(yard, id, name, linesOf(kilobytes * 10));
    const { answer, outcome, events } = await yard.ask("read them all", { conversation: id });
    assert.deepEqual({ answer, outcome }, { answer: "seen", outcome: "done" });
    const results = all(events, "call.finished");
    assert.deepEqual(
      results.map(({ outcome, blob }) => ({ outcome, blob })),
      names.map(() => ({ outcome: "ok", blob: undefined })),
      "each shows as much as there is room for by itself",
    );
    const shown = Buffer.byteLength(results.map(({ text }) => text).join(""));
    assert.ok(shown > window * 4 * 0.35, `only ${shown} bytes were shown`);
  });
}

test("a long turn makes room as often as it needs to, and reads a file of many windows to its end [L1][Z2][F1]", async () => {
  const [window, lines, pageLines] = [32_000, 6_000, 200];
  const pages = lines / pageLines;
  let read = 0;
  await using model = await modelServer(
    within(window, () => {
      if (read === pages) return says("at its end");
      read += 1;
      return calls(["read_file", { path: "outputs/long.txt", offset: (read - 1) * pageLines + 1, limit: pageLines }]);
    }),
  );
  await using yard = await startYard({ model, env: { MODEL_BASIC_CONTEXT_WINDOW: `${window}` } });
  const id = await newConversation(yard);
  place(yard, id, "long.txt", linesOf(lines));
  const { answer, outcome, events } = await yard.ask("read all of it", { conversation: id });
  assert.deepEqual({ answer, outcome }, { answer: "at its end", outcome: "done" });
  const results = all(events, "call.finished");
  assert.deepEqual(
    results.map(({ text }) => text.includes("left out here")),
    Array(pages).fill(false),
  );
  assert.ok(results.at(-1)?.text.includes(lineOf(lines - 1)));
  assert.ok(all(events, "compacted").length > 3, "room was made again and again");
  const last = JSON.stringify(model.asked.at(-1)?.body.messages);
  assert.ok(last.includes("read all of it"), "what was asked for is not forgotten");
});

for (const [where, first, ...joining] of [["that joined a turn", words, picture, words]] as const) {
  test(`an image ${where} is looked at by the vision model to its end, also after words alone have joined [M2][L7]`, async () => {
    await using model = await modelServer([
      calls(["wait", {}]),
      calls(["list_files", {}]),
      calls(["now", {}]),
      says("A dot."),
    ]);
    const env = { MODEL_VISION_BASE_URL: model.url, MODEL_VISION_ID: "eyes", MODEL_VISION_CONTEXT_WINDOW: "128000" };
    const wait = waitsFor(() => steer(yard, id, ...joining));
    await using yard = await startYard({ model, env, tools: [wait] });
    const id = await newConversation(yard);
    await must(yard.client.call("sendMessage", { params: { id }, body: { ...first, mode: "queue" } }));
    const { answer } = await yard.whenAtRest(id);
    const asked = model.asked.map(
      ({ body, text }) => [body.model, text.includes(onePixel.toString("base64"))] as const,
    );
    assert.deepEqual([answer, ...(asked.at(-1) ?? [])], ["A dot.", "eyes", true]);
    assert.ok(model.asked.at(-1)?.text.includes(words.text), "the words have joined");
    for (const [asks, sees] of asked) assert.equal(asks, sees ? "eyes" : "test-model");
  });
}

/** While it runs, something else happens. */
function waitsFor(meanwhile: () => Promise<void>) {
  return defineTool({
    ...{ name: "wait", description: "Waits. For tests.", class: "pure", input: z.object({}) },
    async run() {
      await meanwhile();
      return ok({ text: "waited" });
    },
  });
}

type Joining = { readonly text: string; readonly images?: { mime: "image/png"; base64: string }[] };

async function steer({ client }: TestYard, id: string, ...joining: readonly Joining[]): Promise<void> {
  for (const message of joining)
    await must(client.call("sendMessage", { params: { id }, body: { ...message, mode: "steer" } }));
}

/** A model with a window: it counts what it is sent, and refuses what does not fit as servers do. */
function within(windowTokens: number, script: (request: AskedRequest) => Answer): Script {
  return (request) => {
    const tokens = Math.ceil(request.text.length / 4);
    const message = `This model's maximum context length is ${windowTokens} tokens, but you sent ${tokens}.`;
    if (tokens > windowTokens) return { status: 400, body: JSON.stringify({ error: { message } }) };
    return { usage: { prompt_tokens: tokens, completion_tokens: 50, total_tokens: tokens + 50 }, ...script(request) };
  };
}

/** A hundred bytes each, and each another. */
function linesOf(count: number): string {
  return Array.from({ length: count }, (_, n) => `${lineOf(n)}\n`).join("");
}

function lineOf(n: number): string {
  return `${n} `.padEnd(99, "words and more ");
}
