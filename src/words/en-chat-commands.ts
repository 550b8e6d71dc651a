/** What single commands of a chat say. */
export const enChatCommands = {
  open: {
    how: () => "✗ Use /open PATH; /files lists the files of this conversation.",
    opened: (p: { path: string; to: string }) => `✓ ${p.path} opens (a copy: ${p.to})`,
    copied: (p: { path: string; to: string }) => `✓ ${p.path} is copied to ${p.to}; nothing here can open it.`,
    onlyCopied: (p: { path: string; to: string }) =>
      `✓ ${p.path} is copied to ${p.to}. It is not opened by itself: it may be a program or a page that does something.`,
    isFolder: (p: { path: string }) => `✗ ${p.path} is a folder; /save ${p.path} copies all of it.`,
    tooLarge: (p: { path: string; size: string }) => `✗ ${p.path} has ${p.size}; /save ${p.path} copies it.`,
  },
  branch: {
    nothing: () => "✗ Nothing was said here that a branch could begin with.",
    how: () => "✗ Use /branch, or /branch N to go on after turn N.",
    noTurn: (p: { turn: string; count: number }) => `✗ There is no finished turn ${p.turn} here; there are ${p.count}.`,
    made: (p: { id: string; from: string }) => `✓ Branch ${p.id} of ${p.from}; /load ${p.from} goes back.`,
    leftOut: (p: { files: string }) => `! These files could not be copied: ${p.files}`,
  },
  transcript: {
    nothing: () => "✗ There is nothing to export yet.",
    how: () => "✗ Use /export [-f] [FILE]: Markdown, or the events if FILE ends with .jsonl.",
    exists: (p: { path: string }) => `✗ ${p.path} is there already; /export -f replaces it.`,
    failed: (p: { path: string; why: string }) => `✗ ${p.path} cannot be written: ${p.why}`,
    written: (p: { path: string; size: string }) => `✓ Written to ${p.path} (${p.size})`,
    title: (p: { title: string }) => `# ${p.title}`,
    about: (p: { id: string; at: string }) => `Conversation ${p.id}, exported ${p.at}.`,
    person: "You",
    agent: "Agent",
    tool: (p: { name: string; end: string }) => `Tool \`${p.name}\`: ${p.end}`,
  },
  lang: {
    now: (p: { known: string }) => `The terminal speaks English. /lang with one of ${p.known} changes it.`,
    set: () =>
      "✓ The terminal speaks English now. For always: lang: en in config/agentyard.yaml, or AGENTYARD_LANG=en.",
    unknown: (p: { value: string; known: string }) => `✗ “${p.value}” is not spoken here; there are: ${p.known}.`,
  },
  doctor: { elsewhere: () => "✗ That is not known here: `agentyard doctor` tells it on the machine itself." },
  connect: {
    connected: (p: { id: string; server: string }) => `The main model is ${p.id} (${p.server}). To use another:`,
    test: () => "`agentyard model test` tries it: answers, streams, tools, usage.",
  },
  timeline: {
    nothing: () => "No turn has run here yet.",
    noTurn: (p: { turn: string; count: number }) => `✗ There is no turn ${p.turn} here; there are ${p.count}.`,
    turn: (p: { turn: number; duration: string; state: string }) => `Turn ${p.turn}: ${p.duration}, ${p.state}`,
    step: (p: { step: number; model: string }) => `step ${p.step}: ${p.model}`,
    usage: (p: { input: string; output: string; cached: string | undefined }) =>
      `${p.input} in${p.cached === undefined ? "" : ` (${p.cached} cached)`}, ${p.output} out`,
    failed: (p: { code: string }) => `failed (${p.code})`,
    waited: () => "waited for a decision",
    compacted: () => "made room",
    running: () => "still running",
    sum: (p: { model: string; tools: string; waits: string }) =>
      `model ${p.model} · tools ${p.tools} · waiting for people ${p.waits}`,
    outcome: { done: "done", failed: "failed", cancelled: "stopped", limit: "step limit", crashed: "parked" },
  },
};

export type ChatCommandWords = typeof enChatCommands;
