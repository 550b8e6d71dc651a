/** How a program leaves the foreground of its terminal, and learns that it is back. */
export type JobControl = {
  /** Answers when the program goes on: at once where nobody can bring it back, for then it is not stopped. */
  stop(): void;
  /** The answer ends it. */
  onContinue(action: () => void): () => void;
};

/** Ctrl+Z stops all that was started for us (npm, a shell): stopped alone, we would keep the terminal from everybody. */
export const processJobControl: JobControl = {
  stop() {
    if (process.platform !== "win32") process.kill(0, "SIGTSTP");
  },
  onContinue(action) {
    process.on("SIGCONT", action);
    return () => process.off("SIGCONT", action);
  },
};
