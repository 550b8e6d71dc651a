import { useEffect, useRef } from "react";
import { whenIdle } from "./idle.ts";

type MathTextProps = { readonly tex: string; readonly isBlock: boolean };

const texCharactersMax = 4_000;
/** No formula makes itself larger than this, in em and in times of its macros. */
const limits = {
  maxSize: [20, 5] as [number, number],
  maxExpand: 500,
  trust: false,
  throwOnError: true,
  annotate: false,
};

/** A formula as MathML, made element by element. What is no formula stays as it was written. */
export function MathText({ tex, isBlock }: MathTextProps) {
  const place = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (tex.length > texCharactersMax) return;
    let isWanted = true;
    void import("./maths.ts").then(({ renderMaths }) => {
      // One by one: a text may have hundreds of them.
      whenIdle(() => {
        const made = isWanted ? renderMaths(tex, { ...limits, displayMode: isBlock }) : undefined;
        if (made !== undefined) place.current?.replaceChildren(made);
      });
    });
    return () => {
      isWanted = false;
    };
  }, [tex, isBlock]);
  return (
    <span ref={place} className="maths" data-block={isBlock || undefined}>
      {tex}
    </span>
  );
}
