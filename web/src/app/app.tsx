import { useEffect, useState } from "react";
import { loadWords, type Words, WordsContext } from "../words/words.ts";
import { Shell } from "./shell.tsx";
import { useStore } from "./store.ts";
import { type Yard, YardContext } from "./yard.ts";

type AppProps = { readonly yard: Yard; readonly words: Words };

/** The whole page, in the language that was chosen. */
export function App({ yard, words: first }: AppProps) {
  const { language } = useStore(yard.settings);
  const [words, setWords] = useState(first);
  useEffect(() => {
    let isWanted = true;
    void loadWords(language).then((loaded) => isWanted && setWords(loaded));
    return () => {
      isWanted = false;
    };
  }, [language]);
  return (
    <YardContext value={yard}>
      <WordsContext value={words}>
        <Shell />
      </WordsContext>
    </YardContext>
  );
}
