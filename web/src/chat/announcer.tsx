import { useEffect, useRef, useState } from "react";
import { useStore } from "../app/store.ts";
import { useWords } from "../words/words.ts";
import type { OpenConversation } from "./conversation.ts";

/** What is read aloud: that an answer is complete, and that somebody is asked. The text itself is read when one goes there. */
export function Announcer({ opened }: { readonly opened: OpenConversation }) {
  const words = useWords().chat;
  const { run, items, decisions } = useStore(opened.view);
  const [said, setSaid] = useState("");
  const ran = useRef(false);
  const isRunning = run !== undefined;
  const last = items.findLast((item) => item.kind === "end");
  const answer = last?.kind === "end" ? last.answer : "";
  useEffect(() => {
    if (ran.current && !isRunning) setSaid(words.complete({ words: wordCount(answer) }));
    ran.current = isRunning;
  }, [isRunning, answer, words]);
  const open = decisions.length;
  return (
    <>
      <div className="unseen" aria-live="polite">
        {said}
      </div>
      <div className="unseen" aria-live="assertive">
        {open > 0 ? words.asked({ count: open }) : ""}
      </div>
    </>
  );
}

/** Han characters count as words. */
function wordCount(text: string): number {
  return text.match(/\p{Script=Han}|[\p{L}\p{N}]+/gu)?.length ?? 0;
}
