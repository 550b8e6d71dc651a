import { useState } from "react";
import type { CallAnswer, Client } from "../../../src/client/client.ts";
import { Button } from "../parts/button.tsx";
import { TextField } from "../parts/text-field.tsx";
import { Time } from "../parts/time.tsx";
import { useWords } from "../words/words.ts";
import { useDoing, useLoaded } from "./use-loaded.ts";

const readMemory = (client: Client) => client.call("listMemory");
type Memory = CallAnswer<"listMemory">["items"][number];

/** What agents are told in each conversation. */
export function MemorySection() {
  const words = useWords().settings.memory;
  const { value, trouble, reload } = useLoaded(readMemory);
  const doing = useDoing(reload);
  const [fact, setFact] = useState("");
  const { items = [] } = value ?? {};
  const add = async () => {
    const added = await doing((client) => client.call("addMemory", { body: { fact: fact.trim() } }));
    if (added !== undefined) setFact("");
  };
  return (
    <>
      <p className="about">{words.about}</p>
      {trouble !== "" && <p className="trouble">{trouble}</p>}
      {value !== undefined && items.length === 0 && <p>{words.none}</p>}
      <ul className="entries">
        {items.map((memory) => (
          <Entry key={memory.id} memory={memory} onChanged={reload} />
        ))}
      </ul>
      <form
        className="model-form"
        onSubmit={(event) => {
          event.preventDefault();
          void add();
        }}
      >
        <TextField label={words.add} value={fact} onChange={setFact} hint={words.hint} />
        <Button type="submit" isDisabled={fact.trim() === ""}>
          {words.addNow}
        </Button>
      </form>
    </>
  );
}

function Entry({ memory, onChanged }: { readonly memory: Memory; readonly onChanged: () => void }) {
  const words = useWords().settings.memory;
  const doing = useDoing(onChanged);
  const [text, setText] = useState<string>();
  const params = { memory: memory.id };
  const save = async () => {
    const fact = (text ?? "").trim();
    const changed = await doing((client) => client.call("changeMemory", { params, body: { fact } }));
    if (changed !== undefined) setText(undefined);
  };
  return (
    <li className="entry">
      <div className="entry-head">
        {text === undefined ? (
          <div>
            <p>{memory.fact}</p>
            <p className="meta">
              {memory.conversation === null ? words.byYou : words.byAgent} · <Time at={memory.at} />
            </p>
          </div>
        ) : (
          <TextField label={words.change} value={text} onChange={setText} />
        )}
        <div className="actions">
          {text === undefined ? (
            <Button onClick={() => setText(memory.fact)}>{words.change}</Button>
          ) : (
            <Button kind="main" isDisabled={text.trim() === ""} onClick={() => void save()}>
              {words.save}
            </Button>
          )}
          <Button kind="danger" onClick={() => void doing((client) => client.call("forgetMemory", { params }))}>
            {words.forget}
          </Button>
        </div>
      </div>
    </li>
  );
}
