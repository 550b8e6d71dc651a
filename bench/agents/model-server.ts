/** The scripted model: an OpenAI-compatible server in a process of its own. Tells its address to the process that forked it. */
import { createServer, type ServerResponse } from "node:http";
import { type Brief, briefText, lookUp, modelName } from "./orders.ts";

type Message = { readonly role: string; readonly content: unknown };
type Call = { readonly name: string; readonly input: object };
type Answer = { readonly text: string; readonly calls: readonly Call[] };

const words = "word after word of a thought, ".repeat(10);

let answers = 0;
const server = createServer((request, response) => {
  const received: Buffer[] = [];
  request.on("data", (bytes: Buffer) => received.push(bytes));
  request.on("end", () => {
    const { messages = [] } = JSON.parse(Buffer.concat(received).toString("utf8") || "{}");
    const answer = answerTo(messages);
    if (answer === undefined) return;
    answers += 1;
    send(response, answer, answers);
  });
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address !== null && typeof address === "object") process.send?.(`http://127.0.0.1:${address.port}/v1`);
});
process.on("disconnect", () => process.exit());

/** Undefined: it never answers. */
function answerTo(messages: readonly Message[]): Answer | undefined {
  const [brief] = briefsIn(textOf(messages.find(({ role }) => role === "user")), /^(?=brief )/);
  const last = messages.at(-1);
  if (brief === undefined) return following(last);
  const { deed, steps, led } = brief;
  if (deed === "hold") return undefined;
  if (led > 0) return leading(last, brief);
  if (deed === "wait") return waiting(last);
  const taken = messages.filter(({ role }) => role === "assistant").length;
  return taken + 1 < steps ? calling({ name: lookUp.name, input: { page: taken } }) : saying("That is all.");
}

/** Does what the user says, and waits for those whom it made. */
function following(last: Message | undefined): Answer {
  const text = textOf(last);
  const briefs = briefsIn(text, /^order spawn /);
  if (briefs.length > 0) return calling(...briefs.map(spawning));
  const [, name] = /^order tell (\S+)/.exec(text) ?? [];
  return name === undefined
    ? saying("I wait for them.")
    : calling({ name: "send_message", input: { to: name, text: `Go on, ${name}.` } });
}

function leading(last: Message | undefined, { deed, steps, led }: Brief): Answer {
  if (!textOf(last).startsWith("brief ")) return saying("I wait for them.");
  return calling(...Array.from({ length: led }, (_, index) => spawning({ deed, steps, led: 0 }, index)));
}

/** Looks something up, then asks its parent and waits for what it says. */
function waiting(last: Message | undefined): Answer {
  const text = textOf(last);
  if (text.startsWith("brief ")) return calling({ name: lookUp.name, input: { page: 0 } });
  if (last?.role === "tool" && text.includes(lookUp.result.slice(0, 20)))
    return calling({ name: "send_message", input: { to: "parent", text: "What next?", wait_for_answer: true } });
  return saying(last?.role === "tool" ? "I wait." : "Understood.");
}

function spawning(brief: Brief, index: number): Call {
  return { name: "spawn_agent", input: { role: `${brief.deed}-${index}`, task: briefText(brief) } };
}

function briefsIn(text: string, start: RegExp): Brief[] {
  if (!start.test(text)) return [];
  return [...text.replace(start, "").matchAll(/(?:^|; )brief (wait|work|hold) (\d+) (\d+)/g)].map(
    ([, deed = "", steps, led]) => ({ deed: deed as Brief["deed"], steps: Number(steps), led: Number(led) }),
  );
}

function textOf(message: Message | undefined): string {
  return typeof message?.content === "string" ? message.content : JSON.stringify(message?.content ?? "");
}

function saying(text: string): Answer {
  return { text, calls: [] };
}

function calling(...calls: readonly Call[]): Answer {
  return { text: words, calls };
}

function send(response: ServerResponse, { text, calls }: Answer, number: number): void {
  const envelope = { id: `chatcmpl-${number}`, object: "chat.completion.chunk", created: 1, model: modelName };
  const chunk = (delta: object, finish: string | null = null) => ({
    ...envelope,
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const made = calls.map(({ name, input }, index) =>
    chunk({
      tool_calls: [
        {
          ...{ index, id: `call_${number}_${index}`, type: "function" },
          function: { name, arguments: JSON.stringify(input) },
        },
      ],
    }),
  );
  const usage = { ...envelope, choices: [], usage: { prompt_tokens: 1000, completion_tokens: 60, total_tokens: 1060 } };
  const all = [
    chunk({ role: "assistant", content: text }),
    ...made,
    chunk({}, calls.length === 0 ? "stop" : "tool_calls"),
    usage,
  ];
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(`${all.map((each) => `data: ${JSON.stringify(each)}\n\n`).join("")}data: [DONE]\n\n`);
}
