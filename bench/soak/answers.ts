import type { Answer, AskedRequest } from "../../test/world/model-server.ts";
import { calls, says, stepOf } from "../../test/world/model-server.ts";

/** What people ask for; the model does by the first word what it is told. */
export const kinds = ["chat", "code", "search", "team", "slow"] as const;
export type Kind = (typeof kinds)[number];

const words = "one word after another, as models say them, ".repeat(8);

/** The same request has the same answer, also after a restart. */
export function answer(request: AskedRequest): Answer {
  const said = request.body.messages.findLast(({ role }) => role === "user");
  const [, kind = "chat"] = /\b(chat|code|search|team|slow|part)\b/.exec(String(said?.content)) ?? [];
  if (kind === "slow") return { ...says(words.repeat(4)), paceMs: 50 };
  const work = stepOf(request) === 0 ? begun[kind] : undefined;
  return work ?? { ...says(words), paceMs: 5 };
}

const program = `import csv
rows = list(csv.DictReader(open("uploads/data.csv")))
open("outputs/sum.txt", "w").write(str(sum(int(row["value"]) for row in rows)))
print(len(rows))`;

const begun: Readonly<Record<string, Answer>> = {
  code: calls(["execute_code", { code: program }]),
  search: calls(["search_file", { query: "heron" }]),
  team: calls(...["a", "b"].map((name): [string, unknown] => ["delegate_task", { task: `part ${name} of the work` }])),
};
