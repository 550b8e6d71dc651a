import assert from "node:assert/strict";
import { test } from "node:test";
import { ok } from "../base/result.ts";
import { foreignTool } from "./foreign.ts";
import { indexTools, searchTools, wordsIn } from "./search-tools.ts";

function made(name: string, description: string, properties: Record<string, unknown> = {}) {
  const parameters = { type: "object", properties };
  return foreignTool({ name, description, parameters, run: async () => ok({ text: "" }) });
}

const tools = [
  made("github_list_pull_requests", "List the pull requests of a repository."),
  made("github_create_issue", "Create an issue.", { title: { type: "string", description: "Its headline." } }),
  made("calendar_create_event", "Put an event into the calendar.", { attendees: { type: "string" } }),
  made("weather_forecast", "查询某个城市的天气预报。", { city: { type: "string", description: "城市名称" } }),
  made("mail_send", "Send an e-mail to somebody."),
  { ...made("x17", "Does something."), words: "billing invoices" },
];

const index = indexTools(tools);
const named = (query: string, max = 1) => searchTools(index, query, max).map(({ name }) => name);

test("tools are found by name, purpose, arguments and the operator's own words, in English and Chinese [T1][R1]", () => {
  assert.deepEqual(
    [
      ...["listPullRequests", "pull request", "please create a new issue for me", "who are the attendees", "headlines"],
      ...["invoice", "send mail", "天气", "查询天气预报", "我想知道这个城市的天气", "calend"],
    ].map((query) => named(query)),
    [
      ...[["github_list_pull_requests"], ["github_list_pull_requests"], ["github_create_issue"]],
      ...[["calendar_create_event"], ["github_create_issue"], ["x17"], ["mail_send"]],
      ...[["weather_forecast"], ["weather_forecast"], ["weather_forecast"], ["calendar_create_event"]],
    ],
  );
});

test("a search tells no more tools than it may, the likeliest first, and none that has none of the words [T1]", () => {
  assert.deepEqual(named("create github issue", 1), ["github_create_issue"]);
  assert.deepEqual(
    [2, 5].map((max) => named("create github", max).length),
    [2, 3],
  );
  assert.deepEqual(
    ["submarine", "", "the of and", "🙂", "%%%"].flatMap((query) => named(query, 5)),
    [],
  );
});

test("each of 2,000 tools is found by its own name, and a query without end is read to its beginning [T1]", () => {
  const many = Array.from({ length: 2_000 }, (_, n) => made(`service${n % 40}_do_thing_${n}`, `Does thing ${n}.`));
  const all = indexTools(many);
  const missed = many.filter((tool) => !searchTools(all, tool.name, 5).includes(tool));
  assert.deepEqual(missed, []);
  assert.equal(searchTools(all, "service7 ".repeat(100_000), 5).length, 5);
});

test("words of a text are the same in every spelling of names [T1]", () => {
  for (const spelling of ["listPullRequests", "list_pull_requests", "List-Pull-Request", "ＬＩＳＴ pull REQUESTS"])
    assert.deepEqual(wordsIn(spelling), ["list", "pull", "request"]);
  assert.deepEqual(wordsIn("读PDF文件"), ["读", "pdf", "文件"]);
});
