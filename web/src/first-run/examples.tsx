import { useState } from "react";
import { newId } from "../app/new-id.ts";
import { go } from "../app/router.ts";
import { useYard, type Yard } from "../app/yard.ts";
import { Icon, type IconName } from "../parts/icon.tsx";
import { useWords } from "../words/words.ts";
import { type ExampleName, samples } from "./samples.ts";

const icons: Readonly<Record<ExampleName, IconName>> = { chart: "chart", search: "search", approval: "warning" };

/** Three tasks on files that come along: each shows within a minute what there is to see. */
export function Examples() {
  const words = useWords().firstRun;
  const yard = useYard();
  const [begun, setBegun] = useState<ExampleName>();
  const begin = async (name: ExampleName) => {
    setBegun(name);
    const trouble = await start(yard, name, words.examples[name].message);
    if (trouble !== undefined) yard.toasts.tell({ kind: "trouble", text: trouble });
    setBegun(undefined);
  };
  return (
    <ul className="examples" aria-label={words.examplesTitle}>
      {(["chart", "search", "approval"] as const).map((name) => (
        <li key={name}>
          <button type="button" className="example" disabled={begun !== undefined} onClick={() => void begin(name)}>
            <Icon name={icons[name]} />
            <span>
              <strong>{words.examples[name].title}</strong>
              <span className="meta">{begun === name ? words.starting : words.examples[name].about}</span>
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Why it could not be begun, in words. */
async function start({ client, conversations }: Yard, example: ExampleName, text: string): Promise<string | undefined> {
  const made = await client().call("createConversation", { body: {} });
  if (!made.ok) return made.failure.detail;
  const { id } = made.value;
  const files: string[] = [];
  for (const [url, name] of samples[example]) {
    const sample = await fetch(url);
    const put = await client().upload(id, name, new Uint8Array(await sample.arrayBuffer()));
    if (!put.ok) return put.failure.detail;
    files.push(put.value.path);
  }
  const sent = await client().call("sendMessage", {
    params: { id },
    body: { id: newId(), text, files },
  });
  if (!sent.ok) return sent.failure.detail;
  go({ page: "chat", conversation: id });
  await conversations.refresh();
  return undefined;
}
