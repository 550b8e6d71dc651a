import { type KeyboardEvent, type RefObject, useRef, useState } from "react";
import type { AgentInfo } from "../../../src/protocol/agent-routes.ts";
import { countText, durationText } from "../app/format.ts";
import { go } from "../app/router.ts";
import { agentName, firstLine } from "../chat/agent-names.ts";
import { stateGlyphs } from "../chat/agent-tree.tsx";
import { useSince } from "../chat/since.ts";
import { Icon } from "../parts/icon.tsx";
import { useWords } from "../words/words.ts";
import { rowsOfTree, type TreeRow } from "./tree-rows.ts";

type AgentRowsProps = {
  readonly conversation: string;
  readonly agents: readonly AgentInfo[];
  readonly chosen: string | undefined;
};

/** Who works for whom. Arrows move, open and close; Enter shows what one did in the pane. */
export function AgentRows({ conversation, agents, chosen }: AgentRowsProps) {
  const words = useWords().team;
  const box = useRef<HTMLDivElement>(null);
  const { rows, at, choose, press } = useTree({ conversation, agents, box });
  return (
    <div ref={box} className="tree" role="tree" aria-label={words.tree}>
      {rows.map((row, index) => (
        <div
          key={row.key}
          role="treeitem"
          className="tree-row"
          data-key={row.key}
          data-state={row.kind === "agent" ? row.agent.state : row.state}
          aria-level={row.level}
          aria-expanded={canTurn(row) ? row.isOpen : undefined}
          aria-selected={row.key === chosen}
          tabIndex={index === at ? 0 : -1}
          style={{ paddingInlineStart: `${(row.level - 1) * 20 + 8}px` }}
          onClick={() => choose(row)}
          onKeyDown={press}
        >
          {row.kind === "group" ? (
            <>
              <Icon name={stateGlyphs[row.state]} size={16} />
              {words.allOf({ count: row.count, state: words.state[row.state] })}
            </>
          ) : (
            <AgentLine agent={row.agent} />
          )}
        </div>
      ))}
    </div>
  );
}

type TreeWanted = Omit<AgentRowsProps, "chosen"> & { readonly box: RefObject<HTMLDivElement | null> };

/** The lines that are open, the one that has the focus, and what keys and clicks do to them. */
function useTree({ conversation, agents, box }: TreeWanted) {
  const [turned, setTurned] = useState<ReadonlySet<string>>(new Set());
  const [focused, setFocused] = useState("root");
  const rows = rowsOfTree(agents, turned);
  const at = Math.max(
    0,
    rows.findIndex(({ key }) => key === focused),
  );
  const turn = ({ key }: TreeRow) => setTurned(turned.has(key) ? without(turned, key) : new Set([...turned, key]));
  const choose = (row: TreeRow) => {
    setFocused(row.key);
    if (row.kind === "group") turn(row);
    else go({ page: "tasks", conversation, agent: row.agent.id });
  };
  const focus = (index: number) => {
    const row = rows[Math.min(rows.length - 1, Math.max(0, index))];
    if (row === undefined) return;
    setFocused(row.key);
    box.current?.querySelector<HTMLElement>(`[data-key="${CSS.escape(row.key)}"]`)?.focus();
  };
  const press = (event: KeyboardEvent) => {
    const row = rows[at];
    if (row === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    const moves: Readonly<Record<string, () => void>> = {
      ArrowDown: () => focus(at + 1),
      ArrowUp: () => focus(at - 1),
      Home: () => focus(0),
      End: () => focus(rows.length - 1),
      ArrowRight: () => (canTurn(row) && !row.isOpen ? turn(row) : focus(at + 1)),
      ArrowLeft: () => (canTurn(row) && row.isOpen ? turn(row) : focus(aboveOf(rows, at))),
      Enter: () => choose(row),
      " ": () => choose(row),
    };
    const move = moves[event.key];
    if (move === undefined) return;
    event.preventDefault();
    move();
  };
  return { rows, at, choose, press };
}

function canTurn(row: TreeRow): boolean {
  return row.kind === "group" || row.hasBelow;
}

function without(keys: ReadonlySet<string>, key: string): ReadonlySet<string> {
  return new Set([...keys].filter((one) => one !== key));
}

/** The nearest line above it that stands one level higher. */
function aboveOf(rows: readonly TreeRow[], at: number): number {
  const level = rows[at]?.level ?? 1;
  const above = rows.slice(0, at).findLastIndex((row) => row.level < level);
  return above < 0 ? at : above;
}

function AgentLine({ agent }: { readonly agent: AgentInfo }) {
  const { team: words, language } = useWords();
  const { id, state, steps, tokens, brief } = agent;
  const count = tokens.input + tokens.output;
  return (
    <>
      <Icon name={stateGlyphs[state]} size={16} />
      <span className="tree-name">{agent.mode === "worker" ? words.worker : agentName(agent, id, words)}</span>
      <span className="tree-brief">{firstLine(brief)}</span>
      <span className="tree-state">{words.state[state]}</span>
      <span className="meta tree-facts">
        <Elapsed agent={agent} />
        {words.steps({ count: steps })}
        {count > 0 && ` · ${words.tokens({ count: countText(count, language) })}`}
      </span>
    </>
  );
}

function Elapsed({ agent }: { readonly agent: AgentInfo }) {
  const { language } = useWords();
  const { madeAt, endedAt, mode } = agent;
  const isOpen = endedAt === null && mode !== "main";
  const since = useSince(isOpen ? madeAt : undefined);
  if (mode === "main") return null;
  return `${durationText(endedAt === null ? (since ?? 0) : endedAt - madeAt, language)} · `;
}
