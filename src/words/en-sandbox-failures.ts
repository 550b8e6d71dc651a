import { enSandbox, type LackAbout } from "./en-sandbox.ts";

/** What can go wrong where code runs: what happened, and what a person can do. */
export const enSandboxFailures = {
  sandbox_unavailable: (p: Unavailable) => {
    const [reason, fix] = lackTexts(enSandbox.lacks, p);
    return [`Code cannot be run here: ${reason}`, fix];
  },
  sandbox_start_failed: (p: { why: "start_failed" | "start_timeout" | "wrong_workspace" | "broke_down" }) => [
    {
      start_failed: "The sandbox could not be started.",
      start_timeout: "The sandbox did not start in time.",
      wrong_workspace: "The sandbox was not started: it would not have seen the files of this conversation.",
      broke_down: "The sandbox was not started: AgentYard itself made a mistake.",
    }[p.why],
    p.why === "broke_down"
      ? "Try again; if it happens again, please report what the log file says."
      : "Try again; `agentyard doctor` says what is wrong, and the log file has the details.",
  ],
  sandbox_full: (p: { retryAfterSeconds: number }) => [
    "This machine has no room for another program now.",
    `Try again in ${p.retryAfterSeconds} s.`,
  ],
  sandbox_busy: (p: {
    kind: "running" | "waiting" | "sandboxes";
    limit: number;
    setting: string;
    retryAfterSeconds: number;
  }) => [
    {
      running: `As many of your programs are running as may: ${p.limit}.`,
      waiting: `Of your programs ${p.limit} are running or waiting, and no more can wait.`,
      sandboxes: `As many of your sandboxes are in use as may be: ${p.limit}.`,
    }[p.kind],
    `Try again in ${p.retryAfterSeconds} s, or raise ${p.setting} in config/agentyard.yaml.`,
  ],
  streams_full: (p: { limit: number }) => [
    `You have as many streams open at once as you may: ${p.limit}.`,
    "Close one of them, or ask for the status instead.",
  ],
  code_too_long: (p: { sizeBytes: number; limitBytes: number }) => [
    `The code has ${p.sizeBytes} bytes; the limit is ${p.limitBytes}.`,
    "Write it to a file in the workspace and run that.",
  ],
  session_exists: (p: { id: string; asked?: string }) => [
    p.asked === undefined
      ? `There is a sandbox session ${p.id} already.`
      : `A user has one sandbox session, and yours is ${p.id}; ${p.asked} cannot be made beside it.`,
    p.asked === undefined
      ? "Use it, delete it first, or create it with if_exists=return."
      : "Use it, delete it first, or name another user: user_id in the body, or the header x-account-id.",
  ],
  session_of_another: (p: { id: string; user: string }) => [
    `The id ${p.id} names the sandbox session of another user than ${p.user}.`,
    `Leave the id out, or send sb-session-${p.user}, or the user_id that it names.`,
  ],
  session_not_found: (p: { id: string }) => [
    `There is no sandbox session ${p.id}.`,
    "Create it with POST /api/v1/sessions.",
  ],
  execution_not_found: (p: { id: string }) => [
    `There is no execution ${p.id}.`,
    "List them: GET /api/v1/executions/sessions/{id}/executions.",
  ],
  execution_running: (p: { id: string; seconds: number; why: "slow" | "server_ends" }) => [
    p.why === "server_ends"
      ? `The server ends, and the execution ${p.id} ends with it.`
      : `The execution ${p.id} is not over after ${p.seconds} s; it goes on.`,
    `Ask for it later: GET /api/v1/executions/${p.id}/result.`,
  ],
  template_not_found: (p: { id: string; known: string }) => [
    `There is no template ${p.id}.`,
    `Take one of these, or leave it out: ${p.known}.`,
  ],
  packages_not_configured: (p: { setting: string }) => [
    "Packages cannot be installed: no package index is configured.",
    `Set ${p.setting} in config/agentyard.yaml.`,
  ],
  packages_installing: () => [
    "Packages are being installed for this sandbox session already.",
    "Wait until dependency_install_status says that it is over, then try again.",
  ],
  package_index_refused: (p: { setting: string }) => [
    "Packages are installed from the configured index only.",
    `Leave python_package_index_url out, or change ${p.setting} in config/agentyard.yaml.`,
  ],
  installer_missing: (p: { manager: "pip" | "npm" }) => [
    `Packages cannot be installed: there is no ${p.manager} in the sandbox.`,
    p.manager === "pip"
      ? "Install it for the system's Python: apt-get install -y python3-pip"
      : "Install npm below /usr: apt-get install -y npm",
  ],
  packages_failed: (p: { why: "index" | "time" | "room" | "lost" | "cancelled"; said: string }) => [
    {
      index: `The packages could not be installed${p.said === "" ? "." : `: ${p.said}`}`,
      time: "The packages were not installed in time.",
      room: "The packages take up more room than they may, or the disk is nearly full.",
      lost: "The sandbox broke down while packages were installed.",
      cancelled: "The sandbox session was ended while packages were installed.",
    }[p.why],
    {
      index: "Look at names and versions, and whether the package index can be reached.",
      time: "Try again with a longer install_timeout, 1800 s at the most.",
      room: "Ask for fewer or smaller packages.",
      lost: "Try again.",
      cancelled: "Try again.",
    }[p.why],
  ],
} satisfies Record<string, (params: never) => [what: string, next: string]>;

/** `reason` and `fix` are in the language of the installation; the rest makes the two in the reader's. */
type Unavailable = { reason: string; fix: string; lack?: keyof typeof enSandbox.lacks } & Partial<LackAbout>;

export function lackTexts(lacks: typeof enSandbox.lacks, p: Unavailable): readonly [reason: string, fix: string] {
  const { reason, fix, lack = "", detail, sudo = "", install = "" } = p;
  const texts: Readonly<Record<string, (about: LackAbout) => readonly string[]>> = lacks;
  const [why = reason, what = fix] = detail === undefined ? [] : (texts[lack]?.({ detail, sudo, install }) ?? []);
  return [why, what];
}
