/**
 * The yardstick: the least that a loop with durable steps can be. Kept-alive node:http, a split at blank lines,
 * JSON.parse, one insert per step; the whole message list is serialized for each request, as a plain loop does.
 */
import { Agent, type IncomingMessage, request } from "node:http";
import { openRows } from "./rows.ts";
import { lookUp, modelName } from "./script.ts";
import type { OpenVariant } from "./variant.ts";

type Call = { id: string; type: "function"; function: { name: string; arguments: string } };
type Answer = { role: "assistant"; content: string; tool_calls?: [Call] };
type Message = Answer | { role: "user"; content: string } | { role: "tool"; tool_call_id: string; content: string };
type Delta = { content?: string; tool_calls?: [{ id: string; function: { name: string; arguments: string } }] };

const { result, ...definition } = lookUp;
const tools = [{ type: "function", function: definition }];

export const open: OpenVariant = ({ modelUrl, folder }) => {
  const rows = openRows(folder);
  const agent = new Agent({ keepAlive: true });
  return {
    run: async ({ question, stepDone }) => {
      const messages: Message[] = [{ role: "user", content: question }];
      for (;;) {
        const answer = await readAnswer(await ask(modelUrl, agent, messages));
        messages.push(answer);
        const call = answer.tool_calls?.[0];
        if (call === undefined) return answer.content;
        JSON.parse(call.function.arguments);
        const toolMessage: Message = { role: "tool", tool_call_id: call.id, content: result };
        messages.push(toolMessage);
        rows.insert([answer, toolMessage]);
        stepDone();
      }
    },
    close: () => {
      agent.destroy();
      rows.close();
    },
  };
};

function ask(modelUrl: string, agent: Agent, messages: Message[]): Promise<IncomingMessage> {
  const stream = { stream: true, stream_options: { include_usage: true } };
  const body = JSON.stringify({ model: modelName, ...stream, messages, tools });
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const sent = request(`${modelUrl}/chat/completions`, { method: "POST", agent, headers }, resolve);
    sent.on("error", reject);
    sent.end(body);
  });
}

function readAnswer(response: IncomingMessage): Promise<Answer> {
  const answer: Answer = { role: "assistant", content: "" };
  let rest = "";
  response.setEncoding("utf8");
  return new Promise((resolve, reject) => {
    response.on("data", (text: string) => {
      const events = (rest + text).split("\n\n");
      rest = events.pop() ?? "";
      for (const event of events) if (event !== "data: [DONE]") addEvent(answer, event.slice("data: ".length));
    });
    response.on("end", () => resolve(answer));
    response.on("error", reject);
  });
}

function addEvent(answer: Answer, data: string): void {
  const chunk: { choices: { delta: Delta }[] } = JSON.parse(data);
  const delta = chunk.choices[0]?.delta;
  if (delta?.content !== undefined) answer.content += delta.content;
  const piece = delta?.tool_calls?.[0];
  if (piece === undefined) return;
  if (answer.tool_calls === undefined)
    answer.tool_calls = [{ id: piece.id, type: "function", function: piece.function }];
  else answer.tool_calls[0].function.arguments += piece.function.arguments;
}
