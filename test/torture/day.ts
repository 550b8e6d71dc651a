import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBalancer } from "../world/balancer.ts";
import { type Answer, type AskedRequest, calls, says } from "../world/model-server.ts";
import { paragraph, pdf, printed } from "../world/pdf-files.ts";
import { postgresServer } from "../world/postgres-server.ts";
import { agentyard } from "../world/pty.ts";
import type { Seen } from "../world/wire.ts";

/** What the handbook says of money, on its second page. */
export const refunds = "Refunds are paid within fourteen days of the return.";

const months = ["Jan", "Feb", "Mar"];

/** The files of a user's day, by their names. */
export const dayFiles: Readonly<Record<string, Uint8Array>> = {
  "sales.csv": Buffer.from(`month,units\n${months.map((month, at) => `${month},${10 * (at + 1)}\n`).join("")}`),
  "handbook.pdf": handbook(),
  "old-1.csv": Buffer.from("a\n1\n"),
  "old-2.csv": Buffer.from("a\n2\n"),
};

function handbook(): Uint8Array {
  return pdf(
    ["About us", "Returns", "Contact"].map((title) => ({
      content: printed([
        { text: title, at: [72, 780], font: "F2", size: 18 },
        ...paragraph(740, title === "Returns" ? [refunds] : [`${title}: nothing about money stands here.`]),
      ]),
    })),
  );
}

/** It leaves a line for each time it was run; the first time it would take until the end of the day. */
const plot = (isFirst: boolean) => `
import csv, time
with open("temp/runs.txt", "a") as runs: runs.write("${isFirst ? "first" : "second"}\\n")
${isFirst ? "time.sleep(600)" : ""}
import matplotlib.pyplot as plot
rows = [(month, int(units)) for month, units in list(csv.reader(open("uploads/sales.csv")))[1:]]
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

/** The servers of a whole day behind one address: they are killed and started again. */
export type DayServers = AsyncDisposable & {
  readonly address: string;
  /** Where the files of conversations lie. */
  readonly files: string;
  /** For commands that are typed beside them. */
  readonly env: Readonly<Record<string, string>>;
  /** SIGKILL, to each in turn: from the second time on it hits the one that has everything. It is there again afterwards. */
  kill(): Promise<void>;
  readonly kills: () => number;
};

type Server = { readonly child: ChildProcess; readonly place: string; readonly ended: Promise<unknown> };

/** One with its file, or two on a database. */
export async function dayServers(kind: "sqlite" | "postgres"): Promise<DayServers> {
  const folder = mkdtempSync(join(tmpdir(), "day-"));
  const files = join(folder, kind === "sqlite" ? "data-0" : "files");
  const { PATH = "" } = process.env;
  const env: Record<string, string> = { PATH, HOME: folder, TMPDIR: folder, LANG: "C.UTF-8" };
  if (kind === "postgres") {
    env.AGENTYARD_DATABASE_URL = (await postgresServer()).newPlace();
    env.AGENTYARD_FILES_DIR = files;
    env.AGENTYARD_KEY = "the key that both servers of a day have";
  }
  const start = (number: number) => startServer({ ...env, AGENTYARD_DATA: join(folder, `data-${number}`) }, folder);
  const servers: (Server | undefined)[] = [];
  const end = async () => {
    for (const server of servers) server?.child.kill("SIGTERM");
    await Promise.all(servers.map((server) => server?.ended));
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    for (let number = 0; number < (kind === "sqlite" ? 1 : 2); number += 1) servers.push(await start(number));
  } catch (error) {
    await end();
    throw error;
  }
  const balancer = await openBalancer({
    ...{ seed: 1, servers: () => servers.flatMap((server) => server?.place ?? []) },
  });
  let kills = 0;
  return {
    ...{ address: balancer.address, files, env, kills: () => kills },
    async kill() {
      const number = kills % servers.length;
      kills += 1;
      const server = servers[number];
      servers[number] = undefined;
      server?.child.kill("SIGKILL");
      await server?.ended;
      servers[number] = await start(number);
    },
    async [Symbol.asyncDispose]() {
      await balancer.close();
      await end();
    },
  };
}

async function startServer(env: Readonly<Record<string, string>>, cwd: string): Promise<Server> {
  const child = spawn(process.execPath, [agentyard, "serve", "--port", "0"], {
    env,
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  let said = "";
  const place = await new Promise<string>((resolve, reject) => {
    const hear = (text: string) => {
      said += text;
      const [, found] = /listens on http:\/\/(127\.0\.0\.1:\d+) /.exec(said) ?? [];
      if (found !== undefined) resolve(found);
    };
    child.stdout?.setEncoding("utf8").on("data", hear);
    child.stderr?.setEncoding("utf8").on("data", hear);
    void ended.then(() => reject(new Error(`the server did not begin: ${said}`)));
  });
  return { child, place, ended };
}
