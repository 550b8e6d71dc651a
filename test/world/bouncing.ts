import { firstOf, lastOf, textOf } from "./company.ts";
import { type Answer, type AskedRequest, calls, says } from "./model-server.ts";

export const bouncingOrder = "let them talk";

/**
 * Two agents of one task with the same words, or with others each time; one that says the same to its parent in one answer
 * (which is over soonest); or the main agent and one of its own.
 */
export type Bounce = "same" | "other" | "burst" | "root";

/**
 * Agents that write to each other without end, beside one that does its work. Each says what it has as soon as it may call
 * nothing any more. What is said is a function of what was told, in whatever order that came.
 */
export function bouncingAnswer(bounce: Bounce): (request: AskedRequest) => Answer {
  return (request) => {
    const [name = ""] = firstOf(request).split(" ");
    const self = name === "let" ? "root" : name;
    if (request.body.tool_choice === "none") return says(`${self} came so far`);
    if (self === "quiet" && bounce === "burst") return says("quiet is done");
    if (self === "quiet") return lastOf(request).role === "tool" ? says("quiet is done") : calls(["now", {}]);
    if (self === "root") return bounce === "root" ? asksAgain(request) : gives(request, ["pair", "quiet"]);
    if (self === "pair") return gives(request, bounce === "burst" ? ["ping"] : ["pong", "ping"]);
    if (bounce === "burst")
      return calls(...[1, 2, 3].map((count): [string, unknown] => mailTo("parent", `Well? ${count}`)));
    return bounce === "root" ? answers(request) : writesBack(request, self, bounce);
  };
}

/** Has agents made, and waits for their end. */
function gives(request: AskedRequest, names: readonly string[]): Answer {
  const said = textOf(request);
  if (!said.includes('"ok":true,"agent"')) return calls(...names.map(made));
  return names.every((name) => said.includes(`[The agent ${name} `))
    ? says(`${names.join(", ")} are done`)
    : says("waiting");
}

const made = (name: string): [string, unknown] => ["spawn_agent", { role: name, task: `${name} it` }];
const mailTo = (to: string, text: string): [string, unknown] => ["send_message", { to, text, wait_for_answer: true }];
const mail = (to: string, text: string) => calls(mailTo(to, text));
const countIn = (said: string, what: string) => said.split(what).length - 1;

function writesBack(request: AskedRequest, self: string, bounce: Bounce): Answer {
  const said = textOf(request);
  const other = self === "ping" ? "pong" : "ping";
  // Until it hears from the other one, this one must not end.
  if (self === "pong" && !said.includes('"ready"')) return mail("parent", "ready");
  const heard = countIn(said, `[Message from the agent ${other} `) + (self === "ping" ? 1 : 0);
  if (heard <= countIn(said, `"to":"${other}"`)) return says("waiting");
  return mail(other, bounce === "same" ? `Well? (${said.length})` : self.repeat(heard));
}

/** The main agent, which wants to know how far another one is, first of `ping` and then of `pong`. */
function asksAgain(request: AskedRequest): Answer {
  const said = textOf(request);
  if (!said.includes('"ok":true,"agent"')) return calls(made("ping"), made("quiet"));
  const target = said.includes("[The agent ping ") ? "pong" : "ping";
  if (target === "pong" && !said.includes('"name":"pong"')) return calls(made("pong"));
  const isRefused = countIn(said, "mail_in_circles: ") > (target === "ping" ? 0 : 2);
  const hasAnswer = countIn(said, `[Message from the agent ${target} `) >= countIn(said, `"to":"${target}"`);
  return hasAnswer && !isRefused ? mail(target, "Are you done?") : says("waiting");
}

function answers(request: AskedRequest): Answer {
  if (lastOf(request).role !== "user") return says("waiting");
  return mail("parent", `not yet${"!".repeat(countIn(textOf(request), "[Message from"))}`);
}
