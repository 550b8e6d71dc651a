import type { Profile } from "../profile.ts";
import type { DeltaSink } from "../provider.ts";
import { createCallsInText, type WrittenCall } from "./calls-in-text.ts";
import { createTagFilter } from "./think-tags.ts";

export type Spoken = { readonly text: string; readonly reasoning: string };

export interface Voice {
  /** All that was delivered so far. */
  said(): Spoken;
  say(spoken: Spoken): void;
  /** Delivers what was held back; returns the calls that were written as text. */
  end(): readonly WrittenCall[];
}

/** What the model says, delivered as it comes. Only what may turn out to be a tag or a call waits for its end. */
export function createVoice(profile: Profile, sink: DeltaSink, isDeclared: (name: string) => boolean): Voice {
  let text = "";
  let reasoning = "";
  let hasFieldReasoning = false;

  function emitText(piece: string): void {
    text += piece;
    sink.text?.(piece);
  }

  function emitReasoning(piece: string): void {
    reasoning += piece;
    sink.reasoning?.(piece);
  }

  const written = profile.toolCallsInText ? createCallsInText(isDeclared, emitText) : undefined;
  const behindTags = written?.push ?? emitText;
  const tags =
    profile.thinkTags === "off"
      ? undefined
      : createTagFilter(profile.thinkTags, {
          text: behindTags,
          // A server that has a field for reasoning has said it there already.
          reasoning: (piece) => hasFieldReasoning || emitReasoning(piece),
        });
  const takeText = tags?.push ?? behindTags;

  return {
    said: () => ({ text, reasoning }),
    say(spoken) {
      if (spoken.reasoning !== "") {
        hasFieldReasoning = true;
        emitReasoning(spoken.reasoning);
      }
      if (spoken.text !== "") takeText(spoken.text);
    },
    end() {
      tags?.end();
      return written?.end() ?? [];
    },
  };
}
