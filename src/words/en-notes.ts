/** What a person should know about the configuration or the machine, by the code of the note. */
export const enNotes = {
  model_id_missing: (note: { slot: string; variable: string; model: string; offered: string }) =>
    `No model is named for the ${note.slot} slot, so ${note.model} is used, whose window is small. Name another with ${note.variable}=…${note.offered === "" ? "" : ` The server offers: ${note.offered}`}`,
  slot_without_key: (note: { slot: string; variable: string }) =>
    `The ${note.slot} slot has settings but no key and is not used. Add ${note.variable}=…`,
  embedding_incomplete: (note: { variable: string }) =>
    `The model for embeddings is set in part and is not used: words alone decide in searches. Add ${note.variable}=…`,
  proxy_foreign: (note: { names: string }) =>
    `${note.names} in .env would let this folder read what you send, and is not used. Set it in the environment, or name the folder with AGENTYARD_CONFIG.`,
  variable_unknown: (note: { name: string; near: string }) => `${note.name} is not known. Did you mean ${note.near}?`,
  logs_off: (note: { why: string }) =>
    `The log file cannot be written (${note.why}); going on without it. Make room or give permission there to have one again.`,
  settings_unusable: (note: { why: string }) => `Changed settings are not used, those before stay: ${note.why}`,
  crash_log: (note: { logFile: string }) => `Log file: ${note.logFile}`,
  crash_without_log: (note: { details: string }) => `There is no log file yet, so here they are: ${note.details}`,
  others_run: () => "Waiting for programs that others run here; Ctrl+C ends them and leaves.",
};
