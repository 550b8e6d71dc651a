/** What the demo model says. */
export const enDemo = {
  introduction:
    "I am AgentYard's demo model: a small program with fixed rules, not an AI. I do not think, but the tools I call are real.",
  greeting: "Hello!",
  about:
    "I am here so that you can see AgentYard at work before you connect a model. My answers come from a short table of rules; conversations, tools and questions are real.",
  abilitiesHead: "You can say to me:",
  abilities: [
    ["what time is it", "I look at the clock with the tool `now`"],
    ["plan a birthday party", "I write a list with `todo_write`"],
    ["show my list", "I read it with `todo_read`"],
    ["list my files", "I look around with `list_files`"],
    ["read notes.txt", "I show what `read_file` finds"],
    [
      "#sales.csv",
      "I look into the file that you name after `#`, with the skill `data-analysis`: a profile of each column, a report and charts",
    ],
    ["make slides about tea", "I follow the skill `slides`: an outline, then a PowerPoint file in `outputs/`"],
    ["which skills are there", "I list the skills that agents have here"],
    ["call echo: hello", "I look for such a tool with `find_tools`, and call it if an MCP server of yours has it"],
    ["run python: print(6 * 7)", "I run it in the sandbox with `execute_code`; JavaScript and bash, too"],
    ["write a note: call Ada", "I put it into `outputs/` with `write_file`"],
    ["search my files for Ada", "I look into them with `search_file`"],
    ["change red to blue in notes.txt", "I read the file, then use `edit_file`"],
    ["delete notes.txt", "I ask for your approval, and delete it only when you approve"],
    ["undo", "I tell you how to undo what I did"],
    ["let Simple answer: what time is it", "I hand you over to the agent Simple, and am back afterwards"],
    ["how much budget is left", "I say what I was told about it"],
    [
      "split my files among three workers",
      "I make three agents with `spawn_agent`; each looks into its part, and I write one report of their notes",
    ],
    ["have a worker do this: read notes.txt", "I give it to a worker with `delegate_task`, and tell what it answers"],
    ["do two things at once", "I call two tools side by side"],
    ["ask me something", "I ask you a question and go on with your answer"],
    ["connect a model", "I tell you how to put a real model in my place"],
  ] as readonly (readonly [say: string, then: string])[],
  ability: (say: string, then: string) => `- “${say}”: ${then}`,
  noRule: "I have no rule for that; it takes a real model to answer it.",
  connectShort:
    "To connect a real model, type `/connect` in the terminal or open the settings in the browser. Or put `OPENAI_API_KEY=…` into the file `.env`, or `MODEL_BASIC_BASE_URL=…` and `MODEL_BASIC_ID=…` for a local server, and send your next message. Say “connect a model” for the exact lines.",

  connectHead: "To connect a real model, put one of these blocks into the file `.env` and send your next message.",
  foundHead: "Found on this machine:",
  found: (model: string, server: string, tokens: number | undefined, tools: boolean | undefined) =>
    `${model} on ${server} (window: ${tokens === undefined ? "not told" : `${count(tokens)} tokens`}, tools: ${tools === undefined ? "not told" : tools ? "yes" : "no"})`,
  openAiHead: "OpenAI:",
  compatibleHead: "Any other server with an OpenAI-compatible API:",
  localHead: "A local server needs no key, for example Ollama:",

  time: (now: string) => `It is ${now}.`,
  planTopic: "this",
  planSteps: (topic: string) => [
    `Write down what “${topic}” should lead to`,
    `List what is needed for “${topic}”, and who does it`,
    "Set a date and check the result",
  ],
  planned: (topic: string, steps: string) =>
    `I wrote a list for “${topic}”:\n\n${steps}\n\nIt is always the same three steps; a real model would fit them to the task. “Show my list” reads it again.`,
  list: (lines: string) => `This is your list:\n\n${lines}`,
  together: (now: string, list: string) =>
    `Both tools ran side by side.\n\n- \`now\`: ${now}\n- \`todo_read\`:\n\n${list}`,
  question: "What shall I call you?",
  questionContext: "The demo model asks so that you see how a question looks. Any answer will do.",
  questionDefault: "friend",
  answered: (answer: string) => `Good to meet you, ${answer}. A real model would remember that and go on from there.`,

  files: (lines: string) => `These are your files:\n\n${lines}`,
  noFiles:
    "There is no file in `uploads/` or `outputs/` yet. Attach one to your message (in the terminal with `#` and its name, such as `#sales.csv`), or say “write a note: …”.",
  whichFile: (files: string) => `I do not know which file you mean. There are:\n\n${files}\n\nName one of them.`,
  fileText: (path: string, text: string, lines: number | undefined | "all") =>
    `\`${path}\`${lines === "all" ? "" : ` begins like this${lines === undefined ? "" : ` (it has ${count(lines)} lines)`}`}:\n\n${text}`,
  filesLeft: (files: number) =>
    files === 1
      ? "One more file was left out here. Name it to have it next."
      : `${count(files)} more files were left out here. Name one to have it next.`,
  noteName: "note.txt",
  noteText: "Written by AgentYard's demo model.",
  wroteFile: (path: string) => `I wrote it into \`${path}\`. \`/undo\` undoes it.`,
  deletedFile: (path: string) => `I deleted \`${path}\`. \`/undo\` undoes it.`,
  notDeleted: (path: string) => `\`${path}\` could not be deleted; is there such a file?`,
  ranCommand: (output: string) => `I ran it, and this came back:\n\n${output}`,
  /** Where code that the user wrote did not run. */
  ownCode: {
    codeUnavailable: (reason: string, fix: string) =>
      `I cannot run code here: ${reason} To get it: ${fix} (\`agentyard doctor\` tells more.)`,
    codeFailed: "The code did not come to its end. The result of the call, above, tells why.",
    codeRejected: "You rejected running the code, so I left it.",
  },
  changedFile: (before: string, after: string, path: string) =>
    `I changed “${before}” to “${after}” in \`${path}\`. \`/undo\` undoes it.`,
  searchHits: (query: string, hits: string) => `“${query}” stands here:\n\n${hits}`,
  foundAt: (p: { path: string; place: string; first: string; last: string; heading: string }) => {
    const where = p.first === p.last ? `${p.place} ${p.first}` : `${p.place}s ${p.first}–${p.last}`;
    return `\`${p.path}\`, ${where}${p.heading === "" ? "" : ` (${p.heading})`}:`;
  },
  searchNothing: (query: string) => `I found “${query}” in none of these files.`,
  undo: "I cannot undo anything myself: only you can. `/undo` undoes the last turn, and the files it changed are as they were before.",
  uploaded: (lines: string) => `This came with your message:\n\n${lines}`,
  uploadedNext: "You can now say “read” or “search … for …” with the name of a file.",
  profileHead: (path: string, rows: number, columns: number) =>
    `\`${path}\`: ${plural(rows, "row")}, ${columns === 0 ? "and no column of numbers" : `${plural(columns, "column")} of numbers`}.`,
  /** Words in charts; `#` stands for the name of a column, or its number. */
  chart: {
    file: "chart",
    column: "column #",
    rows: "rows",
    sums: "#1 by #2",
    spread: "Distribution of #",
  },
  tableHead: (path: string, rows: number, columns: number) =>
    `\`${path}\`: ${plural(rows, "row")}, ${plural(columns, "column")}.`,
  tableColumns: ["Column", "Type", "Values", "Gaps", "Smallest", "Largest", "Mean", "Median", "Sum"],
  tableKinds: { number: "number", date: "date", text: "text", empty: "empty" },
  tableGaps: (cells: number, columns: string) =>
    cells === 0 ? "There are no gaps." : `${plural(cells, "gap")}, in ${columns}.`,
  tableOften: (column: string, distinct: number | undefined, value: string, times: number) =>
    `${column}: ${distinct === undefined ? "very many" : count(distinct)} different values, most often “${value}” (${plural(times, "time")}).`,
  tableMore: (columns: number) => `${plural(columns, "more column")} left out here.`,
  chartMade: (path: string) => `The chart is in \`${path}\`.`,
  chartNone: {
    matplotlib:
      "There is no chart, because matplotlib is missing in the sandbox; `agentyard doctor` tells how to get it.",
    nothing: "There is no chart: no column has numbers or a few groups.",
  },
  codeUnavailable: (reason: string, fix: string) =>
    `I cannot run code here: ${reason} To get it: ${fix} (\`agentyard doctor\` tells more.) So I only read the file, and there is no chart.`,
  codeFailed: "The code for it did not work, so I only read the file, and there is no chart.",
  codeRejected: "You rejected running code, so I only read the file, and there is no chart.",
  profileColumns: ["Column", "Values", "Smallest", "Largest", "Mean", "Sum"],
  profileColumn: (place: number) => `column ${place}`,
  profileMore: (columns: number) => `${plural(columns, "more column")} of numbers left out here.`,
  profileOthers: (names: string) => `Other columns: ${names}.`,
  profileUnread: (cells: number) =>
    `Left out: ${plural(cells, "cell")} that ${cells === 1 ? "is no number" : "are no numbers"}.`,
  profilePart: (read: number, of: number | undefined) =>
    `This is only the beginning: ${count(read)}${of === undefined ? "" : ` of ${count(of)}`} lines were read.`,

  /** Of a skill that was read, and whose scripts ran. */
  followed: (skill: string) =>
    `I followed the skill \`${skill}\`: I read its \`SKILL.md\`, and its scripts ran in the sandbox.`,
  skills: (lines: string) =>
    `Agents have these skills here:\n\n${lines}\n\nI can only follow \`data-analysis\` and \`slides\`; a real model reads any of them when a task fits. \`/skills\` tells more.`,
  delegated: (p: { steps: number; said: string }) => `A worker did it in ${plural(p.steps, "step")}:\n\n${p.said}`,
  notDelegated: (why: string) => `The worker did not come to its end${why === "" ? "" : ` (${why})`}.`,
  company: {
    /** The first line of what a worker is told, by which it knows its work. */
    order: "Look into each of these files, and write notes on them for a report:",
    role: "reader of files",
    worker: (number: number) => `worker-${number}`,
    path: "outputs/report.md",
    title: "# Report of the company",
    begun: (lines: string) =>
      `The company is at work. Each worker has files of its own, and leaves notes:\n\n${lines}\n\n\`/agents\` shows them; what they write is put together when all are done.`,
    given: (p: { name: string; files: number }) => `- \`${p.name}\`: ${plural(p.files, "file")}`,
    underWay: (p: { done: number; of: number }) => `${p.done} of ${p.of} are done.`,
    done(p: { path: string; workers: number; good: number }) {
      const some = p.good === p.workers ? `all ${p.workers} workers` : `${p.good} of ${p.workers} workers`;
      const [who, their] = p.workers === 1 ? ["the worker", "its"] : [some, "their"];
      return `The report is in \`${p.path}\`: ${who} came to ${their} end, and ${their} notes are in it. They lie in \`outputs/\`, too, in a folder for each worker. What the files mean is not in it: that takes a real model.`;
    },
    nothing: "No report was written: there are no notes that could be read.",
    failed: (isDone: boolean): string => (isDone ? "Its notes could not be read." : "It did not come to its end."),
    note: (p: { path: string; lines: number; words: number; begin: string }) =>
      `\`${p.path}\`: ${plural(p.lines, "line")}, ${plural(p.words, "word")}. It begins: “${p.begin}”`,
    unread: (path: string, code: string) => `\`${path}\` could not be read (${code}).`,
    noted: (p: { files: number; path: string }) =>
      `Result: notes on ${plural(p.files, "file")} are written. Files: ${p.path} - the notes. Open points: none.`,
  },
  handedBack: "Another agent has answered you.",
  handedOver: (task: string) =>
    `You were handed over to me. I was told: “${task}”. I have no rule for that; it takes a real model to answer it.`,
  noBudget: "No budget is set here that I was told of. `/budget tokens 200k` sets one.",
  budget: (left: string) => `What I was told last about the budget: ${left}. \`/budget\` has it to the token.`,
  noSkills: "No skill is offered to me here. `/skills` tells which there are, and why.",
  report: {
    file: "report",
    title: (name: string) => `Report on ${name}`,
    findings: (lines: string) => `The script wants these looked at:\n\n${lines}`,
    made: (files: readonly string[]) =>
      `The report is in ${listed(files)}. What the numbers mean is not in it: I only have rules, and that takes a real model.`,
    none: "No report was written: the script for it did not work.",
  },
  slides: {
    topic: "this topic",
    outlineName: "outline",
    outline: (topic: string) =>
      [
        `# ${topic}\nMade by AgentYard's demo model`,
        "> The slides are the same for every topic. A real model would write what belongs on them.",
        `## What this is about\n- ${topic}, in one sentence that everybody understands\n- Why it matters to those who listen\n- What is left out today`,
        "## What we know, and from where\n| Question | Answer | Source |\n| --- | --- | --- |\n| Who is it for? | to be filled in | to be filled in |\n| What does it cost? | to be filled in | to be filled in |",
        "## What speaks for it, and against\n### For\n- One good reason\n### Against\n- One honest objection",
        "## What happens next\n- Who does what\n- By when\n- How we know that it worked",
        "# Questions?",
      ].join("\n\n"),
    made: ({ topic, path, slides, outline }: Deck) =>
      `The slides about “${topic}” are in \`${path}\` (${plural(slides, "slide")}), their outline in \`${outline}\`. They are the same for every topic; a real model would write what belongs on them.`,
    unmade: (why: string, outline: string) => `${why} The outline is in \`${outline}\`.`,
    whyNot: {
      codeUnavailable: (reason: string, fix: string) =>
        `I cannot run the scripts of the skill \`slides\` here: ${reason} To get it: ${fix} (\`agentyard doctor\` tells more.) So there is no PowerPoint file.`,
      codeFailed: "The script of the skill `slides` could not be run, so there is no PowerPoint file.",
      codeRejected: "You rejected running the script of the skill `slides`, so there is no PowerPoint file.",
    },
    broken: (outline: string) =>
      `The script of the skill \`slides\` did not come to its end. The outline is in \`${outline}\`; the script said:`,
    noSkill:
      "To make slides I would follow the skill `slides` and run its scripts, which I may not do here. `/skills` tells why.",
  },
  foreign: {
    called: ({ tool, server, input }: ForeignCall) =>
      `I called the tool \`${tool}\` of the MCP server \`${server}\` with \`${input}\`. It answered:`,
    chosen:
      "I chose it by a word of its name, and took numbers and words from your message; a real model would understand what it does.",
    unfilled: ({ tool, server, needed }: { readonly tool: string; readonly server: string; readonly needed: string }) =>
      `The MCP server \`${server}\` has a tool \`${tool}\` that may fit, but I did not find in your message what it needs (${needed}). A real model would work that out or ask; I take numbers as they come, and words after a colon.`,
  },

  toolNotThere: (tool: string) => `For that I would call the tool \`${tool}\`, which I may not use here.`,
  called: (tool: string, result: string) => `\`${tool}\`: ${result}`,
  rejected: (tool: string) => `You rejected \`${tool}\`, so I left it.`,
  failed: (tool: string, code: string) => `\`${tool}\` did not work (${code}).`,
  /** One sentence for what happens most, by failure code. */
  fileFailures: {
    file_not_found: ({ path, near }: FailedCall) =>
      near === ""
        ? `There is no file \`${path}\`; “list my files” shows what is there, and \`#\` before a name sends one of yours along.`
        : `There is no file \`${path}\`; did you mean ${near}?`,
    path_traversal_blocked: ({ path }: FailedCall) =>
      `\`${path}\` is not one of the files of this conversation, and I reach no others; \`#\` before a name sends one of yours along.`,
    permission_denied: ({ path, isUnwritable }: FailedCall) =>
      isUnwritable
        ? `I can only write into \`outputs/\`, \`temp/\` and \`uploads/\`, so nothing was put at \`${path}\`.`
        : `I am not allowed to use \`${path}\`: it is protected, a link, or no ordinary file.`,
    not_a_file: ({ path }: FailedCall) => `\`${path}\` is not a file; name one that lies in it.`,
    unsupported_type: ({ path }: FailedCall) =>
      `\`${path}\` is of a kind that I can neither read nor change; a text or a table would do.`,
    too_large: ({ path }: FailedCall) => `\`${path}\` is too large for that; a smaller file would do.`,
    text_not_found: ({ path, text }: FailedCall) => `“${text}” does not stand in \`${path}\`, so I changed nothing.`,
    conflict: ({ path }: FailedCall) =>
      `\`${path}\` has content that I have not seen, so I left it as it is; let me read it first, then ask again.`,
    quota_exceeded: ({ path }: FailedCall) =>
      `There is no room left for \`${path}\`; delete files that are no longer needed, then ask again.`,
  },
};

type Deck = { readonly topic: string; readonly path: string; readonly slides: number; readonly outline: string };
type ForeignCall = { readonly tool: string; readonly server: string; readonly input: string };

type FailedCall = {
  readonly path: string;
  /** Names that were probably meant, or nothing. */
  readonly near: string;
  /** What was to be changed. */
  readonly text: string;
  /** It was to be written where nothing can be written. */
  readonly isUnwritable: boolean;
};

function listed(files: readonly string[]): string {
  const [last = "", ...charts] = files.toReversed();
  return charts.length === 0
    ? `\`${last}\``
    : `\`${last}\`, with ${plural(charts.length, "chart")} beside it (${charts
        .toReversed()
        .map((file) => `\`${file}\``)
        .join(", ")})`;
}

function count(number: number): string {
  return number.toLocaleString("en-US");
}

function plural(number: number, noun: string): string {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}
