import { Link } from "../app/link.tsx";
import { go } from "../app/router.ts";
import { useStore } from "../app/store.ts";
import { useYard } from "../app/yard.ts";
import { useActions } from "../chat/actions.ts";
import type { OpenConversation } from "../chat/conversation.ts";
import { useConversation } from "../chat/use-conversation.ts";
import { ConversationChoice, useListed } from "../conversations/conversation-choice.tsx";
import { Button } from "../parts/button.tsx";
import { useWords } from "../words/words.ts";
import { AgentPane } from "./agent-pane.tsx";
import { AgentRows } from "./agent-rows.tsx";
import { useAgents } from "./use-agents.ts";

type TasksPageProps = { readonly conversation: string | undefined; readonly agent: string | undefined };

/** Who works in a conversation, and for whom; what one of them did stands in the pane. */
export function TasksPage({ conversation, agent }: TasksPageProps) {
  const words = useWords().team;
  const { inbox } = useYard();
  const { items, phase } = useListed();
  const waiting = useStore(inbox.view).items.find(({ path }) => path.length > 1);
  const id = conversation ?? waiting?.conversation ?? items[0]?.id;
  const opened = useConversation(id);
  return (
    <>
      <main className="page tasks" id="place">
        <header className="page-head">
          <h1>{words.title}</h1>
          {opened !== undefined && <StopAll opened={opened} />}
        </header>
        <p className="about">
          {id === undefined && phase === "ready" ? words.noConversation : words.about}
          {id !== undefined &&
            conversation === undefined &&
            ` ${id === waiting?.conversation ? words.whereOneWaits : words.newest}`}
        </p>
        {id !== undefined && (
          <div className="tasks-choice">
            <ConversationChoice
              label={words.which}
              chosen={id}
              title={opened?.view.get().title}
              onChoose={(one) => go({ page: "tasks", conversation: one })}
            />
            <Link className="button" to={{ page: "chat", conversation: id }}>
              {words.toChat}
            </Link>
          </div>
        )}
        {opened !== undefined && <Team key={opened.id} opened={opened} agent={agent} />}
      </main>
      {opened !== undefined && agent !== undefined && (
        <aside className="pane">
          <ChosenAgent key={`${opened.id}/${agent}`} opened={opened} agent={agent} />
        </aside>
      )}
    </>
  );
}

function StopAll({ opened }: { readonly opened: OpenConversation }) {
  const { team: words, chat } = useWords();
  const { run } = useStore(opened.view);
  const { stop } = useActions(opened);
  if (run === undefined) return null;
  return (
    <Button kind="danger" isDisabled={run.isStopping} onClick={() => void stop()}>
      {run.isStopping ? chat.stopping : words.stopAll}
    </Button>
  );
}

type TeamProps = { readonly opened: OpenConversation; readonly agent: string | undefined };

function Team({ opened, agent }: TeamProps) {
  const words = useWords().team;
  const { items, trouble } = useAgents(opened);
  const { phase, failure } = useStore(opened.view);
  if (phase === "failed" || phase === "deleted") return <p className="trouble">{failure?.detail}</p>;
  return (
    <>
      {trouble !== "" && <p className="trouble">{trouble}</p>}
      {items?.length === 1 && <p className="about">{words.none}</p>}
      {items !== undefined && items.length > 1 && (
        <>
          <AgentRows conversation={opened.id} agents={items} chosen={agent} />
          {agent === undefined && <p className="meta">{words.pick}</p>}
        </>
      )}
    </>
  );
}

function ChosenAgent({ opened, agent }: { readonly opened: OpenConversation; readonly agent: string }) {
  const { items } = useAgents(opened);
  const chosen = items?.find(({ id }) => id === agent);
  return chosen === undefined ? null : <AgentPane opened={opened} agent={chosen} />;
}
