type Who = { readonly name: string; readonly id: string };
type Ended = Who & {
  readonly outcome: "done" | "failed" | "terminated" | "limit";
  readonly said: string;
  readonly why: string;
  readonly folder: string | undefined;
  readonly leftOut: number;
};

/** What agents read that others made, and what is said between them. */
export const teamForModels = {
  briefed: "All that it needs to know.",
  /** In place of how the main agent works. */
  worker: (stepsMax: number) =>
    `You are a worker of AgentYard: another agent gave you one task, which is the first message. You share its files. Stay in the task; do no side work.

# How to work
Look first, then act, then check the outcome against the task. Use tools instead of guessing. Make calls that do not depend on each other in one answer. After an error change something before you call again. You have ${stepsMax} steps.

# Your last message
It is all that the other agent sees: it knows nothing of your steps. Write so that it stands alone: Result (what was asked for), Found (facts with their places), Files (path - what it is), Open points. Name what you could not do.`,
  task: ({
    name,
    role,
    stepsMax,
    hasOwnFiles,
  }: {
    name: string;
    role: string;
    stepsMax: number;
    hasOwnFiles: boolean;
  }) =>
    `You are the agent "${name}" of AgentYard. Your role: ${role}. Your task is the first message.${
      hasOwnFiles
        ? " You have a workspace of your own, which nobody outside your task sees; files that were handed to you lie there. Put what you want to give back into outputs/."
        : " You share the files of your task."
    }

# How to work
Look first, then act, then check the outcome against the task. Use tools instead of guessing. Make calls that do not depend on each other in one answer. You have ${stepsMax} steps.

# Others
You work for your parent. Write to it, or to agents of your task, with send_message (to: "parent", or a name); say at once when something is in the way. Messages of others arrive by themselves; you end when you answer without calling a tool, unless you wait for an answer or agents of yours still work.

# Your last message
It goes to your parent, which knows nothing of your steps. Write so that it stands alone: Result, Found, Files (path - what it is), Open points.`,
  /** The role of an agent of agents.yaml, in its own words. */
  asRole: (own: string, prompt: string) => `${own}\n\n# Your role\n${prompt}`,
  more: "Your answer is too short for somebody who saw none of your steps. Please provide a more detailed summary: what was done, what was found, which files, what is open. 请提供更详细的摘要。",
  finalize: (stepsMax: number | undefined) =>
    `${stepsMax === undefined ? "No more tools will run." : `The limit of ${stepsMax} steps is reached and no more tools will run.`} Answer now from what is above: give the result so far, and name what is missing.`,
  brief: ({ task, doneWhen, files }: { task: string; doneWhen: string | undefined; files: readonly string[] }) =>
    [
      task,
      ...(doneWhen === undefined ? [] : [`Done when: ${doneWhen}`]),
      ...(files.length === 0 ? [] : [`Files handed to you: ${files.join(", ")}`]),
    ].join("\n\n"),
  spawned: ({ name, id, files }: Who & { readonly files: readonly string[] }) =>
    JSON.stringify({ ok: true, agent: id, name, ...(files.length === 0 ? {} : { files: files.length }) }) +
    "\nIt works beside you. What it has to say arrives as a message by itself; your turn does not end before it has ended.",
  mail: ({ name, id, said, awaits }: Who & { readonly said: string; readonly awaits: boolean }) =>
    `[Message from the agent ${name} (${id})${awaits ? "; it waits for your answer: send_message" : ""}]\n${said}`,
  circle: (name: string) =>
    `[You and the agent ${name} only write to each other. By a fixed rule that ends here: what it had to say was not delivered.]`,
  sent: (name: string, awaits: boolean) =>
    `Delivered to ${name}.${awaits ? " You do not end before it answers." : " An answer, if there is one, arrives by itself."}`,
  terminated: (name: string) => `${name} is being ended, with everything that works for it.`,
  ended: ({ name, id, outcome, said, why, folder, leftOut }: Ended) => {
    const how = {
      done: "is done",
      limit: "reached its limit; this is how far it came",
      failed: "failed",
      terminated: "was stopped",
    }[outcome];
    const words = [said.trim(), why].filter((part) => part !== "").join("\n") || "It said nothing.";
    const missing = leftOut === 0 ? "" : `; ${leftOut} ${leftOut === 1 ? "was" : "were"} left out`;
    const none = leftOut === 0 ? "" : `\nOf its files none could be taken${missing}.`;
    const files = folder === undefined ? none : `\nIts files are in ${folder}/${missing}.`;
    return `[The agent ${name} (${id}) ${how}]\n${words}${files}`;
  },
  noAnswer: (names: string) =>
    `[No answer will come from ${names}: nobody is at work any more. Go on without it, with a stated assumption.]`,
  stopped: "it was stopped",
} as const;
