import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import type { Message } from "../../protocol/message.ts";
import { anthropicMessages } from "../anthropic/messages.ts";
import { googleMessages } from "../google/messages.ts";
import { chatMessages } from "../openai/messages.ts";
import { defaultProfile } from "../profile.ts";
import { responsesMessages } from "../responses/messages.ts";
import { createTranscripts } from "./transcript.ts";

const chat = chatMessages(defaultProfile);
const origin = { api: "test", model: "m" };
const forms = {
  chat,
  responses: responsesMessages(defaultProfile, origin),
  anthropic: anthropicMessages(origin),
  google: googleMessages(origin),
};
const image = { mime: "image/png", base64: "eA==" };

/** A turn in which every call gets its result, as the loop writes it. */
const turn = fc
  .record({
    asked: fc.string(),
    calls: fc.array(fc.record({ id: fc.constantFrom("a", "b", "call_0", "x".repeat(60)), hasImage: fc.boolean() }), {
      maxLength: 3,
    }),
    said: fc.string({ minLength: 1 }),
  })
  .map(({ asked, calls, said }): Message[] => [
    { role: "user", text: asked },
    ...(calls.length === 0 ? [] : [callsTurn(calls.map((call) => call.id))]),
    ...calls.map(
      ({ id, hasImage }): Message => ({
        role: "tool",
        toolCallId: id,
        text: "r",
        images: hasImage ? [image] : undefined,
      }),
    ),
    { role: "assistant", text: said },
  ]);

function callsTurn(ids: string[]): Message {
  return { role: "assistant", text: "", toolCalls: ids.map((id) => ({ id, name: "t", arguments: "{}" })) };
}

for (const [api, form] of Object.entries(forms)) {
  test(`${api}: a longer conversation begins with the bytes of a shorter one, and says how many those are [L3][M6]`, () => {
    const property = fc.property(fc.array(turn, { minLength: 1, maxLength: 5 }), (turns) => {
      const write = createTranscripts(form, 10);
      const messages: Message[] = [{ role: "system", text: "You help." }];
      let before = { system: "", json: "", length: 0 };
      const ask = (more: readonly Message[]) => {
        const { system, json, bytes } = write([...messages, ...more], "conversation");
        assert.ok(json.startsWith(before.json) && system.startsWith(before.system));
        const all = system === "" ? json : `${system},${json}`;
        const hash = createHash("sha256").update(all).digest("hex").slice(0, 16);
        assert.deepEqual(bytes, { hash, length: Buffer.byteLength(all), reused: before.length });
        before = { system, json, length: bytes.length };
      };
      for (const part of turns) {
        ask(part.slice(0, 1));
        // And again when its calls have their results.
        if (part.length > 2) ask(part.slice(0, -1));
        messages.push(...part);
      }
    });
    fc.assert(property);
  });

  test(`${api}: what is written by growing is what is written at once [L3][M6]`, () => {
    const property = fc.property(fc.array(turn, { maxLength: 4 }), fc.nat(20), (turns, cut) => {
      const messages = turns.flat();
      const growing = createTranscripts(form, 10);
      growing(messages.slice(0, cut), "c");
      const grown = growing(messages, "c");
      const atOnce = createTranscripts(form, 10)(messages, "c");
      assert.deepEqual({ ...grown, bytes: { ...grown.bytes, reused: 0 } }, atOnce);
    });
    fc.assert(property);
  });
}

test("after an edit only what stands before it counts as the same [L3]", () => {
  const write = createTranscripts(chat, 10);
  const first: Message = { role: "user", text: "one" };
  const { bytes: alone } = write([first], "other");
  write([first, { role: "assistant", text: "two" }], "c");
  assert.equal(write([first, { role: "assistant", text: "three" }], "c").bytes.reused, alone.length);
});

test("equal messages count as the same even when they were read anew from the log [L3]", () => {
  const write = createTranscripts(chat, 10);
  const { bytes } = write([{ role: "user", text: "one" }], "c");
  assert.equal(
    write(
      [
        { role: "user", text: "one" },
        { role: "assistant", text: "two" },
      ],
      "c",
    ).bytes.reused,
    bytes.length,
  );
});

test("conversations beyond the limit are forgotten, the silent ones first [L3]", () => {
  const write = createTranscripts(chat, 2);
  const messages: Message[] = [{ role: "user", text: "one" }];
  for (const conversation of ["a", "b", "a", "c"]) write(messages, conversation);
  const reused = ["a", "b"].map((conversation) => write(messages, conversation).bytes.reused > 0);
  assert.deepEqual(reused, [true, false]);
});

test("without a conversation nothing is remembered [L3]", () => {
  const write = createTranscripts(chat, 2);
  const messages: Message[] = [{ role: "user", text: "one" }];
  write(messages);
  assert.equal(write(messages).bytes.reused, 0);
});

test("a result that is missing today does not spoil the request in which it is there [M3]", () => {
  const write = createTranscripts(chat, 2);
  const asked = [{ role: "user", text: "go" } as const, callsTurn(["a"])];
  assert.match(write(asked, "c").json, /There is no result/);
  const { json } = write([...asked, { role: "tool", toolCallId: "a", text: "here" }], "c");
  assert.doesNotMatch(json, /There is no result/);
});
