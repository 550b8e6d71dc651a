import { type KeyboardEvent, useState } from "react";
import { keep, readKept } from "../app/kept.ts";
import { Icon } from "../parts/icon.tsx";
import { useWords } from "../words/words.ts";

type ComposerProps = {
  /** Whose text it is: what was typed is kept under this name. */
  readonly name: string;
  /** Answers whether it was sent: else the text stays. */
  readonly onSend: (text: string) => Promise<boolean>;
};

export function Composer({ name, onSend }: ComposerProps) {
  const words = useWords().chat;
  const [text, setText] = useState(() => readKept(`draft.${name}`) ?? "");
  const change = (next: string) => {
    setText(next);
    keep(`draft.${name}`, next === "" ? undefined : next);
  };
  const send = async () => {
    if (text.trim() === "") return;
    change("");
    if (!(await onSend(text))) change(text);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const isComposing = event.nativeEvent.isComposing || event.keyCode === 229;
    if (event.key !== "Enter" || event.shiftKey || isComposing) return;
    event.preventDefault();
    void send();
  };
  return (
    <form
      className="composer-box"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <div className="composer">
        <textarea
          aria-label={words.message}
          placeholder={words.placeholder}
          rows={1}
          value={text}
          onChange={(event) => change(event.target.value)}
          onKeyDown={onKeyDown}
        />
        <button type="submit" className="icon-button" aria-label={words.send} title={words.send}>
          <Icon name="send" />
        </button>
      </div>
    </form>
  );
}
