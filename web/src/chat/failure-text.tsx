import { useEffect, useState } from "react";
import { useWords } from "../words/words.ts";
import type { LoggedFailure } from "./items.ts";

/** A failure of the log in words: what happened, and what to do next. All those words are loaded when one is needed. */
export function FailureText({ failure }: { readonly failure: LoggedFailure }) {
  const { language } = useWords();
  const [said, setSaid] = useState<readonly string[]>([failure.code]);
  useEffect(() => {
    let isWanted = true;
    void import("../../../src/words/words.ts").then(({ failureWordsOverHttp, wordsFor }) => {
      if (isWanted) setSaid(failureWordsOverHttp(wordsFor(language), failure));
    });
    return () => {
      isWanted = false;
    };
  }, [failure, language]);
  return <>{said.join(language === "zh" ? "" : " ")}</>;
}
