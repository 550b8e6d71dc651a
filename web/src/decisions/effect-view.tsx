import { useState } from "react";
import { useWords } from "../words/words.ts";
import { type Effect, effectOf, type Rows } from "./effect.ts";

const linesMax = 60;
const lineCharactersMax = 2_000;

type EffectViewProps = { readonly tool: string; readonly written: string };

/** Exactly what would be done: the program, the change of a file, or every argument; and all of it as it was sent. */
export function EffectView({ tool, written }: EffectViewProps) {
  const words = useWords().decisions;
  const effect = effectOf(tool, written);
  return (
    <div className="effect">
      <EffectBody effect={effect} />
      {effect.kind !== "text" && (
        <details>
          <summary>{words.asSent}</summary>
          <Lines lines={[written]} />
        </details>
      )}
    </div>
  );
}

function EffectBody({ effect }: { readonly effect: Effect }) {
  switch (effect.kind) {
    case "program":
      return (
        <>
          <Lines lines={effect.code.split("\n")} />
          <Values rows={effect.others} />
        </>
      );
    case "file":
      return (
        <>
          <p className="effect-path">{effect.path}</p>
          <Lines lines={effect.content.split("\n").map((line) => `+ ${line}`)} />
        </>
      );
    case "change":
      return (
        <>
          <p className="effect-path">{effect.path}</p>
          <Lines lines={effect.lines.map(({ sign, text }) => `${sign} ${text}`)} isChange />
          <Values rows={effect.others} />
        </>
      );
    case "arguments":
      return <Values rows={effect.rows} />;
    case "text":
      return <Lines lines={effect.text.split("\n")} />;
  }
}

function Values({ rows }: { readonly rows: Rows }) {
  if (rows.length === 0) return null;
  return (
    <dl className="values">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

type LinesProps = { readonly lines: readonly string[]; readonly isChange?: boolean };

/** Long ones are opened by whoever wants to read them: nothing is hidden for good. */
function Lines({ lines, isChange = false }: LinesProps) {
  const words = useWords().decisions;
  const [isWhole, setWhole] = useState(false);
  const isLong = lines.length > linesMax || lines.some((line) => line.length > lineCharactersMax);
  const shown = isWhole || !isLong ? lines : lines.slice(0, linesMax).map((line) => line.slice(0, lineCharactersMax));
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <pre className="effect-code" tabIndex={0}>
        {isChange ? shown.map(changedLine) : shown.join("\n")}
      </pre>
      {isLong && !isWhole && (
        <button type="button" className="link-button" onClick={() => setWhole(true)}>
          {words.showAll({ lines: lines.length })}
        </button>
      )}
    </>
  );
}

function changedLine(line: string, index: number) {
  return (
    <span key={index} data-sign={line.slice(0, 1)}>
      {`${line}\n`}
    </span>
  );
}
