import { refunds } from "./day-files.ts";
import { type Answer, type AskedRequest, calls, says } from "./model-server.ts";
import type { Seen } from "./wire.ts";

/** It leaves a line for each time it was run; the first time it would take until the end of the day. */
const plot = (isFirst: boolean) => `
import openpyxl, os, time
with open("temp/runs.txt", "a") as runs: runs.write("${isFirst ? "first" : "second"}\\n")
${isFirst ? "time.sleep(600)" : ""}
import matplotlib.pyplot as plot
rows = list(openpyxl.load_workbook("uploads/sales.xlsx").active.iter_rows(values_only=True))[1:]
plot.bar([row[0] for row in rows], [row[1] for row in rows])
plot.savefig("outputs/sales.png")
with open("outputs/report.md", "w") as report: report.write("# Sales\\n\\nSum: %d\\n" % sum(row[1] for row in rows))
print("drawn")
`;

const summary = (part: string) =>
  `Part ${part} is written: outputs/part-${part}.md. ${"It says what was found, in so many words that nobody has to ask again. ".repeat(4)}`;
export const story = Array.from({ length: 400 }, (_, at) => `word${at}`).join(" ");

/** Who answers on that day: by what was said last, and how often it has answered since; nothing else. */
export function dayModel({ body }: AskedRequest, seen: () => Seen): Answer {
  const { messages } = seen();
  const lastUser = messages.findLastIndex(({ role }) => role === "user");
  const said = messages[lastUser]?.text ?? "";
  const since = messages.slice(lastUser);
  const step = since.filter(({ role }) => role === "assistant").length;
  const results = since.filter(({ role }) => role === "tool").map(({ text }) => text);
  const last = results.at(-1) ?? "";
  // Who connects a model has it tried with one tool.
  const [only, ...more] = body.tools ?? [];
  if (only !== undefined && more.length === 0) return calls([only.function.name, {}]);
  if (body.tool_choice === "none") return says("That is all.");
  if (said.includes("handbook"))
    return step === 0
      ? calls(["search_file", { path: "uploads/handbook.pdf", query: "refunds" }])
      : says(`The handbook says on page ${/page["\s:]+(\d+)/i.exec(last)?.[1]}: ${refunds}`);
  if (said.includes("Plot the sales")) {
    if (step === 0) return calls(["execute_code", { code: plot(true), language: "python" }]);
    return last.includes("drawn") ? says("The chart is there.") : calls(["execute_code", { code: plot(false) }]);
  }
  if (said.includes("Tidy up"))
    return step === 0
      ? calls(
          ["run_bash_command", { command: "rm uploads/old-1.csv" }],
          ["run_bash_command", { command: "rm uploads/old-2.csv" }],
        )
      : says("Tidied up, as far as you let me.");
  const [, part] = /Write part (\d)/.exec(said) ?? [];
  if (part !== undefined)
    return step === 0
      ? { ...calls(["write_file", { path: `outputs/part-${part}.md`, content: `part ${part}\n` }]), waitMs: 300 }
      : says(summary(part));
  if (said.includes("share the work"))
    return step === 0
      ? calls(...[1, 2, 3].map((nr): [string, unknown] => ["delegate_task", { task: `Write part ${nr}` }]))
      : says("All three parts are written.");
  if (said.includes("Tell me a story")) return { text: story, paceMs: 10 };
  if (said.includes("Write a note"))
    return step === 0 ? calls(["write_file", { path: "outputs/note.md", content: "note\n" }]) : says("Noted.");
  return says(`You said: ${said.slice(0, 80)}`);
}
