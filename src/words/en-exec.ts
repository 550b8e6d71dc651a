/** What `agentyard exec` and `agentyard sandbox` say. */
export const enExec = {
  codeMissing: () => "exec needs code: agentyard exec 'print(6*7)', --file PATH, or code on standard input",
  fileNoText: (p: { path: string }) => `${p.path} is no text in UTF-8`,
  timedOut: (p: { seconds: number }) => `✗ Stopped after ${p.seconds} s. --timeout gives it longer.`,
  timedOutBySetting: (p: { seconds: number }) =>
    `✗ Stopped after ${p.seconds} s: no program may run longer here (sandbox.execution_seconds_max).`,
  cancelled: () => "✗ Stopped.",
  endedBadly: (p: { why: string }) => `✗ ${p.why}`,
  /** Where nobody said why. */
  noReason: () => "The program ended before its time.",
  fileMade: (p: { path: string; size: string }) => `+ ${p.path} (${p.size})`,
  fileChanged: (p: { path: string; size: string }) => `~ ${p.path} (${p.size})`,
  fileRemoved: (p: { path: string }) => `- ${p.path}`,
  noConversation: () => "No conversation was named, so no files are there and none are kept: --conversation ID",
  outputMissing: (p: { stream: "stdout" | "stderr"; bytes: number; path: string | undefined }) =>
    `! ${p.bytes} bytes of ${p.stream} are missing: more came than is kept (sandbox.output_bytes_max).${p.path === undefined ? "" : ` What was kept is in ${p.path}.`}`,
  overLimit: () => "! The workspace now holds more than it may: delete files that are no longer needed.",
  /** `--file`, which is something else for `run`. */
  fileOption: "Run the code in this file",
  noteAboutCodes:
    "Ends with the program's own exit code; 2 for wrong usage, 3 when the configuration is wrong, 124 when its time was over, 125 when it could not be run, 130 when it was stopped, 137 when it was killed, 128 and the number of a signal that ended it.",
};

export const enService = {
  notLoopback: (p: { host: string }) =>
    `--host cannot be “${p.host}”: only this machine itself may call, for nobody signs in here; use 127.0.0.1, or \`agentyard serve\` for others`,
  listening: (p: { address: string; data: string }) => `The sandbox listens on ${p.address} (data: ${p.data})`,
  full: () => "Code runs here with all walls and limits.",
  degraded: (p: { count: number }) =>
    `! Code runs here, but ${p.count === 1 ? "one thing is" : `${p.count} things are`} missing that it could have`,
  off: (p: { reason: string; fix: string }) => `✗ Code cannot be run here: ${p.reason} ${p.fix}`,
  unknown: (p: { why: string }) => `! What this machine can do could not be found out: ${p.why}`,
  tellMore: () => "`agentyard doctor` tells more.",
  howToEnd: () => "Ctrl+C ends it.",
};

/** What `agentyard sandbox-host` says. */
export const enHosting = {
  listening: (p: { address: string; files: string; count: number }) =>
    `Sandboxes for other machines are started at ${p.address}, ${p.count} at most (shared files: ${p.files})`,
  secretMissing: () =>
    "AGENTYARD_SANDBOX_SECRET is not set: give this machine and its servers the same text of at least 32 characters (openssl rand -hex 32 makes one)",
  providerUnfit: (p: { provider: string }) =>
    `sandbox.provider is ${p.provider} here: a sandbox host starts sandboxes on its own machine, with local or docker; only servers say ${p.provider}`,
  tlsUnusable: (p: { folder: string; why: string }) =>
    `sandbox.host_tls names ${p.folder}, whose cert.pem and key.pem cannot be used (${p.why})`,
};
