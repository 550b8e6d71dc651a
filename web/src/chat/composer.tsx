import { type ClipboardEvent, type KeyboardEvent, type ReactNode, useEffect, useRef } from "react";
import { useStore } from "../app/store.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { useWords } from "../words/words.ts";
import type { Outgoing } from "./actions.ts";
import type { OpenConversation } from "./conversation.ts";
import { useDraft } from "./draft.ts";
import { SlotChoice, useSlot } from "./slot-choice.tsx";
import { type Mode, useWaitingSend } from "./use-waiting-send.ts";

/** Files that go with the next message: whoever looks after them draws them, and names their paths. */
export type Attached = {
  readonly bar: ReactNode;
  readonly button: ReactNode;
  readonly files: readonly string[];
  /** A file is still on its way: the message waits for it. */
  readonly isBusy: boolean;
  readonly hasFailed: boolean;
  /** How a message is to leave that was sent before its files were there; it stays so where the chat only begins with them. */
  readonly waiting: Mode | undefined;
  readonly wait: (mode: Mode | undefined) => void;
  readonly clear: () => void;
  readonly restore: (files: readonly string[]) => void;
  readonly onPaste: (event: ClipboardEvent) => void;
};

type ComposerProps = {
  /** Whose text it is: what was typed is kept under this name. */
  readonly name: string;
  readonly opened: OpenConversation | undefined;
  readonly attached: Attached;
  /** Answers whether it was sent: else the text stays. */
  readonly onSend: (message: Outgoing) => Promise<boolean>;
  readonly onStop: () => void;
  /** Nothing is typed, and somebody wants the last thing back that they said. */
  readonly onWithdraw: () => void;
};

export function Composer(props: ComposerProps) {
  return props.opened === undefined ? (
    <Field {...props} isRunning={false} isStopping={false} />
  ) : (
    <OpenComposer {...props} opened={props.opened} />
  );
}

function OpenComposer(props: ComposerProps & { readonly opened: OpenConversation }) {
  const { run } = useStore(props.opened.view);
  return <Field {...props} isRunning={run !== undefined} isStopping={run?.isStopping === true} />;
}

type FieldProps = ComposerProps & { readonly isRunning: boolean; readonly isStopping: boolean };

function Field({ name, attached, isRunning, isStopping, onSend, onStop, onWithdraw }: FieldProps) {
  const words = useWords().chat;
  const { draft, change, begin, settle } = useDraft(name);
  const [slot, setSlot] = useSlot();
  const field = useRef<HTMLTextAreaElement>(null);
  const hasText = draft.text.trim() !== "" || attached.files.length > 0 || attached.isBusy;
  useEffect(() => {
    if (matchMedia("(pointer: fine)").matches) field.current?.focus();
  }, []);
  useQuotes(field, draft.text, change);
  const send = (mode: Mode) => {
    if (hasText) void sendDraft({ begin, settle, attached, onSend }, { mode, slot });
  };
  const { wantsToSend, forget } = useWaitingSend(attached, send);
  const onKeyDown = (event: KeyboardEvent) => {
    // An input method has the key: in Safari it comes after the end of the composition, with this number.
    if (event.nativeEvent.isComposing || event.keyCode === 229) return;
    if (event.key === "ArrowUp" && draft.text === "") {
      event.preventDefault();
      onWithdraw();
    }
    const isTouch = matchMedia("(pointer: coarse)").matches && !event.ctrlKey && !event.metaKey;
    if (event.key !== "Enter" || event.shiftKey || isTouch) return;
    event.preventDefault();
    wantsToSend(isRunning && (event.ctrlKey || event.metaKey) ? "steer" : "queue");
  };
  return (
    <form
      className="composer-box"
      onSubmit={(event) => {
        event.preventDefault();
        wantsToSend("queue");
      }}
    >
      <div className="composer">
        {attached.bar}
        <textarea
          ref={field}
          id="composer"
          aria-label={words.message}
          aria-describedby="composer-hint"
          placeholder={isRunning ? words.placeholderRunning : words.placeholder}
          rows={1}
          value={draft.text}
          onChange={(event) => {
            forget();
            change(event.target.value);
          }}
          onKeyDown={onKeyDown}
          onPaste={attached.onPaste}
        />
        <div className="composer-bar">
          {attached.button}
          <SlotChoice slot={slot} onChange={setSlot} />
          <span className="composer-gap" />
          <SendButtons {...{ isRunning, isStopping, hasText, onStop }} onSend={wantsToSend} />
        </div>
      </div>
      <p className="composer-hint" id="composer-hint">
        {attached.waiting !== undefined ? words.sentWithFiles : isRunning ? words.hintRunning : words.hint}
      </p>
    </form>
  );
}

type Sending = Pick<FieldProps, "attached" | "onSend"> & Pick<ReturnType<typeof useDraft>, "begin" | "settle">;

/** Text and files leave the field at once, so that a second Enter sends nothing twice; they are back where it failed. */
async function sendDraft(
  { begin, settle, attached, onSend }: Sending,
  { mode, slot }: Pick<Outgoing, "mode" | "slot">,
): Promise<void> {
  const { files } = attached;
  const sent = begin(files);
  attached.clear();
  const isSent = await onSend({ id: sent.id, text: sent.text || " ", mode, slot, files });
  settle(sent, isSent);
  if (!isSent) attached.restore(files);
}

type SendButtonsProps = Pick<FieldProps, "isRunning" | "isStopping" | "onStop"> & {
  readonly hasText: boolean;
  readonly onSend: (mode: Mode) => void;
};

/** Stop stands where send does: what runs can always be stopped, whatever is typed. */
function SendButtons({ isRunning, isStopping, hasText, onStop, onSend }: SendButtonsProps) {
  const words = useWords().chat;
  if (!isRunning)
    return (
      <button
        type="button"
        className="send-main"
        aria-label={words.send}
        title={words.send}
        disabled={!hasText}
        onClick={() => onSend("queue")}
      >
        <Icon name="send" />
      </button>
    );
  return (
    <>
      {hasText && (
        <>
          <Button onClick={() => onSend("steer")}>{words.steer}</Button>
          <Button onClick={() => onSend("queue")}>{words.queue}</Button>
        </>
      )}
      <button type="button" className="stop-main" disabled={isStopping} onClick={onStop}>
        {isStopping ? words.stopping : words.stop}
      </button>
    </>
  );
}

/** Somebody quotes an answer, or withdraws a message: the text comes to where they type. */
export function putIntoComposer(text: string, how: "quote" | "replace"): void {
  dispatchEvent(new CustomEvent("agentyard.compose", { detail: { text, how } }));
}

function useQuotes(
  field: { readonly current: HTMLTextAreaElement | null },
  typed: string,
  change: (text: string) => void,
): void {
  useEffect(() => {
    const take = (event: Event) => {
      const detail: unknown = event instanceof CustomEvent ? event.detail : undefined;
      const { text = "", how = "" } = (detail ?? {}) as { text?: string; how?: string };
      const quoted = text.replaceAll(/^/gm, "> ");
      change(how === "quote" ? `${typed === "" ? "" : `${typed}\n`}${quoted}\n\n` : typed === "" ? text : typed);
      field.current?.focus();
    };
    addEventListener("agentyard.compose", take);
    return () => removeEventListener("agentyard.compose", take);
  }, [field, typed, change]);
}
