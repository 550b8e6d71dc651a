import { useState } from "react";
import { durationText } from "../app/format.ts";
import { Icon } from "../parts/icon.tsx";
import { useWords } from "../words/words.ts";
import { CallCard } from "./call-card.tsx";
import type { OpenConversation } from "./conversation.ts";
import type { CallItem } from "./items.ts";

type CallGroupProps = { readonly opened: OpenConversation; readonly calls: readonly CallItem[] };

/** Several calls that went well, one after another, as one line. */
export function CallGroup({ opened, calls }: CallGroupProps) {
  const { chat, language } = useWords();
  const [isOpen, setOpen] = useState(false);
  const totalMs = calls.reduce((sum, { durationMs = 0 }) => sum + durationMs, 0);
  const names = [...new Set(calls.map(({ name }) => name))].join(", ");
  return (
    <div className="call" data-state="ok">
      <button type="button" className="call-line" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name="check" size={16} />
        <span className="call-name">{chat.ranCalls({ count: calls.length })}</span>
        <span className="call-object">{names}</span>
        <span className="call-time">{durationText(totalMs, language)}</span>
        <Icon name="right" size={16} />
      </button>
      {isOpen && (
        <div className="call-group">
          {calls.map((item) => (
            <CallCard key={item.key} opened={opened} item={item} />
          ))}
        </div>
      )}
    </div>
  );
}
