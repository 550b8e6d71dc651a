import { Icon } from "../parts/icon.tsx";
import { useWords } from "../words/words.ts";
import { agentName, firstLine } from "./agent-names.ts";
import { withoutMarks } from "./call-words.ts";
import type { MailItem } from "./items.ts";
import type { Member } from "./team.ts";

type MailRowProps = { readonly item: MailItem; readonly team: ReadonlyMap<string, Member> };

/** What one agent wrote to another: one line, which opens. */
export function MailRow({ item, team }: MailRowProps) {
  const words = useWords().team;
  const { from, to } = item;
  const text = withoutHead(withoutMarks(item.text));
  const names = { from: agentName(team.get(from), from, words), to: agentName(team.get(to), to, words) };
  return (
    <details className="reasoning mail">
      <summary className="call-line">
        <Icon name="right" size={16} />
        <span className="call-name">{words.mail(names)}</span>
        <span className="call-object">{firstLine(text)}</span>
      </summary>
      <div className="reasoning-text">{text}</div>
    </details>
  );
}

/** Who wrote it stands in the line already. */
function withoutHead(text: string): string {
  return text.replace(/^\[[^\]\n]*\]\n/, "").trim();
}
