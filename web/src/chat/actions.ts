import type { ClientFailure } from "../../../src/client/client.ts";
import { go } from "../app/router.ts";
import { useYard, type Yard } from "../app/yard.ts";
import { useWords, type Words } from "../words/words.ts";
import type { OpenConversation } from "./conversation.ts";

/** What a person wants to say. `id` is made by the page: sending the same again under it is harmless. */
export type Outgoing = {
  readonly id: string;
  readonly text: string;
  readonly mode: "queue" | "steer";
  readonly slot: string | undefined;
  /** Paths in the workspace. */
  readonly files: readonly string[];
};

/** What can be done in a conversation. All of them answer whether it was done; why not is told at the edge of the page. */
export type Actions = {
  readonly send: (message: Outgoing) => Promise<boolean>;
  readonly stop: () => Promise<boolean>;
  /** Ends one agent, with all that work for it; the others go on. */
  readonly stopAgent: (agent: string) => Promise<boolean>;
  readonly withdraw: (message: string) => Promise<boolean>;
  /** Has a message answered anew, in other words where some are given. */
  readonly sayAgain: (message: string, text?: string) => Promise<boolean>;
  /** A new conversation with the history up to this place, which is shown. */
  readonly branch: (at?: number) => Promise<boolean>;
  readonly undoCompaction: () => Promise<boolean>;
  readonly compact: () => Promise<boolean>;
};

export function useActions(opened: OpenConversation): Actions {
  return actionsIn(useYard(), opened, useWords().chat);
}

/** As long as it takes to read which files are missing, and where they are. */
const leftOutMs = 30_000;

function actionsIn({ client, toasts, conversations }: Yard, opened: OpenConversation, words: Words["chat"]): Actions {
  const { id } = opened;
  const params = { id };
  const isDone = (answer: { readonly ok: true } | { readonly ok: false; readonly failure: ClientFailure }): boolean => {
    if (!answer.ok) toasts.tell({ kind: "trouble", text: answer.failure.detail });
    return answer.ok;
  };
  return {
    async send({ id: message, text, mode, slot, files }) {
      const takeAway = opened.showSending(message, text, mode);
      const sent = await client().call("sendMessage", {
        params,
        body: { id: message, text, mode, ...(slot && { slot }), ...(files.length > 0 && { files: [...files] }) },
      });
      if (!sent.ok) takeAway();
      const unknown = sent.ok ? (sent.value.unknownMentions ?? []) : [];
      for (const { name, near } of unknown) toasts.tell({ kind: "news", text: `@${name}: ${near.join(", ") || "?"}` });
      return isDone(sent);
    },
    async stop() {
      const stopped = await client().call("cancelTurn", { params });
      // It ended by itself meanwhile.
      return (!stopped.ok && stopped.failure.code === "turn_not_running") || isDone(stopped);
    },
    async stopAgent(agent) {
      const stopped = await client().call("stopAgent", { params: { id, agent } });
      return (!stopped.ok && stopped.failure.code === "agent_ended") || isDone(stopped);
    },
    withdraw: async (message) => isDone(await client().call("withdrawMessage", { params: { id, message } })),
    sayAgain: async (message, text) =>
      isDone(await client().call("sayAgain", { params: { id, message }, body: text === undefined ? {} : { text } })),
    async branch(at) {
      const made = await client().call("branchConversation", { params, body: at === undefined ? {} : { at } });
      if (made.ok) {
        go({ page: "chat", conversation: made.value.id });
        void conversations.refresh();
      }
      const leftOut = made.ok ? made.value.filesLeftOut : [];
      const files = leftOut.includes(".") ? undefined : leftOut.join(", ");
      if (leftOut.length > 0) toasts.tell({ kind: "trouble", text: words.filesLeftOut({ files }) }, leftOutMs);
      return isDone(made);
    },
    undoCompaction: async () => isDone(await client().call("undoCompaction", { params })),
    compact: async () => isDone(await client().call("compactConversation", { params, body: {} })),
  };
}

/** The first message of a conversation that there is not yet. */
export async function sendFirst({ client, toasts, conversations }: Yard, message: Outgoing): Promise<boolean> {
  const { id, text, slot, files } = message;
  // Under the message's own id: sent again, because an answer was lost, it is said in the same conversation.
  const made = await client().call("createConversation", { body: { id } });
  const isThere = made.ok || made.failure.code === "conversation_exists";
  const sent = isThere
    ? await client().call("sendMessage", {
        params: { id },
        body: { id, text, ...(slot && { slot }), ...(files.length > 0 && { files: [...files] }) },
      })
    : made;
  if (!sent.ok) toasts.tell({ kind: "trouble", text: sent.failure.detail });
  if (!sent.ok) return false;
  go({ page: "chat", conversation: id });
  void conversations.refresh();
  return true;
}
