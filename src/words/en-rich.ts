/** What only a terminal that is drawn shows. */
export const enRich = {
  /** Before what the person said. */
  said: "› ",
  thought: (p: { words: number; isDone: boolean }) =>
    p.isDone ? `thought (${p.words === 1 ? "1 word" : `${p.words} words`})` : `thinking… (${p.words})`,
  state: { opening: "opening", idle: "ready", running: "working", waiting: "waiting for you" },
  decisions: (p: { count: number }) => (p.count === 1 ? "1 decision waits" : `${p.count} decisions wait`),
  tokens: (p: { percent: number }) => `context ${p.percent} %`,
  waits: { queue: "next turn", steer: "next step", opening: "as soon as it is open" },
  withdraw: () => "Alt+Up withdraws the last one",
  hint: () => "/help · Ctrl+R history · Ctrl+O opens the last line",
  runningHint: () => "Enter steers · Tab queues · Esc stops",
  pasteHint: () => "Ctrl+O shows what was pasted",
  /** Exactly as wide as “[paste #1 +20 lines]”; empty: those words. */
  pasteLabel: (_: { number: number; count: number; unit: "lines" | "chars" }) => "",
  searchTitle: () => "What you typed here before (Enter takes it, Esc leaves):",
  searchNothing: () => "nothing found",
  nothingToWithdraw: () => "Nothing waits that could be withdrawn.",
};

export type RichWords = typeof enRich;
