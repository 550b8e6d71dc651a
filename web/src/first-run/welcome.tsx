import { useEffect, useState } from "react";
import type { CallAnswer } from "../../../src/client/client.ts";
import { Link } from "../app/link.tsx";
import { useYard } from "../app/yard.ts";
import { useWords } from "../words/words.ts";
import { Examples } from "./examples.tsx";

type Models = CallAnswer<"listModels">;

/** An empty conversation: who answers, and what one could begin with. */
export function Welcome() {
  const words = useWords().firstRun;
  const { client } = useYard();
  const [models, setModels] = useState<Models>();
  useEffect(() => {
    void client()
      .call("listModels", { query: { detect: false } })
      .then((listed) => listed.ok && setModels(listed.value));
  }, [client]);
  const base = models?.slots.find(({ slot }) => slot === "base");
  return (
    <div className="welcome">
      <h2>{words.greeting}</h2>
      {base !== undefined && (
        <p className="meta">
          {base.isDemo ? words.demoAnswers : words.modelAnswers({ model: base.id, server: base.server })}{" "}
          {base.isDemo && <Link to={{ page: "setup" }}>{words.connect}</Link>}
        </p>
      )}
      <Examples />
    </div>
  );
}
