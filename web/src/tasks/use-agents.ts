import { useEffect, useState } from "react";
import type { AgentInfo } from "../../../src/protocol/agent-routes.ts";
import { useStore } from "../app/store.ts";
import { useYard } from "../app/yard.ts";
import type { OpenConversation } from "../chat/conversation.ts";

/** Events come in bursts, and each answer reads the whole log. */
const lookAgainMs = 400;

export type Agents = { readonly items: readonly AgentInfo[] | undefined; readonly trouble: string };

/** Who works in a conversation, asked for again whenever something happens there. */
export function useAgents(opened: OpenConversation): Agents {
  const { client } = useYard();
  const { head } = useStore(opened.view);
  const [agents, setAgents] = useState<Agents>({ items: undefined, trouble: "" });
  const isFirst = agents.items === undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what happens moves the head.
  useEffect(() => {
    let isWanted = true;
    const ask = async () => {
      const answer = await client().call("listConversationAgents", { params: { id: opened.id } });
      if (!isWanted) return;
      if (answer.ok) setAgents({ items: answer.value.items, trouble: "" });
      else setAgents(({ items }) => ({ items, trouble: answer.failure.detail }));
    };
    const timer = setTimeout(() => void ask(), isFirst ? 0 : lookAgainMs);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [client, opened, head]);
  return agents;
}
