import assert from "node:assert/strict";
import { chatting } from "./chat.ts";
import type { ModelServer } from "./model-server.ts";
import type { Home, Program } from "./program.ts";

/** `agentyard serve` as an operator starts it, and a program that chats with it over its port. */
export type Served = ReturnType<typeof chatting> & {
  readonly service: Program;
  /** At once, as a power cut would. */
  kill(): Promise<void>;
};

export async function serve(home: Home): Promise<Served> {
  const service = home.start("serve", "--port", "0");
  const [, address = ""] = await service.until("output", /listens on (http:\/\/127\.0\.0\.1:\d+) [\s\S]*Ctrl\+C/);
  return {
    ...chatting(address),
    service,
    async kill() {
      service.child.kill("SIGKILL");
      await service.ended;
    },
  };
}

/** The frames of an answer until the server was killed at a word of it; the connection breaks off with the process. */
export async function killedAt(
  word: string,
  served: Served,
  ...asked: Parameters<Served["stream"]>
): Promise<unknown[]> {
  const begun = await served.stream(...asked);
  const frames: unknown[] = [];
  await assert.rejects(async () => {
    for await (const frame of begun.frames) {
      frames.push(frame);
      if (JSON.stringify(frame).includes(word)) await served.kill();
    }
    throw new Error("the stream ended by itself");
  });
  return frames;
}

/** The scripted model in the base slot of a program. */
export function modelEnv({ url }: Pick<ModelServer, "url">): Record<string, string> {
  return { MODEL_BASIC_BASE_URL: url, MODEL_BASIC_ID: "test-model", MODEL_BASIC_CONTEXT_WINDOW: "128000" };
}
