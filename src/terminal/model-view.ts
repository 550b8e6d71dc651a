import type { CallAnswer } from "../client/client.ts";
import type { Slot } from "../protocol/message.ts";
import type { Words } from "../words/words.ts";
import { cellsOf, padCells, safeLine } from "./safe-text.ts";

type ModelList = CallAnswer<"listModels">;
type Server = ModelList["found"][number];

const modelsShownMax = 3;

/** The slots as a table. */
export function modelTable({ slots }: Pick<ModelList, "slots">, { terminal }: Words, preferred?: Slot): string[] {
  const { model } = terminal;
  const { slot, model: id, server, window } = model.columns;
  const rows = slots.map((entry) => {
    const notes = [
      ...(entry.isDemo ? [model.demo()] : []),
      ...(entry.filled ? [] : [model.usesBase()]),
      ...(entry.slot === preferred ? [model.preferred()] : []),
    ];
    return [
      entry.slot,
      safeLine(entry.id, 40),
      safeLine(entry.server, 40),
      tokens(entry.windowTokens),
      notes.join(terminal.comma),
    ];
  });
  return alignColumns([[slot, id, server, window, ""], ...rows]);
}

/** How to connect a model: local servers that were found, or what to write where. */
export function connectLines({ slots, found }: ModelList, { terminal }: Words, { isAll = false } = {}): string[] {
  const { model } = terminal;
  const isDemo = isAll || slots.some((entry) => entry.slot === "base" && entry.isDemo);
  return [
    ...(found.length > 0 ? [model.found(), ...found.flatMap((server) => serverLines(server, terminal.model))] : []),
    ...(found.length === 0 && isDemo ? [model.noneFound()] : []),
    ...(isDemo ? [model.connect(), ...model.connectLines.map((line) => `  ${line}`)] : []),
  ];
}

function serverLines(server: Server, model: Words["terminal"]["model"]): string[] {
  const first = server.models[0];
  const names = server.models.slice(0, modelsShownMax).map(({ id, windowTokens, tools }) => {
    const facts = [
      ...(windowTokens === undefined ? [] : [tokens(windowTokens)]),
      ...(tools === undefined ? [] : [tools ? model.toolsYes() : model.toolsNo()]),
    ];
    return `${safeLine(id, 60)}${facts.length > 0 ? ` (${facts.join(", ")})` : ""}`;
  });
  const rest = server.models.length - names.length;
  const all = [...names, ...(rest > 0 ? [model.more({ count: rest })] : [])].join(", ");
  return [
    `  ${safeLine(server.kind, 20)} ${safeLine(server.baseUrl, 80)}  ${all}`,
    ...(server.advice === undefined ? [] : [`    ${safeLine(server.advice, 300)}`]),
    ...(first === undefined
      ? []
      : [`    ${model.use()} MODEL_BASIC_BASE_URL=${server.baseUrl} MODEL_BASIC_ID=${safeLine(first.id, 60)}`]),
  ];
}

/** What `model test` found out about one slot. */
export type ModelTest = {
  readonly slot: string;
  readonly model: string;
  readonly server: string;
  /** The wire format. */
  readonly api: string;
  readonly checks: readonly {
    readonly name: "answers" | "streams" | "tools" | "usage";
    readonly isOk: boolean;
    readonly detail?: string;
  }[];
  readonly latency: { readonly firstMs?: number; readonly totalMs: number };
  /** In words: what happened, and what to do next. */
  readonly failure?: string | readonly [what: string, next: string];
};

export function modelTestLines(test: ModelTest, { terminal }: Words): string[] {
  const { model } = terminal;
  return [
    model.testTitle({
      slot: test.slot,
      model: safeLine(test.model, 60),
      server: safeLine(test.server, 60),
      api: test.api,
    }),
    ...test.checks.map(({ name, isOk, detail }) =>
      `  ${isOk ? "✓" : "✗"} ${model.check[name]} ${safeLine(detail ?? "")}`.trimEnd(),
    ),
    `  ${model.latency({ firstMs: test.latency.firstMs, totalMs: test.latency.totalMs })}`,
    ...(test.failure === undefined ? [] : failureLines(test.failure)),
  ];
}

function failureLines(failure: NonNullable<ModelTest["failure"]>): string[] {
  const [what, next = ""] = typeof failure === "string" ? [failure] : failure;
  return [`✗ ${safeLine(what, 600)}`, ...(next === "" ? [] : [`→ ${safeLine(next, 600)}`])];
}

function tokens(count: number): string {
  return count >= 1000 ? `${Math.round(count / 1000)} K` : String(count);
}

export function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => cellsOf(row[column] ?? "")))) ?? [];
  return rows.map((row) => `  ${row.map((cell, column) => padCells(cell, widths[column] ?? 0)).join("  ")}`.trimEnd());
}
