type Note = {
  readonly model: string;
  readonly tokens?: number | undefined;
  readonly command: string;
  /** Where the window is set. */
  readonly variable?: string | undefined;
};
const mend = (note: Note) => (note.command === "" ? "" : ` Mend it with: ${note.command}`);

/** What a person should know about a model, by the code of the note. */
export const enModels = {
  notes: {
    window_small: (note: Note) =>
      `${note.model} has a small window (${note.tokens} tokens): long conversations will not fit. Choose a newer model.`,
    window_guessed: (note: Note) =>
      `The window of ${note.model} is not known; ${note.tokens} tokens are assumed. Set ${note.variable ?? "…_CONTEXT_WINDOW"} if it is larger.`,
    served_window_small: (note: Note) =>
      `${note.model} is served with only ${note.tokens} tokens, too few for an agent.${mend(note)}`,
    served_window_untold: (note: Note) => `The server does not tell the window of ${note.model}.${mend(note)}`,
    tools_missing: (note: Note) => `${note.model} cannot call tools.${mend(note)}`,
    tools_off: (note: Note) => `The server of ${note.model} was started without tool calls.${mend(note)}`,
  },
};
