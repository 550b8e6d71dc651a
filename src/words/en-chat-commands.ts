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
    leftOut: (p: { files: string; from: string }) =>
      `! These files could not be copied: ${p.files}. They are still in ${p.from}: /load ${p.from}, have the agent copy them there under other names, then /branch again.`,
    /** Some may have come before it broke off. */
    noneCopied: (p: { from: string }) =>
      `! The files could not be copied, or not all of them; the log file says why. They are still in ${p.from}: when that is mended, /load ${p.from} and /branch again.`,
  },
  export: {
    nothing: () => "✗ There is nothing to export yet.",
    how: () => "✗ Use /export [-f] [FILE]: Markdown, or the events if FILE ends with .jsonl.",
    exists: (p: { path: string }) => `✗ ${p.path} is there already; /export -f replaces it.`,
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
    unknownSlot: (p: { slot: string; known: string }) => `✗ There is no slot “${p.slot}”; there are: ${p.known}.`,
    fixed: (p: { slot: string }) =>
      `✗ The slot ${p.slot} is set by a variable or a settings file, which count before what is entered here. Change it there:`,
    title: (p: { slot: string }) =>
      `A model for the slot ${p.slot}. It is tried before anything changes; Esc gives up at any time.`,
    answersHere: () => "answers on this machine",
    chooseProvider: () => "Provider (number, or an address)> ",
    noProvider: (p: { said: string; count: number }) =>
      `✗ “${p.said}” is no number from 1 to ${p.count}, and no address: those begin with http:// or https://.`,
    address: () => "Address (Enter takes it)> ",
    noAddress: (p: { said: string }) => `✗ “${p.said}” is no address: those begin with http:// or https://.`,
    key: (p: { isKept: boolean }): string =>
      p.isKept ? "Key (not shown; Enter: the one that is kept)> " : "Key (not shown; Enter: none is needed)> ",
    noKey: () => "✗ That is no key: keys have letters, digits and signs of ASCII, without blanks and quotes.",
    trying: (p: { address: string }) => `… trying ${p.address} (Esc gives up)`,
    offers: (p: { server: string; count: number }) =>
      `✓ ${p.server} answers and offers ${p.count === 1 ? "one model" : `${p.count} models`}:`,
    offersNone: (p: { server: string }) => `✓ ${p.server} answers. It does not say which models it has.`,
    chooseModel: () => "Model (number or name)> ",
    noModel: () => "✗ A model has a name of up to 200 characters, as its provider writes it.",
    confirm: () => "Not all of it works. [y] use it all the same  [n] another model> ",
    entered: (p: { id: string; server: string; slot: string }) =>
      `✓ From the next message on ${p.id} (${p.server}) answers in the slot ${p.slot}.`,
    keyKept: () => "  The key is kept sealed and is not shown again.",
    givenUp: () => "Nothing was changed.",
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
