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

const badArguments = { role: "assistant", content: "", tool_calls: [call("a", "[]")] };
const cases: readonly [what: string, body: unknown, problems: readonly string[]][] = [
  ["no object", "text", ["the body is not an object"]],
  ["no messages", { messages: [] }, ["there are no messages"]],
  [
    "an unknown role",
    request({ role: "robot", content: "x" }, user),
    ["messages[1]: no such role: robot", "the first message is not the user's: robot"],
  ],
  ["a message that is no object", request(7, user), ["messages[1]: not an object"]],
  ["a second system message", request(user, system, user), ["messages[2]: a system message that is not the first"]],
  ["an answer first", request(assistant, user), ["the first message is not the user's: assistant"]],
  ["an answer last", request(user, assistant), ["the last message is neither the user's nor a result: assistant"]],
  ["blanks alone", request({ role: "user", content: " \n" }), ["messages[1]: empty content"]],
  ["an empty list of parts", request({ role: "user", content: [] }), ["messages[1]: empty content"]],
  ["an empty part", request({ role: "user", content: [{ type: "text", text: "" }] }), ["messages[1]: an empty part"]],
  ["an answer of nothing", request(user, { role: "assistant", content: "" }, user), ["messages[2]: empty content"]],
  [
    "an answer without text",
    request(user, { role: "assistant", content: null }, user),
    ["messages[2]: content is no text"],
  ],
  ["an empty result", request(user, asks("a"), { ...result("a"), content: "" }), ["messages[3]: empty content"]],
  [
    "an image in a result",
    request(user, asks("a"), { ...picture("https://a.b/c.png"), ...{ role: "tool" }, tool_call_id: "a" }),
    ["messages[3]: a part that is empty or no text"],
  ],
  [
    "an empty list of calls",
    request(user, { ...assistant, tool_calls: [] }, user),
    ["messages[2]: tool_calls: not a list with something in it"],
  ],
  [
    "arguments that are a list",
    request(user, badArguments, result("a")),
    ["messages[2]: arguments are not the text of an object"],
  ],
  [
    "arguments that are no text",
    request(
      user,
      { ...badArguments, tool_calls: [{ ...call("a"), function: { name: "look", arguments: {} } }] },
      result("a"),
    ),
    ["messages[2]: arguments are not the text of an object"],
  ],
  [
    "a call with a bad name",
    request(
      user,
      { ...badArguments, tool_calls: [{ ...call("a"), function: { name: "a b", arguments: "{}" } }] },
      result("a"),
    ),
    ["messages[2]: a call with a bad name"],
  ],
  [
    "a call of no kind",
    request(user, { ...badArguments, tool_calls: [{ ...call("a"), type: "program" }] }, result("a")),
    ["messages[2]: no such call: program"],
  ],
  [
    "an id that is too long",
    request(user, asks("i".repeat(41)), result("i".repeat(41))),
    ["messages[2]: a call without a usable id"],
  ],
  [
    "a call without a result",
    request(user, asks("a", "b"), result("a"), user),
    ["messages[4]: call b was not answered before"],
  ],
  [
    "a call without a result at the end",
    request(user, asks("a", "b"), result("a")),
    ["the end: call b was not answered before"],
  ],
  [
    "a result twice",
    request(user, asks("a"), result("a"), result("a")),
    ["messages[4]: a result without its call directly before it"],
  ],
  [
    "a result without its call",
    request(user, result("a")),
    ["messages[2]: a result without its call directly before it"],
  ],
  [
    "a result of an earlier answer",
    request(user, asks("a"), result("a"), asks("b"), result("a")),
    ["messages[5]: a result without its call directly before it", "the end: call b was not answered before"],
  ],
  ["an id twice in an answer", request(user, asks("a", "a"), result("a"), result("a")), ["two calls have the id a"]],
  ["an id in two answers", request(user, asks("a"), result("a"), asks("a"), result("a")), ["two calls have the id a"]],
  [
    "a result without an id",
    request(user, asks("a"), { role: "tool", content: "seen" }),
    [
      "messages[3]: a result without the id of its call",
      "messages[3]: a result without its call directly before it",
      "the end: call a was not answered before",
    ],
  ],
  ["half a character", request({ role: "user", content: "a\ud83d" }), ["messages[1].content: half a character"]],
  [
    "half a character in a name",
    { ...request(user), metadata: { "\udc00": 1 } },
    ["metadata: half a character in a name"],
  ],
  [
    "calls, and no tools",
    { messages: [user, asks("a"), result("a")] },
    ["the history has calls, and there are no tools"],
  ],
  ["a choice, and no tools", { messages: [user], tool_choice: "none" }, ["a choice of tools, and there are no tools"]],
  ["an empty list of tools", { messages: [user], tools: [] }, ["tools: not a list with something in it"]],
  ["two tools of one name", { messages: [user], tools: [tool(), tool()] }, ["tools: two have the same name"]],
  ["a tool with a bad name", { messages: [user], tools: [tool("a.b")] }, ["tools[0]: a bad name"]],
  [
    "a tool without parameters",
    { messages: [user], tools: [{ type: "function", function: { name: "a" } }] },
    ["tools[0]: parameters are no object"],
  ],
  [
    "more tools than are taken",
    { messages: [user], tools: Array.from({ length: 129 }, (_, n) => tool(`t${n}`)) },
    ["tools: 129, more than 128"],
  ],
  [
    "an image that is not base64",
    request(picture("data:image/png;base64,a*")),
    ["messages[1]: an image that is not well-formed"],
  ],
  [
    "an image of an unknown kind",
    request(picture("data:image/tiff;base64,AAAA")),
    ["messages[1]: an image that is not well-formed"],
  ],
  [
    "an image that is empty",
    request(picture("data:image/png;base64,")),
    ["messages[1]: an image that is not well-formed"],
  ],
  ["a part of no kind", request({ role: "user", content: [{ type: "sound" }] }), ["messages[1]: no such part: sound"]],
  ["a field of ours", request({ ...user, seq: 4 }), ["messages[1]: a field that is not known here: seq"]],
];

for (const [what, body, problems] of cases) {
  test(`a strict server refuses ${what} [L5][M3]`, () => assert.deepEqual(validateRequest(body), problems));
}
