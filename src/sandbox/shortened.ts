import { createCollected } from "./collected.ts";
import type { ExecutionRecord, ProgramReport, ShownOutput } from "./sandbox.ts";

/** So much of an execution's code stands in its record: whoever sent more has it. */
const codeBytesMax = 64 * 1024;
/** So much of each text stands in a list, whose readers want to know which execution it was. */
const listedBytesMax = 2048;
const listedFilesMax = 20;

/** The code as it is written down: its beginning and its end where it is long. */
export function keptCode(code: string): Pick<ExecutionRecord, "code" | "codeCutBytes"> {
  const { text, cutBytes } = shortened(code, codeBytesMax);
  return { code: text, codeCutBytes: cutBytes };
}

/** An execution as a list shows it: no text and no list in it is long. */
export function listedExecution(record: ExecutionRecord): ExecutionRecord {
  const { text: code, cutBytes } = shortened(record.code, listedBytesMax);
  return {
    ...record,
    code,
    codeCutBytes: record.codeCutBytes + cutBytes,
    report: record.report && listedReport(record.report),
    artifacts: firstOf(record.artifacts, ({ path }) => path),
  };
}

function listedReport(report: ProgramReport): ProgramReport {
  const { value, returned } = report;
  return {
    ...report,
    stdout: listedOutput(report.stdout),
    stderr: listedOutput(report.stderr),
    value: value === undefined ? undefined : shortened(value, listedBytesMax).text,
    // JSON without its middle is none.
    returned: returned !== undefined && returned.length > listedBytesMax ? undefined : returned,
    figures: firstOf(report.figures, (path) => path),
    changes: firstOf(report.changes, ({ path }) => path),
  };
}

/** As many as fit: a path can be long. */
function firstOf<T>(files: readonly T[], pathOf: (file: T) => string): readonly T[] {
  let characters = 0;
  return files.slice(0, listedFilesMax).filter((file) => {
    characters += pathOf(file).length;
    return characters <= listedBytesMax;
  });
}

function listedOutput({ text, cutBytes, path }: ShownOutput): ShownOutput {
  const short = shortened(text, listedBytesMax);
  return { text: short.text, cutBytes: cutBytes + short.cutBytes, path };
}

function shortened(text: string, bytesMax: number): { readonly text: string; readonly cutBytes: number } {
  // No character has more bytes: most texts need not be looked at.
  if (text.length * characterBytesMax <= bytesMax) return { text, cutBytes: 0 };
  const collected = createCollected();
  collected.add(Buffer.from(text));
  collected.end();
  return collected.shown(bytesMax);
}

/** A UTF-16 unit has no more bytes in UTF-8. */
const characterBytesMax = 3;
