import { useStore } from "../app/store.ts";
import { DecisionCard } from "../decisions/decision-card.tsx";
import { Markdown } from "../markdown/markdown.tsx";
import { AnswerRow } from "./answer-row.tsx";
import { CallCard } from "./call-card.tsx";
import { CallGroup } from "./call-group.tsx";
import { CompactionRow } from "./compaction-row.tsx";
import type { OpenConversation } from "./conversation.ts";
import { FailureText } from "./failure-text.tsx";
import type { Item } from "./items.ts";
import { MailRow } from "./mail-row.tsx";
import { NoticeRow } from "./notice-row.tsx";
import { rowsOf } from "./rows.ts";
import type { Member } from "./team.ts";

type TranscriptProps = {
  readonly opened: OpenConversation;
  /** Whose it is. */
  readonly agent: string;
  readonly items: readonly Item[];
  readonly team: ReadonlyMap<string, Member>;
};

/** What an agent said, called and asked, and what it is writing. */
export function Transcript({ opened, agent, items, team }: TranscriptProps) {
  const writing = useStore(opened.live.writingOf(agent));
  return (
    <div className="transcript">
      {rowsOf(items).map((row) =>
        row.kind === "calls" ? (
          <CallGroup key={row.key} opened={opened} calls={row.calls} />
        ) : (
          <TranscriptRow key={row.key} opened={opened} item={row.item} team={team} />
        ),
      )}
      {writing !== undefined && (
        <article className="answer" aria-busy="true">
          <Markdown text={writing.text === "" ? writing.reasoning : writing.text} isOpen />
        </article>
      )}
    </div>
  );
}

type RowProps = Pick<TranscriptProps, "opened" | "team"> & { readonly item: Item };

function TranscriptRow({ opened, item, team }: RowProps) {
  switch (item.kind) {
    case "answer":
      return <AnswerRow item={item} />;
    case "call":
      return <CallCard opened={opened} item={item} />;
    case "decision":
      return <DecisionCard conversation={opened.id} item={item} />;
    case "compaction":
      return <CompactionRow opened={opened} item={item} canUndo={false} />;
    case "notice":
      return <NoticeRow item={item} />;
    case "mail":
      return <MailRow item={item} team={team} />;
    case "end":
      return item.failure === undefined ? null : (
        <p className="notice">
          <FailureText failure={item.failure} />
        </p>
      );
    case "user":
      return <p className="notice">{item.text}</p>;
  }
}
