import { useCallback, useEffect, useState } from "react";
import type { CallAnswer } from "../../../src/client/client.ts";
import { Link } from "../app/link.tsx";
import { useStore } from "../app/store.ts";
import { useYard } from "../app/yard.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { ModelForm } from "../settings/model-form.tsx";
import { useWords } from "../words/words.ts";
import { Examples } from "./examples.tsx";

type Models = CallAnswer<"listModels">;
type Server = Models["found"][number];

/** From nothing to a working chat: a model, then a first task. Each step is kept at once; nobody has to finish them. */
export function FirstRunPage() {
  const words = useWords().firstRun;
  const { client, me } = useYard();
  const isAdmin = useStore(me)?.scopes.includes("admin") ?? true;
  const [models, setModels] = useState<Models>();
  const look = useCallback(() => {
    void client()
      .call("listModels", { query: { detect: true } })
      .then((listed) => listed.ok && setModels(listed.value));
  }, [client]);
  useEffect(look, [look]);
  const base = models?.slots.find(({ slot }) => slot === "base");
  return (
    <main className="page setup" id="place">
      <h1>{words.title}</h1>
      <p className="about">{words.about}</p>
      <section aria-labelledby="setup-model">
        <h2 id="setup-model">{words.stepModel}</h2>
        <p className="setup-now" role="status">
          <Icon name={base?.isDemo === false ? "check" : "clock"} size={16} />
          {base === undefined
            ? words.looking
            : base.isDemo
              ? words.demoNow
              : words.modelNow({ model: base.id, server: base.server })}
        </p>
        {isAdmin ? (
          <>
            {models !== undefined && <Found servers={models.found} onChosen={look} onLook={look} />}
            <details className="card" open={models !== undefined && models.found.length === 0}>
              <summary>{words.withKey}</summary>
              <ModelForm slot="base" onSaved={look} />
            </details>
          </>
        ) : (
          <p className="about">{words.onlyAdmin}</p>
        )}
      </section>
      <section aria-labelledby="setup-try">
        <h2 id="setup-try">{words.stepTry}</h2>
        <p className="about">{words.tryAbout}</p>
        <Examples />
        <p className="about">
          <Link to={{ page: "chat", conversation: undefined }}>{words.toEmptyChat}</Link>
        </p>
      </section>
    </main>
  );
}

type FoundProps = {
  readonly servers: readonly Server[];
  readonly onChosen: () => void;
  readonly onLook: () => void;
};

/** Model servers of this machine, the best model of each first. */
function Found({ servers, onChosen, onLook }: FoundProps) {
  const words = useWords().firstRun;
  const { client, toasts } = useYard();
  const use = async (baseUrl: string, model: string) => {
    const entered = await client().call("enterModel", { params: { slot: "base" }, body: { baseUrl, model } });
    if (!entered.ok) toasts.tell({ kind: "trouble", text: entered.failure.detail });
    onChosen();
  };
  if (servers.length === 0)
    return (
      <p className="about">
        {words.noneFound}{" "}
        <button type="button" className="link-button" onClick={onLook}>
          {words.lookAgain}
        </button>
      </p>
    );
  return (
    <ul className="found">
      {servers.flatMap(({ kind, baseUrl, models, advice }) =>
        models.slice(0, 3).map(({ id, windowTokens, tools }, index) => (
          <li key={`${baseUrl}${id}`} className="card">
            <div>
              <strong>{id}</strong>
              <p className="meta">{words.foundOn({ kind, baseUrl, windowTokens, tools })}</p>
              {index === 0 && advice !== undefined && <p className="meta">{advice}</p>}
            </div>
            <Button onClick={() => void use(baseUrl, id)}>{words.useThis}</Button>
          </li>
        )),
      )}
    </ul>
  );
}
