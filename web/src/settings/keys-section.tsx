import { useCallback, useState } from "react";
import { ok } from "../../../src/base/result.ts";
import type { Client } from "../../../src/client/client.ts";
import { type Scope, scopes } from "../../../src/protocol/route.ts";
import { useStore } from "../app/store.ts";
import { useYard } from "../app/yard.ts";
import { Button } from "../parts/button.tsx";
import { copyText } from "../parts/copy-text.ts";
import { TextField } from "../parts/text-field.tsx";
import { Time } from "../parts/time.tsx";
import { useWords } from "../words/words.ts";
import { useDoing, useLoaded } from "./use-loaded.ts";

/** API keys of whoever is signed in: made, shown once, taken away. */
export function KeysSection() {
  const words = useWords().settings.keys;
  const { me } = useYard();
  const user = useStore(me)?.user?.id;
  const read = useCallback(
    async (client: Client) => (user === undefined ? ok({ items: [] }) : client.call("listKeys", { params: { user } })),
    [user],
  );
  const { value, trouble, reload } = useLoaded(read);
  const doing = useDoing(reload);
  if (user === undefined) return <p>{words.noUsers}</p>;
  const { items = [] } = value ?? {};
  return (
    <>
      <p className="about">{words.about}</p>
      {trouble !== "" && <p className="trouble">{trouble}</p>}
      {value !== undefined && items.length === 0 && <p>{words.none}</p>}
      <ul className="entries">
        {items.map(({ id, name, shown, scopes: allowed, createdAt, usedAt, endsAt, hasEnded }) => (
          <li key={id} className="entry">
            <div className="entry-head">
              <div>
                <p>
                  <strong>{name || words.unnamed}</strong> <code>{shown}…</code>
                  {hasEnded && <span className="chip">{words.ended}</span>}
                </p>
                <p className="meta">
                  {allowed.map((scope) => words.scope[scope]).join(words.comma)} · {words.made} <Time at={createdAt} />
                  {usedAt !== null && (
                    <>
                      {" "}
                      · {words.used} <Time at={usedAt} />
                    </>
                  )}
                  {endsAt !== null && (
                    <>
                      {" "}
                      · {words.ends} <Time at={endsAt} />
                    </>
                  )}
                </p>
              </div>
              <Button
                kind="danger"
                onClick={() => void doing((client) => client.call("removeKey", { params: { user, key: id } }))}
              >
                {words.remove}
              </Button>
            </div>
          </li>
        ))}
      </ul>
      <NewKey user={user} onMade={reload} />
    </>
  );
}

function NewKey({ user, onMade }: { readonly user: string; readonly onMade: () => void }) {
  const words = useWords().settings.keys;
  const doing = useDoing(onMade);
  const { me } = useYard();
  const own = useStore(me)?.scopes ?? [];
  const [name, setName] = useState("");
  const [days, setDays] = useState("");
  const [wanted, setWanted] = useState<readonly Scope[]>(["chat", "files"]);
  const [key, setKey] = useState<string | null>();
  const make = async () => {
    const body = { name: name.trim(), scopes: [...wanted], ...(Number(days) > 0 && { days: Number(days) }) };
    const made = await doing((client) => client.call("addKey", { params: { user }, body }));
    if (made !== undefined) setKey(made.key);
  };
  const toggle = (scope: Scope) =>
    setWanted(wanted.includes(scope) ? wanted.filter((one) => one !== scope) : [...wanted, scope]);
  return (
    <form
      className="model-form"
      onSubmit={(event) => {
        event.preventDefault();
        void make();
      }}
    >
      <h3>{words.newKey}</h3>
      <TextField label={words.name} value={name} onChange={setName} />
      <TextField label={words.days} value={days} onChange={setDays} type="number" hint={words.daysHint} />
      <fieldset>
        <legend>{words.may}</legend>
        {scopes
          .filter((scope) => own.includes(scope))
          .map((scope) => (
            <label key={scope} className="choice">
              <input type="checkbox" checked={wanted.includes(scope)} onChange={() => toggle(scope)} />
              {words.scope[scope]}
            </label>
          ))}
      </fieldset>
      <Button type="submit" isDisabled={wanted.length === 0}>
        {words.make}
      </Button>
      {typeof key === "string" && (
        <div className="card once" role="status">
          <p>{words.once}</p>
          <code className="secret">{key}</code>
          <Button onClick={() => void copyText(key)}>{words.copy}</Button>
        </div>
      )}
    </form>
  );
}
