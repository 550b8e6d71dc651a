import { inputRequired } from "@modelcontextprotocol/server";
import { z } from "zod";
import { parsedJson } from "../base/json.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { ClientFailure } from "../client/client.ts";
import { asksForWords } from "../protocol/approval.ts";
import { Slot } from "../protocol/message.ts";
import type { Decision } from "../protocol/resources.ts";
import { limits } from "../protocol/route.ts";
import { approvalText, formsFor, questionText, takeAnswers } from "./ask.ts";
import { answer, defineTool, inWords, refused, type ToolCall } from "./offer.ts";
import { followTurn, newestTurn, type TurnEnd, type TurnWanted } from "./turn.ts";

/** Many clients give a call up after a minute. */
const waitSecondsUsual = 50;
const waitSecondsMax = 3_600;

export const conversationId = z
  .string()
  .min(1)
  .max(200)
  .describe("The id of a conversation, as list_conversations has it.");
const waitSeconds = z
  .number()
  .min(0)
  .max(waitSecondsMax)
  .default(waitSecondsUsual)
  .describe(`How long to wait for the answer, in seconds. The turn goes on after that; wait_for_answer waits on.`);

const Noted = z.object({ conversation: z.string(), message: z.string(), after: z.number().int().min(0) });

/** To say something to an agent, and to hear what comes of it. */
export const talkTools = [
  defineTool({
    name: "send_message",
    title: "Send a message",
    description:
      "Say something to an agent of the yard and wait for its answer. It has files, a sandbox and tools of its own, and works by itself until it is done. Without `conversation` a new one begins; name it again to go on. Cancelling the call stops the turn.",
    input: z.object({
      text: z.string().min(1).max(limits.messageCharactersMax).describe("What to say."),
      conversation: conversationId.optional(),
      agent: z
        .string()
        .min(1)
        .max(200)
        .optional()
        .describe("For a new conversation: the id of an agent, as list_agents has it."),
      files: z
        .array(z.string())
        .max(limits.messageFilesMax)
        .optional()
        .describe("Paths of files of the conversation that come with the message."),
      slot: Slot.optional().describe("Which of the yard's models should answer."),
      wait_seconds: waitSeconds,
    }),
    hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    async run({ wait_seconds, ...wanted }, call) {
      // A later round of a call: the message was sent, and a person has been asked.
      const noted = typeof call.noted === "string" ? Noted.safeParse(parsedJson(call.noted)) : undefined;
      const begun = noted?.success === true ? ok(noted.data) : await begin(wanted, call);
      if (!begun.ok) return refused(begun.failure);
      const { conversation } = begun.value;
      const left = await takeAnswers(conversation, call.answers ?? {}, call.client);
      if (!left.ok) return notPassedOn(conversation, left.failure, call);
      const end = await followTurn(begun.value, call, wait_seconds * 1_000, { isNew: noted?.success !== true });
      const forms =
        end.how === "asked" && call.canAsk
          ? formsFor(
              end.decisions.filter(({ id }) => !left.value.has(id)),
              call.words,
            )
          : {};
      if (Object.keys(forms).length === 0) return told(conversation, end, call);
      // Whatever comes back is checked as anything that a client says: it opens nothing that the client could not open.
      return inputRequired({ inputRequests: forms, requestState: JSON.stringify(begun.value) });
    },
  }),
  defineTool({
    name: "wait_for_answer",
    title: "Wait for an answer",
    description:
      "Wait until the turn of a conversation is over, and get its answer; or what it waits for. For turns that take longer than send_message waited. Cancelling the call leaves the turn alone.",
    input: z.object({ conversation: conversationId, wait_seconds: waitSeconds }),
    hints: { readOnlyHint: true, openWorldHint: false },
    async run({ conversation, wait_seconds }, call) {
      const state = await call.client.call("getState", { params: { id: conversation } });
      if (!state.ok) return refused(state.failure);
      if (state.value.conversation.turns === 0 && state.value.status === "idle" && state.value.queue.length === 0)
        return answer(call.words.mcpServer.nothingSaid(), { conversation, status: "idle" });
      return told(conversation, await followTurn(newestTurn(state.value), call, wait_seconds * 1_000), call);
    },
  }),
  defineTool({
    name: "answer_question",
    title: "Answer a question",
    description:
      "Answer a question that an agent asked, and wait for what it does then. For questions only: whether a call may be made is for a person to decide.",
    input: z.object({
      conversation: conversationId,
      decision: z.string().min(1).max(200).describe("The id of the question, as list_decisions has it."),
      answer: z.string().max(1_000_000).describe("The answer; for a form an object of JSON with its fields."),
      wait_seconds: waitSeconds,
    }),
    hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    async run({ conversation, decision, answer: said, wait_seconds }, call) {
      const { client, words } = call;
      const state = await client.call("getState", { params: { id: conversation } });
      if (!state.ok) return refused(state.failure);
      const asked = state.value.decisions.find(({ id }) => id === decision);
      if (asked?.kind === "approval")
        return refused({ code: "decision_verdict_unfit", detail: words.mcpServer.forPeople() });
      const made = await client.call("decide", {
        params: { id: conversation, decision },
        body: { verdict: "answer", answer: said },
      });
      if (!made.ok) return refused(made.failure);
      return told(conversation, await followTurn(newestTurn(state.value), call, wait_seconds * 1_000), call);
    },
  }),
  defineTool({
    name: "list_decisions",
    title: "List open decisions",
    description: "Everything that waits for a person, in all conversations: questions, and calls that need a yes.",
    input: z.object({}),
    hints: { readOnlyHint: true, openWorldHint: false },
    async run(_, { client, words }) {
      const decisions = await client.call("listDecisions", {});
      if (!decisions.ok) return refused(decisions.failure);
      const { items } = decisions.value;
      const text = items.length === 0 ? words.terminal.decision.inboxEmpty() : describe(items, words);
      return answer(text, { decisions: items.map(shown) });
    },
  }),
];

/** What a person filled in is lost with the call; whoever made it is not to say the message once more. */
function notPassedOn(conversation: string, { code, detail }: ClientFailure, { words }: ToolCall) {
  const { mcpServer: texts } = words;
  const parts = [detail, texts.notPassedOn(), texts.howToDecide(), texts.place({ conversation, status: "waiting" })];
  return refused({ code, detail: parts.join("\n\n") });
}

type Wanted = {
  readonly text: string;
  readonly conversation?: string | undefined;
  readonly agent?: string | undefined;
  readonly files?: string[] | undefined;
  readonly slot?: Slot | undefined;
};

type Begun = Required<TurnWanted> & { readonly message: string };

/** A message that was not taken leaves no conversation behind that was begun for it. */
async function begin(wanted: Wanted, { client }: ToolCall): Promise<Result<Begun, ClientFailure>> {
  const { text, conversation: known, agent, files, slot } = wanted;
  const made =
    known === undefined
      ? await client.call("createConversation", { body: { ...(agent !== undefined && { agent }) } })
      : undefined;
  if (made?.ok === false) return made;
  const id = known ?? made?.value.id ?? "";
  const body = { text, ...(files !== undefined && { files }), ...(slot !== undefined && { slot }) };
  const sent = await client.call("sendMessage", { params: { id }, body });
  if (sent.ok) return ok({ conversation: id, message: sent.value.message, after: sent.value.seq });
  if (made !== undefined) await client.call("deleteConversation", { params: { id } });
  return failed(sent.failure);
}

/** What became of a turn, in words and for software. */
function told(conversation: string, end: TurnEnd, { words }: ToolCall) {
  const { mcpServer: texts } = words;
  const place = (status: string) => texts.place({ conversation, status });
  switch (end.how) {
    case "failed":
      return refused(end.failure);
    case "stopped":
    case "running": {
      const status = end.how === "running" ? "running" : "cancelled";
      return answer([texts.running(), place(status)].join("\n\n"), { conversation, status });
    }
    case "asked":
      return answer([describe(end.decisions, words), texts.howToDecide(), place("waiting")].join("\n\n"), {
        ...{ conversation, status: "waiting" },
        decisions: end.decisions.map(shown),
      });
    case "finished": {
      const { outcome, answer: said, failure } = end;
      const why = failure === undefined ? [] : [inWords(words, failure).detail];
      const ending = outcome === "done" ? [] : [...why, texts.outcome[outcome]];
      const parts = [...(said === "" ? [] : [said]), ...ending, place(outcome)];
      const result = answer(parts.join("\n\n"), { conversation, status: outcome, answer: said });
      return outcome === "done" || outcome === "cancelled" ? result : { ...result, isError: true };
    }
  }
}

function describe(decisions: readonly Decision[], words: ToolCall["words"]): string {
  const lines = decisions.map((decision) => {
    const text = asksForWords(decision.kind) ? questionText(decision) : approvalText(decision, words);
    return `${text}\n(${decision.conversation} / ${decision.id})`;
  });
  return [words.callers.waits({ count: decisions.length }), ...lines].join("\n\n");
}

function shown({ conversation, id, kind, tool, arguments: asked, question, context, risk, fields }: Decision) {
  return { conversation, id, kind, tool, arguments: asked, question, context, risk, fields };
}
