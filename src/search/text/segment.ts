import { createRequire } from "node:module";
import { type CutRun, cutIntoPairs } from "./runs.ts";

export type Segmentation = "bigram" | "jieba";

/** Undefined where it needs a package that is not installed. */
export function cutRunBy(segmentation: Segmentation): CutRun | undefined {
  if (segmentation === "bigram") return cutIntoPairs;
  const jieba = loadJieba();
  return jieba && ((run) => jieba.cutForSearch(run, true));
}

type Jieba = { cutForSearch(text: string, guessesNewWords: boolean): string[] };

/** No dependency: whoever wants words instead of pairs of characters installs it. */
function loadJieba(): Jieba | undefined {
  const require = createRequire(import.meta.url);
  try {
    const { Jieba } = require("@node-rs/jieba");
    return Jieba.withDict(require("@node-rs/jieba/dict").dict);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "MODULE_NOT_FOUND") return undefined;
    throw error;
  }
}
