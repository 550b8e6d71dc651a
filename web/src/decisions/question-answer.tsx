import { useId, useState } from "react";
import type { Decision } from "../../../src/protocol/resources.ts";
import { Button } from "../parts/button.tsx";
import { useWords } from "../words/words.ts";
import { useDeciding } from "./use-decision.ts";

/** An answer in words. Where there is a usual one, it stands there; an empty answer means it. */
export function QuestionAnswer({ decision }: { readonly decision: Decision }) {
  const words = useWords().decisions;
  const { decide, isSending, trouble } = useDeciding(decision);
  const [text, setText] = useState("");
  const id = useId();
  const { default: usual, required = false } = decision;
  const isNeeded = required && usual === undefined;
  const send = () => void decide({ verdict: "answer", answer: text });
  return (
    <form
      className="decision-panel"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <label htmlFor={id}>{words.yourAnswer}</label>
      <textarea
        id={id}
        className="field"
        rows={2}
        value={text}
        placeholder={usual}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing || event.keyCode === 229) return;
          event.preventDefault();
          if (!(isNeeded && text.trim() === "")) send();
        }}
      />
      {usual !== undefined && <p className="meta">{words.emptyMeans({ usual })}</p>}
      <div className="actions">
        <Button type="submit" kind="main" isDisabled={isSending || (isNeeded && text.trim() === "")}>
          {words.answer}
        </Button>
      </div>
      {trouble !== "" && (
        <p className="trouble" role="alert">
          {trouble}
        </p>
      )}
    </form>
  );
}
