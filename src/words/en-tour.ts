/** `/demo`: what is said between its parts, and to the model. */
export const enTour = {
  title: () => "A tour of about two minutes: a table, a worker, a decision, a crash. Ctrl+C leaves it.",
  realModel: (p: { id: string }) =>
    `The tour is made for the demo model; yours (${p.id}) would be asked instead. Go on?`,
  choices: () => "[y] go on  [n] leave ",
  table: () =>
    "1 of 4 · A table goes along with a message. Code runs on it in the sandbox: no network, no other files.",
  say: {
    table: "#sales.csv",
    worker: "have a worker do this: read sales.csv",
    note: "write a note: this file is not needed",
    remove: "delete note.txt",
  },
  tableDone: (p: { files: string }) => `Made in the sandbox: ${p.files}. /files lists them, /open PATH opens one.`,
  tableBare: () => "No chart was made: the sandbox or its libraries are missing. /doctor tells what to install.",
  worker: () => "2 of 4 · A piece of work goes to another agent, which has the same files and a window of its own.",
  workerDone: () =>
    "Only its answer came back. Several can work side by side; /agents shows who does what, and stops one.",
  decision: () => "3 of 4 · What deletes a file asks you first. Look at what would run, then press y or n.",
  decisionDone: () => "That is in the log with who decided, and /undo would bring the file back.",
  crash: () =>
    "4 of 4 · A second AgentYard works on the same table, in a folder of its own, and is killed in the middle.",
  killed: (p: { seconds: string; tool: string }) => `✗ kill -9 after ${p.seconds}, while ${p.tool} ran`,
  recovering: () => "It is started again, with nothing but its log…",
  recovered: (p: { steps: number; events: number }) =>
    `✓ The turn went on by itself to its end: ${p.steps} steps, ${p.events} events, none of them twice.`,
  notKilled: () => "It was done before it could be killed: this machine is fast.",
  notRecovered: (p: { reason: string }) => `! That did not come to its end here (${p.reason}).`,
  noMachine: () => "The last part needs this machine itself; it is left out here.",
  end: () => "That was it. /connect puts a real model in the demo model's place, /help shows the rest.",
  left: () => "The tour ends here; everything it made stays in this conversation.",
};

export type TourWords = typeof enTour;
