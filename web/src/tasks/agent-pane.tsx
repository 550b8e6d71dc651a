import type { AgentInfo } from "../../../src/protocol/agent-routes.ts";
import { countText } from "../app/format.ts";
import { go } from "../app/router.ts";
import { useStore } from "../app/store.ts";
import { useActions } from "../chat/actions.ts";
import { agentName } from "../chat/agent-names.ts";
import { stateGlyphs } from "../chat/agent-tree.tsx";
import type { OpenConversation } from "../chat/conversation.ts";
import { Transcript } from "../chat/transcript.tsx";
import { FilesOf } from "../markdown/files-of.ts";
import { Button, IconButton } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { useWords } from "../words/words.ts";
import { AgentBudget } from "./agent-budget.tsx";
import { AgentFiles } from "./agent-files.tsx";
import { useTranscript } from "./use-transcript.ts";

type AgentPaneProps = { readonly opened: OpenConversation; readonly agent: AgentInfo };

/** What one agent was told, what it may spend, what it made, and all that it did. */
export function AgentPane({ opened, agent }: AgentPaneProps) {
  const { team: words, shell, language } = useWords();
  const { id, mode, role, state, steps, tokens, brief } = agent;
  const name = agentName(agent, id, words);
  const count = countText(tokens.input + tokens.output, language);
  return (
    <section className="task" aria-label={name}>
      <header className="timeline-head">
        <h2>{name}</h2>
        <IconButton icon="close" label={shell.close} onClick={() => go({ page: "tasks", conversation: opened.id })} />
      </header>
      <p className="task-state" data-state={state}>
        <Icon name={stateGlyphs[state]} size={16} />
        {words.state[state]} · {words.steps({ count: steps })} · {words.tokens({ count })}
      </p>
      <p className="meta">
        {words.mode[mode]} · {words.role({ role })}
      </p>
      <StopOne opened={opened} agent={agent} name={name} />
      {brief !== "" && (
        <>
          <h3>{words.brief}</h3>
          <p className="agent-text">{brief}</p>
        </>
      )}
      <h3>{words.budget}</h3>
      <AgentBudget agent={agent} />
      <h3>{words.files}</h3>
      <AgentFiles opened={opened} agent={agent} />
      {mode !== "main" && <History opened={opened} agent={agent} />}
    </section>
  );
}

type StopProps = AgentPaneProps & { readonly name: string };

function StopOne({ opened, agent, name }: StopProps) {
  const words = useWords().team;
  const { stopAgent } = useActions(opened);
  const { team } = useStore(opened.view);
  const { id, mode, endedAt } = agent;
  if (mode === "main" || endedAt !== null) return null;
  const isStopping = team.get(id)?.isStopping === true;
  return (
    <p>
      <Button kind="danger" isDisabled={isStopping} onClick={() => void stopAgent(id)}>
        {isStopping ? words.stopping : words.stopOne({ name })}
      </Button>
    </p>
  );
}

function History({ opened, agent }: AgentPaneProps) {
  const words = useWords().team;
  const { team } = useStore(opened.view);
  const writing = useStore(opened.live.writingOf(agent.id));
  const { items, hasEarlier, isReady } = useTranscript(opened, agent);
  return (
    <>
      <h3>{words.transcript}</h3>
      {hasEarlier && <p className="meta">{words.earlier}</p>}
      {isReady && items.length === 0 && writing === undefined && <p className="meta">{words.nothingYet}</p>}
      {/* Files of a task are not the conversation's: what its texts name leads nowhere there. */}
      <FilesOf value={agent.workspace === null ? opened.id : undefined}>
        <Transcript opened={opened} agent={agent.id} items={items} team={team} />
      </FilesOf>
    </>
  );
}
