import { unreachable } from "../base/assert.ts";
import { ok, type Result } from "../base/result.ts";
import { imageBytesMax, isWholeImage } from "../documents/documents.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { Image } from "../protocol/message.ts";
import { missedNetwork } from "../protocol/missed-network.ts";
import type { ProgramReport, ProgramWanted, ShownOutput } from "../sandbox/sandbox.ts";
import { forModels } from "../words/words.ts";
import type { FileChange } from "../workspace/workspace.ts";
import { changedEvent } from "./file-events.ts";
import { boundOutput } from "./output.ts";
import { isBinary, plainOutput } from "./plain-output.ts";
import type { ToolContext, ToolOutput } from "./tool.ts";

export type CodeTool = "execute_code" | "run_bash_command";

/**
 * Runs a program to its end and tells what became of it. A program that failed is a result like any other; the tool
 * itself fails only where the program could not be run, or was stopped by the user.
 */
export async function runProgram(
  tool: CodeTool,
  wanted: Pick<ProgramWanted, "language" | "code" | "timeoutMs">,
  context: ToolContext,
): Promise<Result<ToolOutput, Failure>> {
  const shownBytesMax = Math.floor(context.outputBytesMax * streamShare);
  const run = await context.sandbox.run({ ...wanted, shownBytesMax });
  if (!run.ok) return run;
  const report = await run.value.report;
  if (report.how === "cancelled") return failure("tool_cancelled", { tool });
  const images = context.seesImages ? await imagesOf(report.figures, context) : new Map<string, Image>();
  return ok({
    ...reportText(tool, report, { wanted, images, bytesMax: context.outputBytesMax, hadPython: hadPython(context) }),
    ...(images.size === 0 ? {} : { images: [...images.values()] }),
    ...(report.how === "timeout" ? { isRefusal: true } : {}),
    events: report.changes.map((change) => changedEvent(context, change, { program: true })),
  });
}

/** Whether an earlier call may have left variables behind. */
function hadPython({ earlierCalls }: ToolContext): boolean {
  return earlierCalls().some((call) => !otherLanguage.test(call.arguments));
}

const otherLanguage = /"language"\s*:\s*"(?!i?py)/i;

/** Each of the two streams gets this share of a result. */
const streamShare = 0.4;
const valueShare = 0.1;
/** What a model that sees is shown at once; larger figures and more of them are only named. */
const figuresMax = 2;
const figureBytesMax = Math.min(imageBytesMax, 300_000);
const pngStart = Buffer.from("89504e470d0a1a0a", "hex");

async function imagesOf(paths: readonly string[], { workspace }: ToolContext): Promise<Map<string, Image>> {
  const images = new Map<string, Image>();
  for (const path of paths.slice(0, figuresMax)) {
    const stat = await workspace.stat(path);
    if (!stat.ok || stat.value.bytes > figureBytesMax) continue;
    const read = await workspace.read(path, { bytesMax: figureBytesMax });
    if (!read.ok) continue;
    const { bytes } = read.value;
    // The program may have put anything there since: a request with a broken image is refused, and each one after it.
    if (!bytes.subarray(0, pngStart.length).equals(pngStart) || !isWholeImage(bytes, "image/png")) continue;
    images.set(path, { mime: "image/png", base64: bytes.toString("base64") });
  }
  return images;
}

type Shown = {
  readonly wanted: Pick<ProgramWanted, "timeoutMs">;
  readonly images: ReadonlyMap<string, Image>;
  readonly bytesMax: number;
  readonly hadPython: boolean;
};

/** How it ended where that is worth a word, what it said, then the figures: exit, time, files. */
function reportText(
  tool: CodeTool,
  report: ProgramReport,
  { wanted, images, bytesMax, hadPython: had }: Shown,
): Pick<ToolOutput, "text" | "outside"> {
  const { code: words } = forModels;
  const said = saidText(report, Math.floor(bytesMax * valueShare));
  const head = headOf(tool, report, wanted.timeoutMs);
  const from = head.reduce((sum, line) => sum + line.length + 1, 0);
  const lines = [
    ...head,
    said === "" ? words.nothing : said,
    ...cutLines(report),
    ...(report.isOverLimit ? [words.overLimit] : []),
    ...(readOnly.test(report.stderr.text) ? [words.readOnly] : []),
    ...(missedNetwork(report) ? [forModels.network.missed] : []),
    ...(report.isPythonNew && had ? [words.reset] : []),
    // A breakdown says so itself.
    ...(report.isPythonLost && report.how !== "lost" ? [words.pythonLost] : []),
    words.ended(report.exitCode, report.endedAt - report.startedAt),
    ...fileLines(report, images),
  ];
  return { text: lines.join("\n"), outside: [{ source: tool, from, to: from + said.length }] };
}

const readOnly = /Read-only file system|\bEROFS\b/;

function headOf(tool: CodeTool, report: ProgramReport, timeoutMs: number): string[] {
  const { code: words } = forModels;
  const { how, exitCode, signal, startedAt, endedAt } = report;
  switch (how) {
    case "done":
      if (exitCode === 0) return [];
      return [exitCode === undefined ? words.signalled(signal ?? "a signal") : words.failed[tool](exitCode)];
    case "timeout":
      // The limit of the session may be shorter than what was asked for.
      return [words.timeout[tool](Math.min(timeoutMs / 1000, Math.max(1, Math.round((endedAt - startedAt) / 1000))))];
    case "out_of_memory":
      return [words.outOfMemory];
    case "disk_full":
      return [words.diskFull];
    case "lost":
      if (exitCode === undefined && signal === undefined) return [words.lost];
      return [words.pythonEnded(signal ?? words.exitCode(exitCode ?? 0))];
    case "killed":
    case "cancelled":
      return [words.killed];
    default:
      return unreachable(how);
  }
}

/** The names of the streams stand there only where both said something. */
function saidText({ stdout, stderr, value }: ProgramReport, valueBytesMax: number): string {
  const { code: words } = forModels;
  const [out, errors] = [plainOutput(stdout), plainOutput(stderr)];
  const isBoth = out !== "" && errors !== "";
  const parts = [
    ...(out === "" ? [] : isBoth ? [words.stdout, out] : [out]),
    ...(errors === "" ? [] : [words.stderr, errors]),
    ...(value === undefined ? [] : [words.value, boundOutput(value, valueBytesMax).text]),
  ];
  return parts.join("\n");
}

function cutLines({ stdout, stderr }: ProgramReport): string[] {
  const line = (stream: "stdout" | "stderr", shown: ShownOutput) =>
    shown.cutBytes > 0 && !isBinary(shown.text) ? [forModels.code.cut(stream, shown)] : [];
  return [...line("stdout", stdout), ...line("stderr", stderr)];
}

/** Named one by one up to here; a program that unpacks an archive makes thousands. */
const filesShownMax = 30;

function fileLines({ changes, figures, hadCompany }: ProgramReport, images: ReadonlyMap<string, Image>): string[] {
  const { code: words } = forModels;
  if (changes.length === 0) return [];
  // Figures first: whatever else was made, they are what is looked for.
  const ordered = changes.toSorted((a, b) => Number(figures.includes(b.path)) - Number(figures.includes(a.path)));
  const lines = ordered.slice(0, filesShownMax).map((change) => {
    const note = images.has(change.path) ? words.figureShown : figures.includes(change.path) ? words.figure : "";
    return `${changeLine(change)}${note}${change.lost === undefined ? "" : words.notKept}`;
  });
  const more = changes.length - filesShownMax;
  return [hadCompany ? words.filesOfAll : words.files, ...lines, ...(more > 0 ? [words.more(more)] : [])];
}

function changeLine({ path, before, after }: FileChange): string {
  const { code: words } = forModels;
  if (after === undefined) return words.removed(before === undefined ? `${path}/` : path);
  return before === undefined ? words.made({ path, bytes: after.bytes }) : words.changed({ path, bytes: after.bytes });
}
