/** The scripted model: an OpenAI-compatible server in a process of its own. Tells its address to the process that forked it. */
import { createServer, type ServerResponse } from "node:http";
import { findStepMark, lookUp, modelName, stepMark, textPieces } from "./script.ts";

/** A chunk of an answer without its opening, which holds the answer's id. */
type ChunkTail = string;

const textChunks = textPieces.map((content, index) =>
  chunk(index === 0 ? { role: "assistant", content } : { content }),
);
const finishedWithCall = chunk({}, "tool_calls");
const finishedWithAnswer = chunk({}, "stop");
const usage = tailOf({ choices: [], usage: { prompt_tokens: 1000, completion_tokens: 60, total_tokens: 1060 } });

let answers = 0;
const server = createServer((request, response) => {
  const received: Buffer[] = [];
  request.on("data", (bytes: Buffer) => received.push(bytes));
  request.on("end", () => {
    answers += 1;
    response.writeHead(200, { "content-type": "text/event-stream" });
    sendEach(response, `data: {"id":"chatcmpl-${answers}",`, answerTo(Buffer.concat(received)), 0);
  });
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address !== null && typeof address === "object") process.send?.(`http://127.0.0.1:${address.port}/v1`);
});
process.on("disconnect", () => process.exit());

function answerTo(request: Buffer): ChunkTail[] {
  const { step, steps } = findStepMark(request);
  if (step === steps) return [...textChunks, finishedWithAnswer, usage];
  return [...textChunks, ...callChunks(step + 1, steps), finishedWithCall, usage];
}

/** One tool call, its arguments in four pieces. */
function callChunks(step: number, steps: number): ChunkTail[] {
  const head = { index: 0, id: stepMark(step, steps), type: "function" };
  return [
    chunk({ tool_calls: [{ ...head, function: { name: lookUp.name, arguments: '{"topic":' } }] }),
    ...['"the scripted work"', ',"page":', `${step}}`].map((piece) =>
      chunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] }),
    ),
  ];
}

function chunk(delta: object, finishReason: string | null = null): ChunkTail {
  return tailOf({ choices: [{ index: 0, delta, finish_reason: finishReason }] });
}

function tailOf(fields: object): ChunkTail {
  const envelope = { object: "chat.completion.chunk", created: 1_700_000_000, model: modelName };
  return `${JSON.stringify({ ...envelope, ...fields }).slice(1)}\n\n`;
}

/** Each chunk leaves in a turn of the event loop of its own, as a model's tokens do; in one turn Node would join them. */
function sendEach(response: ServerResponse, opening: string, tails: ChunkTail[], index: number): void {
  if (response.destroyed) return;
  const tail = tails[index];
  if (tail === undefined) {
    response.end("data: [DONE]\n\n");
    return;
  }
  response.write(opening + tail);
  setImmediate(sendEach, response, opening, tails, index + 1);
}
