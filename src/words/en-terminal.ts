import { enApprovalsCommand } from "./en-approvals.ts";
import { enAgents, enBudget } from "./en-budget.ts";
import { enChatCommands } from "./en-chat-commands.ts";
import { enCompact } from "./en-compact.ts";
import { enDecisions } from "./en-decisions.ts";
import { enExec, enService } from "./en-exec.ts";
import { enLookup } from "./en-lookup.ts";
import { enMemory } from "./en-memory.ts";
import { enRich } from "./en-rich.ts";
import { enBackups, enServe, enUsers } from "./en-serve.ts";
import { enTeam } from "./en-team.ts";
import { enTools } from "./en-tools.ts";
import { enTour } from "./en-tour.ts";

/** What the terminal says. Lines that the requirements fix (`✓ Session reset` and its like) stand here word for word. */
export const enTerminal = {
  /** Between two sentences on one line. */
  gap: " ",
  fullStop: ".",
  comma: ", ",
  help: {
    tagline: "AgentYard: a self-hosted home for AI agents",
    usage: "Usage",
    commands: "Commands",
    options: "Options",
    globalOptions: "Options of every command",
    exitCodes: "Exit codes",
    /** The first heading of the page for `man`. */
    manName: "Name",
    more: "`agentyard --continue` goes on with the newest conversation. `agentyard COMMAND --help` tells more about a command.",
    command: {
      chat: "Talk with an agent in the terminal (what happens without a command)",
      serve: "Serve everything over HTTP, on 127.0.0.1:7420 unless told otherwise, until Ctrl+C",
      run: "Send one message, print the answer and end: for scripts",
      model: "List the models, or try one: `model list`, `model test [SLOT]`",
      approvals: "List what waits for a decision, tell when a call would ask (`test`), list and revoke stored rules",
      log: "Print the events of a conversation",
      replay: "Run a stored conversation against its recorded answers and report differences",
      config: "Show the settings and where each comes from",
      doctor: "Say what this machine can do and how to get the rest; ends with 1 when something needed is missing",
      exec: "Run code in the sandbox: its output, its exit code",
      search:
        "Search documents and texts by words, best passages first, with their pages; `--queries` asks many at once",
      sandbox: "Serve the sandbox over HTTP to callers on this machine, until Ctrl+C",
      mcp: "Be an MCP server for an IDE or another agent, over standard input and output",
      user: "Who may call the server: users, their passwords, sign-in links and API keys",
      backup: "Copy all data into one file, also while AgentYard runs, and check the copy",
      restore: "Bring back what `backup` has copied, into an empty data directory",
      migrate: "Move all data to the PostgreSQL server in AGENTYARD_DATABASE_URL, and compare",
      completion: "Print the completion script for a shell: bash, zsh or fish",
    },
    option: {
      data: "Data directory (else AGENTYARD_DATA, else data/ of a clone or ~/.local/share/agentyard)",
      lang: "Language: en or zh (else from the locale)",
      help: "Show this help",
      version: "Show the version",
      json: "Print JSON instead of text",
      "stream-json": "Print one JSON line per event, the result last",
      yes: "Allow what fits although it asks: TOOL, TOOL:PATTERN with *, or * for everything; may be repeated",
      "json-schema": "The answer must be JSON that fits this JSON Schema; `structured` of the object has it",
      url: "Use the server at this address instead of a data directory; its key is AGENTYARD_API_KEY",
      continue: "Go on with the newest conversation; an interrupted turn is finished first",
      resume: "Go on with the conversation whose id begins with ID",
      slot: "Model slot to prefer: base, reasoning, vision, code or chat (also --model)",
      plain: "Lines instead of a drawn screen, with the keys of a line editor",
      "screen-reader": "Lines only: nothing is drawn over, decisions are typed",
      file: "Send this file along, as `#PATH` in the message does; may be repeated",
      "max-budget": "US dollars that this turn may cost; the model needs a price in agentyard.yaml",
      "max-turns": "Model calls that this turn may make, before the one that sums up (also --max-steps)",
      conversation: "Use the files and the Python state of this conversation",
      language: "Of the code: python, bash or javascript (else by the file's ending, else python)",
      timeout: "Seconds that the program may run (else 30)",
      host: "Address to listen on (else 127.0.0.1); serve needs a user for others than this machine's own",
      port: "Port to listen on (else 7420, of sandbox 9100); 0 takes a free one",
      "base-path": "Path below which a proxy serves it, such as /yard",
      open: "Open it in a browser, where somebody sits before a screen (BROWSER=none: never)",
      admin: "add: may see to users, too",
      "password-stdin": "Read the password from standard input",
      "sign-in-as": "add: for whom of the sign-in service: their checked e-mail address, or their `sub`",
      scope: "key add: what the key is for; may be repeated (else chat and files)",
      label: "key add: a word to know it by",
      days: "key add: how long it works (else for ever)",
      limit: "At most so many results for a query (else 10)",
      queries: 'Ask each line of FILE, such as {"id": 1, "query": "filter"}; a line of JSON answers each',
      "include-key": "Put the key of the data directory into the backup, too: whoever has the file then has all of it",
      replace: "Keep what is in the data directory under another name and restore in its place",
      fix: "Run the commands that mend something, after asking about each",
      facts: "test: a JSON file with any of contained, network, tainted (else true, false, false)",
      request: "Make one call from the neutral request in FILE, without tools or retries",
    },
    runNote:
      "What is piped in is the message, or follows it after a blank line. `-` at the end waits for it, however long it takes.",
    exit: {
      done: "done",
      failed: "the turn failed",
      usage: "wrong usage",
      configuration: "configuration or credentials missing",
      model_unavailable: "the model cannot be reached or refuses",
      limit: "step limit or budget reached",
      approval_needed: "a decision is needed and nobody is there to ask",
      context_exhausted: "the conversation is too long for the model",
      interrupted: "interrupted",
    },
  },
  searching: {
    nothing: () => "Nothing was found. Try other words, or fewer of them.",
    pages: (p: { from: number; to: number }) => (p.from === p.to ? `page ${p.from}` : `pages ${p.from}–${p.to}`),
    lineUnfit: (p: { line: number }) => `line ${p.line} is no object such as {"id": 1, "query": "filter"}`,
  },
  usage: {
    unknownCommand: (p: { name: string; near: string | undefined }) =>
      `There is no command ${p.name}${p.near === undefined ? "" : ` (did you mean ${p.near}?)`}`,
    unknownOption: (p: { name: string; command: string; near: string | undefined }) =>
      `${p.command} has no option ${p.name}${p.near === undefined ? "" : ` (did you mean ${p.near}?)`}`,
    valueMissing: (p: { name: string; value: string }) => `${p.name} needs a value: ${p.name} ${p.value}`,
    valueUnwanted: (p: { name: string }) => `${p.name} takes no value`,
    valueUnfit: (p: { name: string; value: string; known: string }) =>
      `${p.name} cannot be “${p.value}”; use one of: ${p.known}`,
    numberUnfit: (p: { name: string; value: string; from: number; to: number }) =>
      `${p.name} cannot be “${p.value}”; use a number from ${p.from} to ${p.to}`,
    argumentMissing: (p: { command: string; name: string }) => `${p.command} needs ${p.name}`,
    idUnfit: (p: { name: string; value: string }) =>
      `${p.name} cannot be “${p.value}”; an id has 1 to 64 letters (A–Z, a–z), digits and . _ -, begins with a letter or a digit, has no two dots in a row, and is none of uploads, outputs, temp, skills`,
    idEmpty: (p: { name: string }) => `${p.name} was given an empty id (is the variable set?)`,
    pathEmpty: (p: { name: string }) => `${p.name} was given an empty path (is the variable set?)`,
    argumentUnwanted: (p: { command: string; value: string }) => `${p.command} does not take “${p.value}”`,
    notTogether: (p: { one: string; other: string }) => `${p.one} and ${p.other} do not go together`,
    promptMissing: () => "run needs a message: agentyard run “…”, or text on standard input",
    outputFailed: (p: { why: string }) => `✗ The output cannot be written: ${p.why}`,
    inputUnreadable: (p: { why: string }) => `Standard input could not be read (${p.why})`,
    nothingToContinue: () => "There is no interrupted turn to go on with, and no message was given",
    rulesHint: () => "`agentyard approvals rules` lists them.",
    listHint: () => "To list them, start `agentyard` and type /sessions.",
    noConversation: () => "There is no conversation to go on with",
  },
  approvals: enApprovalsCommand,
  exec: enExec,
  agents: enAgents,
  budget: enBudget,
  compact: enCompact,
  memory: enMemory,
  rich: enRich,
  lookup: enLookup,
  commands: enChatCommands,
  tour: enTour,
  service: enService,
  serve: enServe,
  users: enUsers,
  backups: enBackups,
  chat: {
    prompt: "You> ",
    promptMore: "...> ",
    product: (p: { version: string }) => `AgentYard ${p.version} · a home for AI agents`,
    conversation: (p: { id: string }) => `Conversation: ${p.id}`,
    logFile: (p: { path: string }) => `Log file:     ${p.path}`,
    model: (p: { id: string; server: string }) => `Model:        ${p.id} (${p.server})`,
    modelDemo: () => "Model:        demo model: not an AI — /connect puts a real one in its place",
    /** Without keys every Ctrl+C is for the process. */
    hint: (p: { hasKeys: boolean }) =>
      `/help shows the commands · #NAME sends a file · Ctrl+C ${p.hasKeys ? "stops a turn, twice leaves" : "leaves"}`,
    inputNotRead: () => "! Standard input is open, but nothing came: it is not read. `-` at the end waits for it.",
    saidYes: (p: { rule: string; tool: string }) => `✓ Allowed by --yes ${p.rule}: ${p.tool}`,
    leaveHint: () => "(Ctrl+C again to leave)",
    turnGoesOnLater: () => "The running turn goes on at the next start.",
    comeBack: () => "To go on here: agentyard --continue",
    turnGoesOnThere: (p: { id: string }) => `The turn there goes on; /load ${p.id} comes back to it.`,
    connectionLost: () => "! Connection lost; trying again. Nothing typed is lost.",
    connectionBack: () => "✓ Connected again",
    interruptedGoesOn: () => "An interrupted turn goes on; Ctrl+C stops it.",
    interruptedOld: (p: { title: string; at: string }) =>
      `A turn of “${p.title}” was interrupted at ${p.at}. Go on with it?`,
    goOnChoices: () => "[y] go on  [n] stop it  [l] later ",
    pasted: (p: { number: number; lines: number }) => `[paste ${p.number}: ${p.lines} lines]`,
    tokens: (p: { percent: number; level: string }) =>
      `Context: ${p.percent} % of the model's window used (${p.level})`,
    level: { info: "fine", warning: "warning", high: "high", critical: "critical" },
  },
  command: {
    title: "Commands",
    keysTitle: "Keys",
    summary: {
      help: "show this list",
      new: "start a new conversation",
      reset: "forget the history of this conversation",
      sessions: "list the conversations, newest first",
      load: "go on with a conversation, by the beginning of its id",
      current: "show the current conversation",
      search: "find words in the files and messages of all conversations",
      open: "go to hit N of the last search, or open a copy of a file of this conversation",
      files: "list the files of this conversation, show the beginning of one, or remove one",
      save: "copy a file or folder of this conversation to this machine; -f replaces what is there",
      undo: "undo the last turn and what it did to files",
      compact: "make room: sum up older messages, with FOCUS; show or undo the summary",
      agents:
        "list the agents that you can be handed over to, and who works for whom in this conversation; tell all of one, or stop it",
      budget: "show or set what this conversation may spend: tokens, usd, steps, minutes, agents",
      clean: "put away the files of conversations not used for days, list them, restore them",
      model: "list the models and how to connect one, or prefer a slot",
      branch: "go on in a new conversation with the same history, all of it or up to turn N",
      export: "write what was said here into a file: Markdown, or all events if it ends with .jsonl",
      timeline: "show what took how long in the last turn, or in turn N",
      connect: "connect a model: choose it, try it, keep it",
      demo: "make a tour of two minutes: a table, a worker, a decision, a crash and a recovery",
      doctor: "tell what this machine can do, and how to get the rest",
      lang: "change the language of this terminal",
      inbox: "list what waits for a decision, or open entry N",
      memory: "list what agents are told in every conversation; add, edit or forget a memory",
      rules: "list what is allowed always, or revoke a rule",
      tools: "list the tools there are, or load one here",
      skills: "list the skills, or tell why one was used or not",
      mcp: "list the MCP servers and their tools; restart one, sign in, attach what it has to read",
      queue: "send a message after the running turn; alone: list what waits",
      unqueue: "withdraw waiting message N (the last one)",
      quit: "leave",
    },
    keys: [
      "Enter while a turn runs: the message is read at its next step",
      "\\ at the end of a line, or Ctrl+J: one more line",
      '#PATH in a message sends the file along: #data.csv #"two words.txt" #folder/ #*.md · Tab completes it',
      "@NAME in a message names a tool, a skill or an agent · Tab completes it",
      "Esc or Ctrl+C: stop the turn · Ctrl+C twice or Ctrl+D: leave",
    ],
    unknown: (p: { name: string; near: string | undefined }) =>
      `✗ There is no command ${p.name}${p.near === undefined ? "" : ` (did you mean ${p.near}?)`}. /help shows them all.`,
    noArgument: (p: { name: string; argument: string }) => `✗ ${p.name} does not take “${p.argument}”. Use: ${p.name}`,
    reset: () => "✓ Session reset",
    loaded: (p: { id: string }) => `✓ Loaded session: ${p.id}`,
    notFound: (p: { prefix: string }) => `✗ Session not found: ${p.prefix}`,
    loadWhat: () => "✗ Which one? /load and the beginning of an id; /sessions lists them.",
    current: (p: { id: string }) => `Current session: ${p.id}`,
    noCurrent: () => "No active session",
    started: (p: { id: string }) => `✓ New conversation: ${p.id}`,
    noConversations: () => "No conversations yet",
    turns: (p: { count: number }) => (p.count === 1 ? "1 turn" : `${p.count} turns`),
    untitled: "(no title)",
    status: {
      idle: "at rest",
      running: "a turn is running",
      waiting: "waiting for a decision",
    },
    preferred: (p: { slot: string; id: string }) => `✓ Following messages prefer ${p.slot} (${p.id})`,
    queued: () => "↳ waits for the end of this turn",
    steering: () => "↳ will be read at the next step",
    afterDecision: () => "↳ will be read after the decision; /inbox opens it",
    delivered: () => "↳ read",
    nothingWaits: () => "Nothing waits.",
    queueEntry: (p: { number: number; mode: "queue" | "steer"; text: string }) =>
      `  ${p.number}. ${p.text} (${p.mode === "steer" ? "next step" : "next turn"})`,
    tookBack: (p: { text: string }) => `✓ Withdrawn: ${p.text}`,
    noSuchEntry: (p: { number: string }) => `✗ There is no entry ${p.number}.`,
  },
  team: enTeam,
  turn: {
    thinking: () => "thinking…",
    waiting: (p: { seconds: number }) => `… waiting for the model (${p.seconds} s)`,
    emptyAnswer: () => "(The model gave an empty answer.)",
    saidElsewhere: (p: { text: string }) => `You (elsewhere)> ${p.text}`,
    tryingAgain: (p: { attempt: number }) => `↻ Trying again (attempt ${p.attempt})`,
    handedOver: (p: { name: string }) => `→ You are with ${p.name} now; the main agent is back after its answer.`,
    recovered: () => "↻ The process was restarted; the turn goes on.",
    stopped: () => "■ Stopped",
    /** `why` begins with a colon, or is empty. */
    declined: (p: { why: string }) => `You declined it${p.why}`,
    outcome: {
      ok: "ok",
      error: "failed",
      cancelled: "stopped",
      rejected: "rejected",
      unknown: "interrupted, state unknown",
      not_run: "not run",
    },
    /** What a tool refused with a text for the model, by the code at its beginning. */
    refusal: {
      text_not_found: "the text to be changed does not stand in the file; nothing was changed",
      several_matches: "the text to be changed stands there more than once; nothing was changed",
      nothing_to_change: "the old and the new text are the same; nothing was changed",
    },
    elsewhere: {
      undone: (p: { turn: number | undefined }) =>
        p.turn === undefined ? "✓ The last turn was undone elsewhere" : `✓ Turn ${p.turn} was undone elsewhere`,
      reset: () => "✓ This conversation was reset elsewhere",
      wentBack: () => "✓ This conversation went back to an earlier place elsewhere",
    },
  },
  decision: enDecisions,
  tools: enTools,
  model: {
    columns: { slot: "slot", model: "model", server: "server", window: "window" },
    usesBase: () => "uses base",
    demo: () => "demo: not an AI",
    preferred: () => "preferred",
    connect: () => "Connect a model: write into .env; it counts from the next message on",
    connectLines: [
      "MODEL_BASIC_API_KEY=…    your key",
      "MODEL_BASIC_BASE_URL=…   the server, when it is not OpenAI's",
      "MODEL_BASIC_ID=…         the model's name",
    ],
    slotHint: () => "/model SLOT prefers a slot for the following messages.",
    found: () => "Found on this machine:",
    noneFound: () => "No local model server found (Ollama, LM Studio, llama.cpp, vLLM, SGLang).",
    use: () => "to use it:",
    toolsYes: () => "tools: yes",
    toolsNo: () => "tools: no",
    more: (p: { count: number }) => `and ${p.count} more`,
    testTitle: (p: { model: string; server: string; slot: string; api: string }) =>
      `${p.slot}: ${p.model} (${p.server}, format ${p.api})`,
    check: { answers: "answers", streams: "streams", tools: "calls tools", usage: "reports usage" },
    latency: (p: { firstMs: number | undefined; totalMs: number }) =>
      p.firstMs === undefined ? `${p.totalMs} ms` : `first text after ${p.firstMs} ms, all after ${p.totalMs} ms`,
  },
  files: {
    bytes: (p: { count: number }) => (p.count === 1 ? "1 byte" : `${p.count} bytes`),
    missing: (p: { what: string; near: string | undefined }) =>
      `${p.what}: there is no such file here or in uploads/${p.near === undefined ? "" : ` (did you mean ${p.near}?)`}`,
    empty: (p: { what: string }) =>
      `${p.what}: the folder has no files to send (hidden ones, links and node_modules are left out)`,
    tooMany: (p: { what: string; limit: number }) => `${p.what}: a message takes ${p.limit} files, these are more`,
    tooWide: (p: { what: string; limit: number }) =>
      `${p.what}: more than ${p.limit} names would have to be looked at; name a smaller folder`,
    nothingSent: () => "Nothing was sent.",
    notSent: () => "→ Nothing was sent. Correct the line; what stands in `backquotes` is plain text.",
    folder: (p: { what: string }) => `${p.what} is a folder; ${p.what}/ would send its files. It stays text.`,
    near: (p: { what: string; near: string }) => `${p.what} names no file (did you mean #${p.near}?). It stays text.`,
    uploading: (p: { name: string; percent: number; size: string }) => `↑ ${p.name}: ${p.percent} % of ${p.size}`,
    uploaded: (p: { name: string; path: string; type: string }) => `${p.name} → ${p.path} (${p.type})`,
    replaced: () => ", in place of the earlier one",
    beside: (p: { name: string }) => `; the earlier ${p.name} stays`,
    stay: (p: { paths: string }) =>
      `! Left there, in place of earlier files or because it could not be removed: ${p.paths}`,
    refused: (p: { name: string; why: string }) => `✗ ${p.name}: ${p.why}`,
    someSent: (p: { failed: number; total: number }) =>
      `! ${p.failed} of ${p.total} files could not be sent; the message goes without them.`,
    noneSent: () => "✗ No file could be sent, so the message was not sent either.",
    removed: (p: { at: string }) =>
      `The files of this conversation were moved to the trash at ${p.at}. /clean list shows it, /clean restore ID brings them back.`,
    undone: (p: { turn: number }) => `✓ Turn ${p.turn} is undone`,
    now: { as_before: "as before", removed: "removed" },
    left: (p: { path: string; why: string }) => `${p.path} is left as it is: ${p.why}`,
    whyLeft: {
      changed_since: "it was changed since",
      not_kept: "what it was before was not kept",
      failed: "it could not be written",
    },
    hadSaid: () => "You had said:",
    cleaned: (p: { count: number }) => `✓ Cleaned up ${p.count} old workspaces`,
    cleanedWhat: (p: { size: string; days: number }) =>
      `${p.size} moved to the trash: not used for ${p.days} days. /clean list shows what can be restored.`,
    cleanSkipped: (p: { count: number }) =>
      p.count === 1
        ? "1 could not be moved; the log file says why."
        : `${p.count} could not be moved; the log file says why.`,
    cleanHow: () => "✗ Use /clean, /clean list or /clean restore ID.",
    trashEmpty: () => "The trash is empty.",
    amount: (p: { files: number; size: string }) => `${p.files === 1 ? "1 file" : `${p.files} files`}, ${p.size}`,
    ofConversation: (p: { id: string }) => `conversation ${p.id}`,
    until: (p: { at: string }) => `until ${p.at}`,
    restoreHint: () => "/clean restore ID gives a conversation its files back.",
    restored: (p: { files: number; id: string }) =>
      `✓ Restored ${p.files === 1 ? "1 file" : `${p.files} files`} of conversation ${p.id}`,
    besides: (p: { folders: string }) => `There are files there already; the restored ones lie in: ${p.folders}`,
    atLeastMore: (p: { count: number }) => `and at least ${p.count} more`,
    noFiles: () => "No files here.",
    beginningMore: (p: { size: string; path: string }) =>
      `… ${p.size} in all; /save ${p.path} copies it to this machine.`,
    fileEmpty: (p: { path: string }) => `${p.path} is empty.`,
    fileNoText: (p: { path: string; size: string; type: string }) => `${p.path}: ${p.size}, no text (${p.type})`,
    noEnding: "unknown type",
    fileRemoved: (p: { path: string }) => `✓ Removed: ${p.path} (/undo does not bring it back)`,
    saving: (p: { name: string; percent: number; size: string }) => `↓ ${p.name}: ${p.percent} % of ${p.size}`,
    saved: (p: { path: string; to: string; size: string }) => `✓ ${p.path} → ${p.to} (${p.size})`,
    savedMany: (p: { path: string; to: string; files: number; size: string }) =>
      `✓ ${p.path}/ → ${p.to}/ (${p.files === 1 ? "1 file" : `${p.files} files`}, ${p.size})`,
    saveHow: () =>
      '✗ Use /save PATH [TO], or /save -f PATH [TO] to replace what is there. A name with blanks: "two words.txt".',
    saveBusy: () => "✗ Another file is being saved; wait for it, or stop it with Esc.",
    saveStopped: () => "■ Stopped; what was not complete is not kept.",
    saveTooMany: (p: { path: string; limit: number }) =>
      `✗ ${p.path}/ has more than ${p.limit} files; save a smaller folder.`,
    existsHere: (p: { paths: string; more: number }) =>
      `✗ Already here, and nothing was saved: ${p.paths}${p.more > 0 ? ` and ${p.more} more` : ""}. /save -f replaces them.`,
    entry: { folder: "folder", skill: "skill", special: "cannot be used" },
  },
  replay: {
    difference: {
      move: (p: { recorded: string; now: string }) => `recorded was ${p.recorded}; this version would ${p.now}`,
      prompt: (_: { recorded: string; now: string }) => "the system prompt has changed since",
      tools: (_: { recorded: string; now: string }) => "the tools have changed since",
      model: (p: { recorded: string; now: string }) =>
        `recorded with ${p.recorded}, now it is ${p.now}: the bytes are not compared`,
      bytes: (p: { recorded: string; now: string }) => `the request was ${p.recorded} bytes, now it would be ${p.now}`,
    },
    same: (p: { turns: number; steps: number }) => `✓ No differences (${p.turns} turns, ${p.steps} steps)`,
    differences: (p: { count: number; turns: number; steps: number }) =>
      `✗ Differences: ${p.count} (${p.turns} turns, ${p.steps} steps)`,
  },
};

export type TerminalWords = typeof enTerminal;
