import { memo, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { useWords } from "../words/words.ts";
import { Block } from "./block.tsx";
import type { Token } from "./parse.ts";
import { type Group, GrowingText, ReadTexts } from "./stream.ts";

export type MarkdownProps = {
  readonly text: string;
  /** It is still being written: the last block may be half. */
  readonly isOpen?: boolean | undefined;
};

/** A text that is longer than this is shown in part, until somebody wants all of it. */
const shownCharactersMax = 200_000;

/**
 * The text of a model as elements. Nothing in it is ever taken for markup: each element is made by name, and no text
 * gives one a class, an id or a style.
 */
export const Markdown = memo(function Markdown({ text, isOpen = false }: MarkdownProps) {
  const [isAll, setAll] = useState(false);
  const words = useWords().markdown;
  const isCut = !isAll && text.length > shownCharactersMax;
  const shown = isCut ? text.slice(0, shownCharactersMax) : text;
  return (
    <>
      <div className="prose">{isOpen ? <Growing text={shown} /> : <Finished text={shown} />}</div>
      {isCut && (
        <button type="button" className="button" onClick={() => setAll(true)}>
          {words.showAll}
        </button>
      )}
    </>
  );
});

const texts = new ReadTexts();

function Finished({ text }: { readonly text: string }) {
  const { groups } = useMemo(() => texts.whole(text), [text]);
  // A long text is drawn from its end on, which is what is seen when it is finished; the rest follows when there is time.
  const from = useDeferredValue(0, Math.max(0, groups.length - groupsAtOnce));
  return groups.map((group) =>
    group.id >= from ? (
      <Blocks key={group.id} group={group} isOpen={false} />
    ) : (
      <div key={group.id} className="prose-group" style={{ height: heightOf(group) }} />
    ),
  );
}

const groupsAtOnce = 2;
const letters = { perLine: 80, linePixels: 24 };

/** What a group may come to, until it is drawn. */
function heightOf({ blocks }: Group): number {
  const lines = blocks.reduce((sum, { raw }) => sum + raw.split("\n").length + raw.length / letters.perLine, 0);
  return Math.round(lines * letters.linePixels * 0.8);
}

function Growing({ text: newest }: { readonly text: string }) {
  const growing = useRef<GrowingText>(undefined);
  growing.current ??= new GrowingText();
  const text = usePaced(newest, growing.current);
  const { groups, tail } = growing.current.grow(text);
  useEffect(() => {
    if (growing.current !== undefined) texts.grown(growing.current);
  }, []);
  return (
    <>
      {groups.map((group) => (
        <Blocks key={group.id} group={group} isOpen={false} />
      ))}
      <Tail blocks={tail} />
    </>
  );
}

/** A long last block is read anew ten times a second at the most. */
const paceMs = 100;
const pacedCharacters = 8_000;

function usePaced(newest: string, growing: GrowingText): string {
  const [shown, setShown] = useState(newest);
  const latest = useRef(newest);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const isPaced = growing.openCharacters > pacedCharacters;
  latest.current = newest;
  useEffect(() => {
    if (!isPaced || newest === shown || timer.current !== undefined) return;
    timer.current = setTimeout(() => {
      timer.current = undefined;
      setShown(latest.current);
    }, paceMs);
  }, [isPaced, newest, shown]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return isPaced && newest.startsWith(shown) ? shown : newest;
}

type BlocksProps = { readonly group: Group; readonly isOpen: boolean };

/** The same blocks are the same objects: a group is drawn again only while it still gets more. */
const Blocks = memo(
  function Blocks({ group }: BlocksProps) {
    return (
      <div className="prose-group">
        {group.blocks.map((block, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: blocks are only ever added behind the last one.
          <Block key={index} token={block} isOpen={false} />
        ))}
      </div>
    );
  },
  (before, after) =>
    before.group.blocks.length === after.group.blocks.length && before.group.blocks[0] === after.group.blocks[0],
);

function Tail({ blocks }: { readonly blocks: readonly Token[] }) {
  return blocks.map((block, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: blocks are only ever added behind the last one.
    <Block key={index} token={block} isOpen />
  ));
}
