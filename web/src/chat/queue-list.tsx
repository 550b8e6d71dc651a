import { newId } from "../app/new-id.ts";
import { Button, IconButton } from "../parts/button.tsx";
import { useWords } from "../words/words.ts";
import { useActions } from "./actions.ts";
import { putIntoComposer } from "./composer.tsx";
import type { OpenConversation } from "./conversation.ts";
import type { Queued } from "./fold-state.ts";

type QueueListProps = { readonly opened: OpenConversation; readonly queue: readonly Queued[] };

/** Messages that wait while a turn runs. Each can be withdrawn, or be told to the agent at its next step. */
export function QueueList({ opened, queue }: QueueListProps) {
  const words = useWords().chat;
  const { withdraw, send } = useActions(opened);
  if (queue.length === 0) return null;
  const edit = async ({ item }: Queued) => {
    if (await withdraw(item.id)) putIntoComposer(item.text, "replace");
  };
  const steer = async ({ item }: Queued) => {
    if (!(await withdraw(item.id))) return;
    const files = item.files.map(({ path }) => path);
    await send({ id: newId(), text: item.text, mode: "steer", slot: undefined, files });
  };
  return (
    <ul className="queue" aria-label={words.queued}>
      {queue.map((queued) => (
        <li key={queued.item.key} className="queue-chip">
          <span className="queue-mode">{words.modes[queued.mode]}</span>
          <span className="call-object">{queued.item.text}</span>
          {queued.item.seq > 0 && queued.mode === "queue" && (
            <Button onClick={() => void steer(queued)}>{words.steer}</Button>
          )}
          {queued.item.seq > 0 && <IconButton icon="close" label={words.withdraw} onClick={() => void edit(queued)} />}
        </li>
      ))}
    </ul>
  );
}
