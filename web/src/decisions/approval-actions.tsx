import { type RefObject, useEffect, useId, useRef, useState } from "react";
import type { RuleScope } from "../../../src/protocol/approval.ts";
import type { Decision } from "../../../src/protocol/resources.ts";
import { Button } from "../parts/button.tsx";
import { useWords } from "../words/words.ts";
import { editableOf, editedArguments } from "./effect.ts";
import type { Verdict } from "./inbox.ts";
import { matchText } from "./reasons.ts";
import { useDeciding, useDecisionKeys } from "./use-decision.ts";

type ActionsProps = { readonly card: RefObject<HTMLElement | null>; readonly decision: Decision };
type Opened = "edit" | "refuse" | "always" | undefined;

/** Nothing happens by Enter alone: each way is a button, or a letter while nobody types. */
export function ApprovalActions({ card, decision }: ActionsProps) {
  const words = useWords().decisions;
  const { decide, isSending, trouble } = useDeciding(decision);
  const [opened, setOpened] = useState<Opened>();
  const allow = () => void decide({ verdict: "approve" });
  const toggle = (panel: Opened) => () => setOpened((is) => (is === panel ? undefined : panel));
  const [edit, refuse] = [toggle("edit"), toggle("refuse")];
  useDecisionKeys(card, isSending ? {} : { y: allow, a: allow, e: edit, n: refuse, r: refuse });
  const isOffered = (decision.always?.length ?? 0) > 0;
  const close = () => setOpened(undefined);
  const send = (verdict: Verdict) => void decide(verdict);
  return (
    <>
      <div className="actions">
        <Button kind="main" isDisabled={isSending} onClick={allow}>
          {words.approveOnce} <kbd>y</kbd>
        </Button>
        {isOffered && (
          <Button isDisabled={isSending} onClick={toggle("always")}>
            {words.allowAlways}
          </Button>
        )}
        <Button isDisabled={isSending} onClick={edit}>
          {words.edit} <kbd>e</kbd>
        </Button>
        <Button isDisabled={isSending} kind="danger" onClick={refuse}>
          {words.reject} <kbd>n</kbd>
        </Button>
      </div>
      {opened === "refuse" && <Refusal isSending={isSending} onSend={send} onClose={close} />}
      {opened === "edit" && <Editing decision={decision} isSending={isSending} onSend={send} onClose={close} />}
      {opened === "always" && <Always decision={decision} isSending={isSending} onSend={send} onClose={close} />}
      {trouble !== "" && (
        <p className="trouble" role="alert">
          {trouble}
        </p>
      )}
    </>
  );
}

type PanelProps = {
  readonly isSending: boolean;
  readonly onSend: (verdict: Verdict) => void;
  readonly onClose: () => void;
};

function Refusal({ isSending, onSend, onClose }: PanelProps) {
  const words = useWords().decisions;
  const [reason, setReason] = useState("");
  const field = useFocus<HTMLTextAreaElement>();
  const id = useId();
  return (
    <Panel onClose={onClose} onSubmit={() => onSend({ verdict: "reject", ...(reason.trim() && { reason }) })}>
      <label htmlFor={id}>{words.rejectReason}</label>
      <textarea
        ref={field}
        id={id}
        className="field"
        rows={2}
        value={reason}
        onChange={(e) => setReason(e.target.value)}
      />
      <div className="actions">
        <Button type="submit" kind="danger" isDisabled={isSending}>
          {words.rejectNow}
        </Button>
        <Button onClick={onClose}>{words.back}</Button>
      </div>
    </Panel>
  );
}

function Editing({ decision, isSending, onSend, onClose }: PanelProps & { readonly decision: Decision }) {
  const words = useWords().decisions;
  const written = decision.arguments ?? "{}";
  const { text: first, field: name } = editableOf(decision.tool, written);
  const [text, setText] = useState(first);
  const [isBroken, setBroken] = useState(false);
  const field = useFocus<HTMLTextAreaElement>();
  const id = useId();
  const submit = () => {
    const edited = editedArguments(written, name, text);
    setBroken(edited === undefined);
    if (edited !== undefined) onSend({ verdict: "edit", arguments: edited });
  };
  return (
    <Panel onClose={onClose} onSubmit={submit}>
      <label htmlFor={id}>{name === undefined ? words.editArguments : words.editField({ name })}</label>
      <textarea
        ref={field}
        id={id}
        className="field code-field"
        spellCheck={false}
        rows={Math.min(16, Math.max(3, text.split("\n").length))}
        value={text}
        onChange={(e) => setText(e.target.value)}
      />
      {isBroken && (
        <p className="trouble" role="alert">
          {words.noJson}
        </p>
      )}
      <div className="actions">
        <Button type="submit" kind="main" isDisabled={isSending}>
          {words.approveEdited}
        </Button>
        <Button onClick={onClose}>{words.back}</Button>
      </div>
    </Panel>
  );
}

function Always({ decision, isSending, onSend, onClose }: PanelProps & { readonly decision: Decision }) {
  const words = useWords().decisions;
  const { always = [] } = decision;
  const [option, setOption] = useState(0);
  const [scope, setScope] = useState<RuleScope>("conversation");
  const name = useId();
  return (
    <Panel onClose={onClose} onSubmit={() => onSend({ verdict: "approve", always: { option, scope } })}>
      <fieldset>
        <legend>{words.alwaysWhat}</legend>
        {always.map((match, index) => (
          <label key={matchText(match, words)} className="choice">
            <input type="radio" name={`${name}o`} checked={option === index} onChange={() => setOption(index)} />
            <code>{matchText(match, words)}</code>
          </label>
        ))}
      </fieldset>
      <fieldset>
        <legend>{words.alwaysWhere}</legend>
        {(["conversation", "user"] as const).map((one) => (
          <label key={one} className="choice">
            <input type="radio" name={`${name}s`} checked={scope === one} onChange={() => setScope(one)} />
            {words.scope[one]}
          </label>
        ))}
      </fieldset>
      <div className="actions">
        <Button type="submit" kind="main" isDisabled={isSending}>
          {words.approveAlways}
        </Button>
        <Button onClick={onClose}>{words.back}</Button>
      </div>
    </Panel>
  );
}

type BoxProps = { readonly children: React.ReactNode; readonly onSubmit: () => void; readonly onClose: () => void };

/** Escape closes it, and only it; Ctrl+Enter sends it from inside a text. */
function Panel({ children, onSubmit, onClose }: BoxProps) {
  return (
    <form
      className="decision-panel"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
      onKeyDown={(event) => {
        if (event.nativeEvent.isComposing) return;
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
          event.preventDefault();
          onSubmit();
        }
        if (event.key !== "Escape") return;
        event.stopPropagation();
        event.currentTarget.closest<HTMLElement>("[data-decision]")?.focus();
        onClose();
      }}
    >
      {children}
    </form>
  );
}

function useFocus<E extends HTMLElement>() {
  const field = useRef<E>(null);
  useEffect(() => field.current?.focus(), []);
  return field;
}
