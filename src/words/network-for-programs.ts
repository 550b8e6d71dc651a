/** What a program in the sandbox is told, in one line, when its way to the network is refused. Shown to models, too. */
export const networkForPrograms = {
  host: (p: { host: string; port: number }) =>
    `${p.host}:${p.port} is not allowed here; an operator can add it to sandbox.network_hosts in config/agentyard.yaml`,
  shut: (p: { host: string; port: number }) => `${p.host}:${p.port} is AgentYard itself, which no program may reach`,
  private: (p: { host: string }) =>
    `${p.host} has a private address; an operator can add it to sandbox.network_private_hosts in config/agentyard.yaml`,
  never: (p: { host: string }) => `${p.host} has an address that no program may reach`,
  unknown: (p: { host: string }) => `${p.host} has no address`,
  unreachable: (p: { host: string; port: number }) => `${p.host}:${p.port} does not answer`,
  spent: (p: { limitBytes: number }) => `the programs of this user have used up their ${p.limitBytes} bytes`,
  request: () => "this is a proxy for http and https: send CONNECT host:port or an http:// address",
  headTooLong: (p: { limitBytes: number }) => `the request has more than ${p.limitBytes} bytes before its body`,
  headTooSlow: (p: { seconds: number }) => `the request was not complete after ${p.seconds} s`,
  /** After a program that failed for want of a network. */
  missed:
    "[Programs here reach no host, or only those that an operator allows with sandbox.network_hosts in config/agentyard.yaml, and by the proxy that HTTPS_PROXY names. Trying again does not help]",
} as const;
