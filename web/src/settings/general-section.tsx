import { useState } from "react";
import { useStore } from "../app/store.ts";
import { useYard } from "../app/yard.ts";
import { askToNotify, notifying } from "../decisions/notify.ts";
import { Button } from "../parts/button.tsx";
import { useWords } from "../words/words.ts";

/** How this browser shows the page. Changes are kept at once. */
export function GeneralSection() {
  const words = useWords().settings.general;
  const { settings, me } = useYard();
  const { theme, chosenLanguage, lacksKeys } = useStore(settings);
  const user = useStore(me)?.user;
  return (
    <>
      <Choice
        legend={words.language}
        chosen={chosenLanguage ?? "auto"}
        choices={[
          ["auto", words.asBrowser],
          ["zh", words.chinese],
          ["en", words.english],
        ]}
        onChoose={(one) => settings.change({ chosenLanguage: one === "zh" || one === "en" ? one : undefined })}
      />
      <Choice
        legend={words.theme}
        chosen={theme ?? "auto"}
        choices={[
          ["auto", words.asSystem],
          ["light", words.light],
          ["dark", words.dark],
        ]}
        onChoose={(one) => settings.change({ theme: one === "light" || one === "dark" ? one : undefined })}
      />
      <label className="choice">
        <input
          type="checkbox"
          checked={!lacksKeys}
          onChange={(event) => settings.change({ lacksKeys: !event.target.checked })}
        />
        {words.singleKeys}
      </label>
      <Telling />
      {user !== undefined && user !== null && <SignOut name={user.name || user.id} />}
      <p className="meta">{words.atOnce}</p>
    </>
  );
}

type ChoiceProps = {
  readonly legend: string;
  readonly chosen: string;
  readonly choices: readonly (readonly [value: string, text: string])[];
  readonly onChoose: (value: string) => void;
};

function Choice({ legend, chosen, choices, onChoose }: ChoiceProps) {
  return (
    <fieldset className="choices">
      <legend>{legend}</legend>
      {choices.map(([value, text]) => (
        <label key={value} className="choice">
          <input type="radio" name={legend} checked={chosen === value} onChange={() => onChoose(value)} />
          {text}
        </label>
      ))}
    </fieldset>
  );
}

function Telling() {
  const words = useWords().decisions;
  const [state, setState] = useState(notifying);
  if (state === "unable") return null;
  return (
    <p>
      {state === "off" ? (
        <Button onClick={() => void askToNotify().then(setState)}>{words.notifyMe}</Button>
      ) : (
        <span className="meta">{state === "on" ? words.notifyOn : words.notifyRefused}</span>
      )}
    </p>
  );
}

function SignOut({ name }: { readonly name: string }) {
  const words = useWords().settings.general;
  const { client } = useYard();
  const leave = async () => {
    await client().call("signOut");
    location.reload();
  };
  return (
    <p>
      {words.signedInAs({ name })} <Button onClick={() => void leave()}>{words.signOut}</Button>
    </p>
  );
}
