import { useState } from "react";
import { ok, type Result } from "../../../src/base/result.ts";
import type { Client, ClientFailure } from "../../../src/client/client.ts";
import { Slot } from "../../../src/protocol/message.ts";
import type { ModelSlot } from "../../../src/protocol/model-routes.ts";
import { Button } from "../parts/button.tsx";
import { useWords } from "../words/words.ts";
import { ModelForm } from "./model-form.tsx";
import { useDoing, useLoaded } from "./use-loaded.ts";

/** The slots: what fills each, and from where; what people entered can be changed here. */
export function ModelsSection() {
  const words = useWords().settings.models;
  const { value: slots = [], trouble, reload } = useLoaded(readSlots);
  return (
    <>
      <p className="about">{words.about}</p>
      {trouble !== "" && <p className="trouble">{trouble}</p>}
      <ul className="entries">
        {slots.map((slot) => (
          <SlotEntry key={slot.slot} slot={slot} onChanged={reload} />
        ))}
      </ul>
    </>
  );
}

async function readSlots(client: Client): Promise<Result<ModelSlot[], ClientFailure>> {
  const slots: ModelSlot[] = [];
  for (const slot of Slot.options) {
    const answer = await client.call("getModel", { params: { slot } });
    if (!answer.ok) return answer;
    slots.push(answer.value);
  }
  return ok(slots);
}

type EntryProps = { readonly slot: ModelSlot; readonly onChanged: () => void };

function SlotEntry({ slot: model, onChanged }: EntryProps) {
  const words = useWords().settings.models;
  const [isOpen, setOpen] = useState(false);
  const doing = useDoing(onChanged);
  const { slot, id, server, from, baseUrl, hasKey, windowTokens, broken } = model;
  const isOwn = from === "entered";
  return (
    <li className="entry">
      <div className="entry-head">
        <div>
          <h3>{words.slot[slot]}</h3>
          <p>
            {from === "base" ? words.asBase : from === "demo" ? words.demo : words.now({ model: id, server })}
            {from !== "base" && from !== "demo" && (
              <span className="meta"> · {words.window({ tokens: windowTokens })}</span>
            )}
          </p>
          <p className="meta">
            {words.from[from]}
            {hasKey && from !== "base" && ` · ${words.hasKey}`}
          </p>
          {broken !== null && <p className="trouble">{broken}</p>}
        </div>
        {from === "settings" ? null : (
          <div className="actions">
            <Button onClick={() => setOpen(!isOpen)}>{isOwn ? words.change : words.enter}</Button>
            {(isOwn || broken !== null) && (
              <Button
                kind="danger"
                onClick={() => void doing((client) => client.call("removeModel", { params: { slot } }))}
              >
                {words.remove}
              </Button>
            )}
          </div>
        )}
      </div>
      {isOpen && (
        <ModelForm
          slot={slot}
          first={isOwn && baseUrl !== null ? { baseUrl, model: id } : undefined}
          hasKey={isOwn && hasKey}
          onSaved={() => {
            setOpen(false);
            onChanged();
          }}
        />
      )}
    </li>
  );
}
