import { useEffect, useState } from "react";
import { useYard } from "../app/yard.ts";
import { useWords } from "../words/words.ts";

/** Before the first message: what one could say. */
export function Greeting({ onChoose }: { readonly onChoose: (text: string) => void }) {
  const { client } = useYard();
  const words = useWords().chat;
  const [isDemo, setDemo] = useState(false);
  useEffect(() => {
    void client()
      .call("listModels", {})
      .then((answer) =>
        setDemo(answer.ok && answer.value.slots.some(({ slot, isDemo: one }) => slot === "base" && one)),
      );
  }, [client]);
  return (
    <div className="greeting">
      <div className="greeting-box">
        <h2>{words.greeting}</h2>
        {isDemo && <p className="greeting-note">{words.demo}</p>}
        <ul className="examples">
          {words.examples.map((text) => (
            <li key={text}>
              <button type="button" className="button" onClick={() => onChoose(text)}>
                {text}
              </button>
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}
