// Where what was thrown may end, place by place; test/world/mouths.ts looks whether there are others.

/** What can end by a mistake of ours, and who is told: a closed list, told in invariant 8 of ARCHITECTURE.md. */
export const kindsOfMouths = {
  request: "the caller, by 500 or by the end of what is sent",
  turn: "whoever follows the conversation: a turn or an agent has failed",
  call: "the model, or the client that called",
  guest: "whoever wanted a program to run",
  storage: "whoever asked for this, and none of those beside it",
  thread: "whoever waits for the job of a thread",
  background: "the log alone, or whoever asked for the work when others wait for its end",
  command: "whoever typed it",
  page: "whoever looks at this part of a page in the browser",
  script: "the model, in one line of what a script of a skill writes",
} as const;

export type Mouth = { readonly kind: keyof typeof kindsOfMouths; readonly becomes: string };
export type Mouths = Readonly<Record<string, Mouth>>;

/** The mouths by file and function, each with what becomes there of a mistake of ours. */
export const mouths: Mouths = {
  "src/documents/scan-thread.ts#start": {
    kind: "thread",
    becomes: "between two searches nobody waits: the next one starts another thread, and hears what ends that",
  },
  "src/extract/threads/thread.ts#startThread": {
    kind: "thread",
    becomes: "between two jobs nobody waits: the thread is not fit any more, and the next job has another",
  },
  "src/extract/threads/thread.ts#runIn": {
    kind: "thread",
    becomes: "the job has crashed; the log has the error",
  },
  "src/search/thread.ts#start": {
    kind: "thread",
    becomes: "whoever waits for an answer has it thrown, unless only the memory was too little",
  },
  "src/http/text-stream.ts#nextOf": {
    kind: "request",
    becomes: "the headers are out: the log has it, the reader sees the end and comes back",
  },
  "src/http/text-stream.ts#leave": { kind: "request", becomes: "the reader has gone: the log has it" },
  "src/http/download.ts#read": {
    kind: "request",
    becomes: "the headers are out: the log has it, and the connection is broken off unless the reader has left",
  },
  "src/loop/agents/drive-tree.ts#driveOne": {
    kind: "turn",
    becomes: "the agent ends as failed, with an id that the log file has; others go on",
  },
  "src/loop/agents/drive-tree.ts#driveTree": {
    kind: "turn",
    becomes: "not even that could be stored: everybody stops, and the turn ends as failed",
  },
  "src/loop/driver.ts#drive": { kind: "turn", becomes: "the turn ends as failed, with an id that the log file has" },
  "src/loop/driver.ts#endBroken": {
    kind: "turn",
    becomes: "not even that could be stored: the log has it, the conversation is left open",
  },
  "src/loop/driver.ts#wake": {
    kind: "turn",
    becomes: "storage itself broke down: the log has it, the conversation is left open",
  },
  "src/loop/run-tool.ts#runTool": {
    kind: "call",
    becomes: "a tool is foreign code: the call ends with an error for the model, the log has it",
  },
  "src/loop/run-tool.ts#raceLimits": { kind: "call", becomes: "the same, while it is waited for" },
  "src/tools/custom-definition.ts#asked": {
    kind: "call",
    becomes:
      "a tool of the operator's is foreign code: whether a person must be asked is not known, so the call is refused",
  },
  "src/tools/custom-definition.ts#runCustom": {
    kind: "call",
    becomes: "the same while it runs: the model reads what it says",
  },
  "src/approvals/checkers.ts#askChecker": {
    kind: "call",
    becomes: "a checker of the operator's is foreign code: it has allowed nothing, so a person is asked, who reads why",
  },
  "src/mcp-server/offer.ts#run": { kind: "call", becomes: "the client gets an error with an id, the log has it" },
  "src/models/demo/demo.ts#startDemoServer": {
    kind: "request",
    becomes: "the demo model is a server: it answers 500, the log has it",
  },
  "src/sandbox/executions.ts#submit": {
    kind: "guest",
    becomes: "the execution ends as crashed, so that nobody waits for ever; the log has it",
  },
  "src/sandbox/program.ts#beginProgram": {
    kind: "guest",
    becomes: "the report says that the program was lost; the log has it",
  },
  "src/sandbox/open-guest.ts#openGuest": {
    kind: "guest",
    becomes: "the guest is not started, and the user hears whose mistake it was; the log has it",
  },
  "src/sandbox/install-packages.ts#installInGuest": {
    kind: "guest",
    becomes: "the installation is lost, so that no session waits for ever; the log has it",
  },
  "src/storage/sqlite/group-commit.ts#prepareTransaction": {
    kind: "storage",
    becomes: "is thrown where the write was asked for, and in no other of its group",
  },
  "src/storage/postgres/own-line.ts#attempt": {
    kind: "storage",
    becomes: "whoever asked hears it, after further attempts where that may help",
  },
  "src/storage/postgres/lanes.ts#transactionOf": {
    kind: "storage",
    becomes: "is thrown where the write was asked for, and in no other of its group",
  },
  "src/workspace/archive.ts#archive": {
    kind: "storage",
    becomes: "whoever reads the archive sees it end with the error",
  },
  "src/base/background.ts#inBackground": { kind: "background", becomes: "work that nobody waits for: the log has it" },
  "src/base/background.ts#whenOver": {
    kind: "background",
    becomes: "for those who only wait for their turn: whoever asked for the work hears it",
  },
  "src/command.ts#runTyped": {
    kind: "command",
    becomes: "the command ends with 1, in words, with an id that the log file has",
  },
  "src/command.ts#withYard": { kind: "command", becomes: "the same, where a yard is to be closed yet" },
  "src/http/docs/page.mjs#send": {
    kind: "page",
    becomes: "runs in the browser: the page shows it where the answer would stand",
  },
  "web/src/app/broken-part.tsx#getDerivedStateFromError": {
    kind: "page",
    becomes:
      "React's form of a catch: that part of the page says that it is broken and can be tried again; the browser's console has it",
  },
};

/** The same for Python, of the guests and of the skills: by file and function, each `except` that takes everything and raises nothing on. */
export const pythonMouths: Mouths = {
  "src/sandbox/guest/execution.py#fork": {
    kind: "guest",
    becomes: "the program is not started, and says why on its standard error",
  },
  "src/sandbox/guest/kernel.py#guarded": {
    kind: "guest",
    becomes: "the cell is a user's: its traceback is shown, and it ends as failed",
  },
  "skills/data-analysis/scripts/table.py#run": {
    kind: "script",
    becomes: "the script ends with one line that says what was not expected, and where in it",
  },
  "skills/pdf/scripts/common_pdf.py#run": { kind: "script", becomes: "the same" },
  "skills/slides/scripts/deck.py#run": { kind: "script", becomes: "the same" },
  "skills/spreadsheets/scripts/workbook.py#run": { kind: "script", becomes: "the same" },
};
