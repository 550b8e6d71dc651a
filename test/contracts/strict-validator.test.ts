import assert from "node:assert/strict";
import { test } from "node:test";
import { validateRequest } from "../world/strict-validator.ts";

const system = { role: "system", content: "You are an agent." };
const user = { role: "user", content: "hello" };
const assistant = { role: "assistant", content: "yes" };
const call = (id: string, written = "{}") => ({
  ...{ id, type: "function" },
  function: { name: "look", arguments: written },
});
const asks = (...ids: string[]) => ({ role: "assistant", content: null, tool_calls: ids.map((id) => call(id)) });
const result = (id: string) => ({ role: "tool", tool_call_id: id, content: "seen" });
const tool = (name = "look") => ({ type: "function", function: { name, parameters: { type: "object" } } });
const picture = (url: string) => ({ role: "user", content: [{ type: "image_url", image_url: { url } }] });
const request = (...messages: unknown[]) => ({ model: "m", messages: [system, ...messages], tools: [tool()] });

test("a request with parallel calls, images and several turns has no problem [L5][M3]", () => {
  const body = request(
    user,
    asks("a", "b"),
    result("b"),
    result("a"),
    picture("data:image/png;base64,iVBORw0KGgo="),
    assistant,
    user,
    { ...asks("c"), content: "I look again." },
    result("c"),
  );
  assert.deepEqual(validateRequest(body), []);
});

const notDirectly = (at: number) => `messages[${at}]: a result without its call directly before it`;
const badArguments = { role: "assistant", content: "", tool_calls: [call("a", "[]")] };
const unanswered = "the end: call b was not answered before";
const cases: readonly [what: string, body: unknown, problem: string][] = [
  ["no messages", { messages: [] }, "there are no messages"],
  ["an unknown role", request(user, { role: "robot", content: "x" }, user), "messages[2]: no such role: robot"],
  ["a second system message", request(user, system, user), "messages[2]: a system message that is not the first"],
  ["an answer first", request(assistant, user), "the first message is not the user's: assistant"],
  ["an answer last", request(user, assistant), "the last message is neither the user's nor a result: assistant"],
  ["blanks alone", request({ role: "user", content: " \n" }), "messages[1]: empty content"],
  [
    "broken arguments",
    request(user, badArguments, result("a")),
    "messages[2]: arguments are not the text of an object",
  ],
  ["a call without a result", request(user, asks("a", "b"), result("a")), unanswered],
  ["a result twice", request(user, asks("a"), result("a"), result("a")), notDirectly(4)],
  ["a result without its call", request(user, result("a")), notDirectly(2)],
  ["an id in two answers", request(user, asks("a"), result("a"), asks("a"), result("a")), "two calls have the id a"],
  ["half a character", request({ role: "user", content: "a\ud83d" }), "messages[1].content: half a character"],
  [
    "calls, and no tools",
    { messages: [user, asks("a"), result("a")] },
    "the history has calls, and there are no tools",
  ],
  ["two tools of one name", { messages: [user], tools: [tool(), tool()] }, "tools: two have the same name"],
  [
    "a picture of no kind",
    request(picture("data:image/tiff;base64,AA")),
    "messages[1]: an image that is not well-formed",
  ],
  ["a field of ours", request({ ...user, seq: 4 }), "messages[1]: a field that is not known here: seq"],
];

test("a strict server says what it refuses [L5][M3]", () => {
  assert.deepEqual(
    cases.map(([what, body]) => [what, ...validateRequest(body)]),
    cases.map(([what, , problem]) => [what, problem]),
  );
});
