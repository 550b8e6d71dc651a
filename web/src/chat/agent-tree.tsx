import { useState } from "react";
import { countText } from "../app/format.ts";
import { Link } from "../app/link.tsx";
import { useStore } from "../app/store.ts";
import { Button } from "../parts/button.tsx";
import { Icon, type IconName } from "../parts/icon.tsx";
import { useWords } from "../words/words.ts";
import { useActions } from "./actions.ts";
import { agentName, firstLine } from "./agent-names.ts";
import type { OpenConversation } from "./conversation.ts";
import { FailureText } from "./failure-text.tsx";
import { childrenOf, type Member, type MemberState, stateOf } from "./team.ts";
import { Transcript } from "./transcript.tsx";

type AgentTreeProps = { readonly opened: OpenConversation; readonly ids: readonly string[] };

/** The agents that a call made, with all that work for them; each opens. */
export function AgentTree({ opened, ids }: AgentTreeProps) {
  const words = useWords().team;
  const { team } = useStore(opened.view);
  const members = ids.flatMap((id) => team.get(id) ?? []);
  return (
    <ul className="agents" aria-label={words.made}>
      {members.map((member) => (
        <AgentRow key={member.id} opened={opened} member={member} team={team} />
      ))}
    </ul>
  );
}

export const stateGlyphs: Readonly<Record<MemberState, IconName>> = {
  ...{ idle: "clock", working: "working", waiting_person: "warning", waiting_agents: "clock" },
  ...{ done: "check", failed: "cross", terminated: "stop", limit: "warning" },
};

type AgentRowProps = {
  readonly opened: OpenConversation;
  readonly member: Member;
  readonly team: ReadonlyMap<string, Member>;
};

function AgentRow({ opened, member, team }: AgentRowProps) {
  const { team: words, language } = useWords();
  const [isOpen, setOpen] = useState(false);
  const { id, brief, steps, tokens, isStopping, ended } = member;
  const state = stateOf(member, team);
  const children = childrenOf(id, team);
  const facts = [
    isStopping && ended === undefined ? words.stopping : words.state[state],
    words.steps({ count: steps }),
    ...(tokens > 0 ? [words.tokens({ count: countText(tokens, language) })] : []),
  ];
  return (
    <li>
      <div className="call agent" data-state={state}>
        <button type="button" className="call-line" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <Icon name={stateGlyphs[state]} size={16} />
          <span className="call-name">{member.mode === "worker" ? words.worker : member.name}</span>
          <span className="call-object agent-brief">{firstLine(brief)}</span>
          <span className="call-time">{facts.join(" · ")}</span>
          <Icon name="right" size={16} />
        </button>
        {!isOpen && ended === undefined && <LiveTail opened={opened} agent={id} />}
        {isOpen && <AgentBody opened={opened} member={member} team={team} />}
        {ended?.failure !== undefined && (
          <p className="call-failure">
            <FailureText failure={ended.failure} />
          </p>
        )}
      </div>
      {children.length > 0 && (
        <ul className="agents">
          {children.map((child) => (
            <AgentRow key={child.id} opened={opened} member={child} team={team} />
          ))}
        </ul>
      )}
    </li>
  );
}

/** The end of what it is writing. */
function LiveTail({ opened, agent }: { readonly opened: OpenConversation; readonly agent: string }) {
  const writing = useStore(opened.live.writingOf(agent));
  const line = (writing?.text || writing?.reasoning || "").trimEnd().split("\n").at(-1) ?? "";
  return line === "" ? null : <p className="agent-tail">{line.slice(-tailCharacters)}</p>;
}

const tailCharacters = 160;

function AgentBody({ opened, member, team }: AgentRowProps) {
  const words = useWords().team;
  const { stopAgent } = useActions(opened);
  const { id, brief, ended, folded, isStopping } = member;
  const folder = ended?.folder;
  return (
    <div className="agent-body">
      <div>
        <span className="call-label">{words.brief}</span>
        <p className="agent-text">{brief}</p>
      </div>
      <Transcript opened={opened} agent={id} items={folded.items} team={team} />
      <div className="agent-tools">
        {ended === undefined && (
          <Button kind="danger" isDisabled={isStopping} onClick={() => void stopAgent(id)}>
            {words.stop}
            <span className="unseen"> {agentName(member, id, words)}</span>
          </Button>
        )}
        {folder !== undefined && (
          <Link className="button" to={{ page: "chat", conversation: opened.id, file: "" }}>
            {words.filesIn({ folder })}
          </Link>
        )}
        <Link className="button" to={{ page: "tasks", conversation: opened.id, agent: id }}>
          {words.open}
        </Link>
      </div>
    </div>
  );
}
