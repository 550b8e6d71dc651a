import type { LogEvent } from "../../src/protocol/events.ts";
import { type Answer, type AskedRequest, calls, says } from "./model-server.ts";

/** Long enough not to be asked for more. */
export const report = (text: string) => `${text}: ${"found and checked, ".repeat(12)}`;

export function firstOf({ body }: AskedRequest): string {
  return String(body.messages.find(({ role }) => role === "user")?.content);
}

export function lastOf({ body }: AskedRequest): { readonly role: string; readonly text: string } {
  const last = body.messages.at(-1);
  return { role: last?.role ?? "", text: String(last?.content) };
}

/** Of the main agent, not of one that it made. */
export function isRoots(event: LogEvent): boolean {
  return !("agent" in event) || event.agent === undefined;
}

export const order = "run the company";

export type Size = { readonly tasks: readonly string[]; readonly workers: readonly number[] };
/**
 * A company whose answers are a function of what it was told, in whatever order that came: the main agent gives a task to
 * each of a few agents, which give parts of it to workers. Of these one fails, one never comes to an end and one asks a
 * person; the first task asks the main agent something before it goes on. All write files, and the end is always the same.
 */
export function companyAnswer(size: Size): (request: AskedRequest) => Answer {
  return (request) => {
    const [, kind = "", name = ""] = /^(run the|task|worker) (\S+)/.exec(firstOf(request)) ?? [];
    if (kind === "task") return taskAnswer(request, name, size);
    return kind === "worker" ? workerAnswer(request, name, size) : rootAnswer(request, size);
  };
}

function rootAnswer(request: AskedRequest, { tasks }: Size): Answer {
  const said = textOf(request);
  if (!said.includes('"ok":true,"agent"'))
    return calls(...tasks.map((name): [string, unknown] => ["spawn_agent", { role: name, task: `task ${name}` }]));
  const asks = tasks.filter(
    (name) => said.includes(`${name} wants to know`) && !said.includes(`the answer for ${name}`),
  );
  if (asks.length > 0)
    return calls(
      ...asks.map((name): [string, unknown] => ["send_message", { to: name, text: `the answer for ${name}` }]),
    );
  const ended = tasks.filter((name) => said.includes(`[The agent ${name} `));
  return ended.length < tasks.length ? says("waiting") : says(`all of ${ended.join(", ")} are done`);
}

function taskAnswer(request: AskedRequest, name: string, { tasks, workers }: Size): Answer {
  const said = textOf(request);
  if (!said.includes("context_id"))
    return calls(
      ...workers.map((number): [string, unknown] => [
        "delegate_task",
        { task: `worker ${name}${number} of ${name}`, max_loops: 4 },
      ]),
    );
  if (name === tasks[0] && !said.includes(`the answer for ${name}`)) {
    if (said.includes("You do not end before it answers")) return says("I wait for it");
    return calls(["send_message", { to: "parent", text: `${name} wants to know`, wait_for_answer: true }]);
  }
  if (!said.includes("Success: File written to outputs/"))
    return calls(["write_file", { path: `outputs/${name}.txt`, content: summaryOf(request) }]);
  return says(`${name} has a summary`);
}

/** How each worker ended, in their order. */
function summaryOf({ body }: AskedRequest): string {
  const results = body.messages.flatMap(({ role, content }) =>
    role === "tool" && String(content).includes("context_id") ? [String(content)] : [],
  );
  return results
    .map((text) => `${/"ok":\w+/.exec(text)?.[0]} ${/worker \w+ \w+/.exec(text)?.[0] ?? "nothing"}`)
    .join("\n");
}

function workerAnswer(request: AskedRequest, name: string, { tasks, workers }: Size): Answer {
  const { role, text } = lastOf(request);
  const [first, second, third] = tasks;
  const middle = workers[1];
  if (name === `${first}${middle}`) return { status: 401, body: "{}" };
  if (name === `${second}${middle}` && request.body.tool_choice !== "none")
    return calls(["now", {}], ["todo_read", {}]);
  if (name === `${second}${middle}`) return says(report(`worker ${name} stopped`));
  if (name === `${third}${middle}` && role === "user") return calls(["ask_human", { question: "Which one?" }]);
  if (name === `${third}${middle}`) return says(report(`worker ${name} heard ${text}`));
  if (role === "user") return calls(["write_file", { path: `notes/${name}.txt`, content: name }]);
  return says(report(`worker ${name} wrote`));
}

export function textOf({ body }: AskedRequest): string {
  return body.messages
    .filter(({ role }) => role !== "system")
    .map(({ content, tool_calls: made = [] }) => `${content} ${made.map((call) => call.function.arguments).join(" ")}`)
    .join("\n");
}
