import { type Chat, startNew } from "./chat-state.ts";
import type { TypedLine } from "./console.ts";
import { findNamedFiles, hintText, problemText } from "./named-files.ts";

/**
 * Sends a message with the files that it names. Where one of them is not to be found, nothing is sent; whatever is not
 * sent is there again as the line that was typed. Pasted lines name nothing: code is full of `#`. `own`: so many
 * characters of it the person wrote.
 */
export async function sendLine(
  chat: Chat,
  { text, typed = text }: TypedLine,
  { isQueued, line, own }: { readonly isQueued: boolean; readonly line: TypedLine; readonly own?: number },
): Promise<void> {
  const { console, style, words } = chat;
  const { command, files: texts } = words.terminal;
  const found = await findNamedFiles(typed, [], chat.place);
  for (const hint of found.hints) console.note(style.attention(`! ${hintText(hint, words.terminal)}`));
  if (found.problems.length > 0) {
    for (const problem of found.problems) console.note(style.bad(`✗ ${problemText(problem, words.terminal)}`));
    console.note(texts.notSent());
    chat.current.refuse("usage");
    return console.putBack(line);
  }
  if (chat.current.isGone) startNew(chat);
  const { isRunning } = chat.current;
  const mode = isRunning && !isQueued ? "steer" : "queue";
  const waits = chat.current.decisions.length > 0 ? command.afterDecision : command.steering;
  if (isRunning) console.note(style.dim(isQueued ? command.queued() : waits()));
  const onReturned = () => console.putBack(line);
  chat.current.send({ text, own, mode, slot: chat.slot, files: found, onReturned });
}
