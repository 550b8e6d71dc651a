import { systemClock } from "./base/clock.ts";
import type { Config, ConfigNote } from "./config/config.ts";
import type { SlotSettings } from "./models/models.ts";
import type { Words } from "./words/words.ts";

/** Models of a server that are named when the user has chosen none. */
const offeredMax = 8;

/** What is missing where somebody began to configure the main model and the demo model would stand in for it. */
export function halfSetModel({ notes, models }: Config, words: Words): string | undefined {
  const about = notes.filter(({ code }) => code !== "embedding_incomplete" && code !== "proxy_foreign");
  if (models.slots.base !== undefined || about.length === 0) return undefined;
  return about.map((note) => noteText(note, words, [])).join(" ");
}

/** What the user should know before anything is asked; where no model was named, what the server has to offer. */
export async function sayNotes({ notes, models }: Config, words: Words, tell: (line: string) => void): Promise<void> {
  for (const note of notes) {
    const { [note.code === "model_id_missing" ? note.slot : "base"]: slot } = models.slots;
    const offered = note.code === "model_id_missing" && slot ? await offersOf(slot, models.proxyEnv) : [];
    tell(noteText(note, words, offered));
  }
}

async function offersOf(slot: SlotSettings, proxyEnv: Config["models"]["proxyEnv"]): Promise<readonly string[]> {
  const { offeredModels } = await import("./models/models.ts");
  return offeredModels(slot, { clock: systemClock, proxyEnv });
}

export function noteText(note: ConfigNote, { notes }: Words, offered: readonly string[]): string {
  switch (note.code) {
    case "model_id_missing":
      return notes.model_id_missing({ ...note, offered: offered.slice(0, offeredMax).join(", ") });
    case "slot_without_key":
      return notes.slot_without_key(note);
    case "embedding_incomplete":
      return notes.embedding_incomplete(note);
    case "proxy_foreign":
      return notes.proxy_foreign(note);
    case "variable_unknown":
      return notes.variable_unknown(note);
  }
}
