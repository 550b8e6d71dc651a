type Field = {
  name: string;
  wanted: string;
  required: boolean;
  choices: string | undefined;
  usual: string | undefined;
};

/** MCP servers, as people read of them. */
export const enMcp = {
  signedIn: (p: { server: string }) => `You are signed in to the MCP server ${p.server}. You can close this page.`,
  notYet: (p: { server: string; reason: string }) =>
    `You are signed in to the MCP server ${p.server}, but it does not run: ${p.reason}`,
  none: () => "There are no MCP servers. They stand in config/mcp_servers.yaml.",
  state: {
    off: "switched off",
    configured: "not started yet",
    known: "starts at its first use",
    starting: "starting",
    ready: "ready",
    sign_in_needed: "wants you to sign in",
    failed: "failed",
  },
  left: {
    off: "switched off",
    broken: "the server describes it wrongly (its inputSchema is no schema of an object)",
    name_taken: "its name is taken",
    too_many: "too many tools",
  },
  server: (p: { id: string; state: string; count: number }) => `  ${p.id} · ${p.state} · ${toolCount(p.count)}`,
  reason: (p: { reason: string }) => `    ${p.reason}`,
  tool: (p: { name: string; about: string }) => `    ${p.name}  ${p.about}`,
  leftOut: (p: { name: string; why: string }) => `    ✗ ${p.name}: ${p.why}`,
  signInHint: (p: { id: string }) => `    /mcp sign-in ${p.id}`,
  hint: () =>
    "/mcp SERVER shows its tools · restart, sign-in, sign-out, resources, prompts SERVER · attach SERVER URI · /SERVER:PROMPT",
  usage: () =>
    "✗ Use: /mcp, /mcp SERVER, /mcp restart|sign-in|sign-out|resources|prompts SERVER or /mcp attach SERVER URI",
  link: (p: { url: string }) => `Open this link in a browser and sign in:\n${p.url}`,
  comeBack: (p: { back: string }) =>
    `Afterwards the browser opens ${p.back}. If that page cannot be shown, copy its whole address: /mcp sign-in ADDRESS`,
  done: (p: { id: string; state: string }) => `✓ ${p.id}: ${p.state}`,
  nothing: () => "It has none.",
  resource: (p: { uri: string; name: string }) => `  ${p.uri}  ${p.name}`,
  prompt: (p: { command: string; about: string }) => `  ${p.command}  ${p.about}`,
  kind: {
    text: "a text",
    number: "a number",
    integer: "a whole number",
    boolean: "yes or no",
    choice: "one of",
    choices: "some of",
  },
  field: (p: Field) => {
    const needed = p.required && p.usual === undefined ? ", needed" : "";
    const choices = p.choices === undefined ? "" : `: ${p.choices}`;
    return `${p.name}, ${p.wanted}${choices}${needed}${p.usual === undefined ? "" : ` [${p.usual}]`}: `;
  },
  attached: (p: { path: string }) => `✓ ${p.path}. Name it with #${p.path} in a message.`,
};

function toolCount(count: number): string {
  return count === 1 ? "1 tool" : `${count} tools`;
}
