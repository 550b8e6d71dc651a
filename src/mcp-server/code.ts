import { z } from "zod";
import type { Client } from "../client/client.ts";
import type { SandboxExecution } from "../protocol/sandbox-resources.ts";
import { timeoutSecondsMax, timeoutSecondsUsual } from "../protocol/sandbox-routes.ts";
import { answer, defineTool, refused, type ToolCall } from "./offer.ts";
import { conversationId } from "./talk.ts";

const outputCharactersMax = 50_000;

/** Programs in the caller's own sandbox. */
export const codeTools = [
  defineTool({
    name: "run_code",
    title: "Run code",
    description:
      "Run a program in your sandbox of the yard: Python that keeps its variables, a shell, or JavaScript. With `conversation` it sees the files of that conversation. Cancelling the call stops the program.",
    input: z.object({
      code: z.string().min(1),
      language: z.enum(["python", "bash", "javascript"]).default("python"),
      conversation: conversationId.optional(),
      timeout: z.number().min(1).max(timeoutSecondsMax).default(timeoutSecondsUsual).describe("Seconds."),
    }),
    hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    async run({ code, language, conversation, timeout }, call) {
      const { client, words } = call;
      const found =
        conversation === undefined ? undefined : await client.call("getConversation", { params: { id: conversation } });
      if (found?.ok === false) return refused(found.failure);
      const submitted = await client.call("execute", {
        params: { id: "sess-agent-default" },
        body: { code, language, timeout, ...(conversation !== undefined && { conversation_id: conversation }) },
      });
      if (!submitted.ok) return refused(submitted.failure);
      const { execution_id: id } = submitted.value;
      const ended = await untilOver(id, call);
      if (ended === undefined)
        return answer(words.mcpServer.programGoesOn({ id }), { execution: id, status: "running" });
      return ended.ok ? describe(ended.value) : refused(ended.failure);
    },
  }),
];

/** Undefined where this process ends before the program. */
async function untilOver(id: string, call: ToolCall) {
  const { client, signal, closing } = call;
  const ends = AbortSignal.any([signal, closing]);
  for await (const news of client.followExecution(id, { signal: ends })) {
    if (news.frame === "result") return { ok: true as const, value: news.execution };
    if (news.frame === "failed") return { ok: false as const, failure: news.failure };
    if (news.frame === "output") call.tell(news.text.slice(-toldCharacters));
  }
  if (signal.aborted && !closing.aborted) await stop(id, client);
  return undefined;
}

/** Of what a program says while it runs. */
const toldCharacters = 200;

async function stop(id: string, client: Client): Promise<void> {
  await client.call("cancelExecution", { params: { id } });
}

function describe(execution: SandboxExecution) {
  const { status, exit_code, stdout, stderr, value, error_message, figures, artifacts, how } = execution;
  const files = [...new Set([...figures, ...artifacts.map(({ path }) => path)])];
  const parts = [
    ...shownPart("stdout", stdout),
    ...shownPart("stderr", stderr),
    ...(value === null ? [] : shownPart("value", value)),
    ...(error_message === null ? [] : [error_message]),
    ...(files.length === 0 ? [] : [`files: ${files.join(", ")}`]),
    `${status}${exit_code === null ? "" : ` (exit code ${exit_code})`}`,
  ];
  const result = answer(parts.join("\n\n"), { status, how, exit_code, stdout, stderr, value, files });
  return status === "completed" ? result : { ...result, isError: true };
}

function shownPart(name: string, text: string): string[] {
  if (text === "") return [];
  const cut = text.length > outputCharactersMax ? `…${text.slice(-outputCharactersMax)}` : text;
  return [`${name}:\n${cut}`];
}
