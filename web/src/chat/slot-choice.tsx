import { useEffect, useState } from "react";
import { keep, readKept } from "../app/kept.ts";
import { useYard } from "../app/yard.ts";
import { useWords } from "../words/words.ts";

type Choice = { readonly slot: string; readonly id: string };

/** Which model is to answer, as this browser chose it last; undefined: the resolver decides. */
export function useSlot(): [string | undefined, (slot: string | undefined) => void] {
  const [slot, setSlot] = useState(() => readKept("slot"));
  return [
    slot,
    (next) => {
      keep("slot", next);
      setSlot(next);
    },
  ];
}

type SlotChoiceProps = { readonly slot: string | undefined; readonly onChange: (slot: string | undefined) => void };

/** Shown where there is something to choose. */
export function SlotChoice({ slot, onChange }: SlotChoiceProps) {
  const { client } = useYard();
  const words = useWords().chat;
  const [choices, setChoices] = useState<readonly Choice[]>([]);
  useEffect(() => {
    void client()
      .call("listModels", {})
      .then((answer) => {
        if (answer.ok) setChoices(answer.value.slots.filter(({ filled, slot: one }) => filled || one === "base"));
      });
  }, [client]);
  const isKnown = choices.some((choice) => choice.slot === slot);
  if (choices.length < 2) return choices[0] === undefined ? null : <span className="slot-one">{choices[0].id}</span>;
  return (
    <select
      className="slot-choice"
      aria-label={words.model}
      value={isKnown ? slot : ""}
      onChange={(event) => onChange(event.target.value || undefined)}
    >
      <option value="">{words.modelAuto}</option>
      {choices.map((choice) => (
        <option key={choice.slot} value={choice.slot}>
          {words.slots[choice.slot] ?? choice.slot}: {choice.id}
        </option>
      ))}
    </select>
  );
}
