import { useEffect, useState } from "react";
import type { Client } from "../../../src/client/client.ts";
import type { AgentInfo } from "../../../src/protocol/agent-routes.ts";
import type { Decision } from "../../../src/protocol/resources.ts";
import { Link } from "../app/link.tsx";
import { useYard } from "../app/yard.ts";
import { agentName } from "../chat/agent-names.ts";
import { useWords } from "../words/words.ts";

/** Names stay what they are: who was asked for once is not asked for again. */
const known = new Map<string, AgentInfo>();

/** From the main agent down to the one that asks, by their names; what that one did is a click away. */
export function AgentPath({ decision }: { readonly decision: Decision }) {
  const { decisions: words, team } = useWords();
  const { client } = useYard();
  const { conversation, path } = decision;
  const [, setRead] = useState(0);
  const isMissing = path.some((id) => id !== "root" && !known.has(`${conversation}/${id}`));
  useEffect(() => {
    let isWanted = true;
    if (isMissing) void learn(client(), conversation).then(() => isWanted && setRead((count) => count + 1));
    return () => {
      isWanted = false;
    };
  }, [client, conversation, isMissing]);
  const names = path.map((id) => agentName(known.get(`${conversation}/${id}`), id, team));
  return (
    <p className="meta">
      {words.askedBy({ path: names.join(" › ") })}{" "}
      <Link to={{ page: "tasks", conversation, agent: path.at(-1) }}>{team.open}</Link>
    </p>
  );
}

async function learn(client: Client, conversation: string): Promise<void> {
  const answer = await client.call("listConversationAgents", { params: { id: conversation } });
  if (answer.ok) for (const agent of answer.value.items) known.set(`${conversation}/${agent.id}`, agent);
}
