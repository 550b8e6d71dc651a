import { useId, useState } from "react";
import type { CallAnswer } from "../../../src/client/client.ts";
import type { Slot } from "../../../src/protocol/message.ts";
import { modelProviders } from "../../../src/protocol/model-providers.ts";
import { useYard } from "../app/yard.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { TextField } from "../parts/text-field.tsx";
import { useWords } from "../words/words.ts";

type Tested = CallAnswer<"testModel">;
type FormProps = {
  readonly slot: Slot;
  readonly first?: { readonly baseUrl: string; readonly model: string } | undefined;
  readonly hasKey?: boolean | undefined;
  readonly onSaved: () => void;
};

/** A model: where it is, its key, its name. It is tried in place; the key stays on the server. */
export function ModelForm({ slot, first, hasKey = false, onSaved }: FormProps) {
  const words = useWords().settings.models;
  const { client } = useYard();
  const [baseUrl, setBaseUrl] = useState<string>(first?.baseUrl ?? modelProviders[0][1]);
  const [apiKey, setApiKey] = useState("");
  const [model, setModel] = useState(first?.model ?? "");
  const [tested, setTested] = useState<Tested>();
  const [state, setState] = useState<"still" | "testing" | "saving">("still");
  const [trouble, setTrouble] = useState("");
  const place = { baseUrl: baseUrl.trim(), ...(apiKey.trim() !== "" && { apiKey: apiKey.trim() }) };
  const test = async () => {
    setState("testing");
    setTrouble("");
    setTested(undefined);
    const answer = await client().call("testModel", { body: { ...place, slot, model: model.trim() } });
    setState("still");
    if (!answer.ok) return setTrouble(answer.failure.detail);
    const [only, ...others] = answer.value.offered;
    if (model.trim() === "" && only !== undefined && others.length === 0) setModel(only);
    setTested(answer.value);
  };
  const save = async () => {
    setState("saving");
    setTrouble("");
    const answer = await client().call("enterModel", { params: { slot }, body: { ...place, model: model.trim() } });
    setState("still");
    if (!answer.ok) return setTrouble(answer.failure.detail);
    setApiKey("");
    onSaved();
  };
  const isBusy = state !== "still";
  return (
    <form
      className="model-form"
      onSubmit={(event) => {
        event.preventDefault();
        void test();
      }}
    >
      <Preset baseUrl={baseUrl} onChosen={setBaseUrl} />
      <TextField label={words.address} value={baseUrl} onChange={setBaseUrl} type="url" hint={words.addressHint} />
      <TextField
        label={words.key}
        value={apiKey}
        onChange={setApiKey}
        type="password"
        hint={hasKey ? words.keyKept : words.keyHint}
      />
      <TextField
        label={words.model}
        value={model}
        onChange={setModel}
        offers={tested?.offered}
        hint={words.modelHint}
      />
      <div className="actions">
        <Button type="submit" isDisabled={isBusy || baseUrl.trim() === ""}>
          {state === "testing" ? words.testing : words.test}
        </Button>
        <Button kind="main" isDisabled={isBusy || model.trim() === ""} onClick={() => void save()}>
          {words.use}
        </Button>
      </div>
      <div role="status">
        {tested !== undefined && <Result tested={tested} hasModel={model.trim() !== ""} />}
        {trouble !== "" && <p className="trouble">{trouble}</p>}
      </div>
    </form>
  );
}

function Preset({ baseUrl, onChosen }: { readonly baseUrl: string; readonly onChosen: (url: string) => void }) {
  const words = useWords().settings.models;
  const id = useId();
  const chosen = modelProviders.find(([, url]) => url === baseUrl)?.[1] ?? "";
  return (
    <div className="form-field">
      <label htmlFor={id}>{words.provider}</label>
      <select id={id} className="field" value={chosen} onChange={(event) => onChosen(event.target.value)}>
        {modelProviders.map(([name, url]) => (
          <option key={url} value={url}>
            {name}
          </option>
        ))}
        <option value="">{words.otherProvider}</option>
      </select>
    </div>
  );
}

function Result({ tested, hasModel }: { readonly tested: Tested; readonly hasModel: boolean }) {
  const words = useWords().settings.models;
  const { failure, checks, totalMs, offered, server } = tested;
  if (failure !== null)
    return (
      <p className="trouble">
        <Icon name="cross" size={16} /> {failure.detail}
      </p>
    );
  if (checks.length === 0)
    return (
      <p>
        <Icon name="check" size={16} />{" "}
        {offered.length > 0 ? words.offers({ server, count: offered.length }) : words.offersNone({ server })}{" "}
        {!hasModel && words.nameOne}
      </p>
    );
  return (
    <ul className="checks">
      {checks.map(({ name, isOk }) => (
        <li key={name} data-ok={isOk}>
          <Icon name={isOk ? "check" : "warning"} size={16} />
          {words.check[name][isOk ? "yes" : "no"]({ seconds: ((totalMs ?? 0) / 1_000).toFixed(1) })}
        </li>
      ))}
    </ul>
  );
}
