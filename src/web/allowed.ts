/** Whom programs may reach: `example.com`, `*.example.com`, `[2001:db8::1]`, each also with a port. Nobody unless it was set. */
export type NetworkRules = {
  readonly hosts: readonly string[];
  /** Those of the allowed hosts that may lie in a private network. */
  readonly privateHosts: readonly string[];
};

/** Where a pattern names no port it means those of the web. */
const webPorts = [80, 443];

/** Names are compared as they are, without a look at what they stand for. */
export function isAmong(patterns: readonly string[], host: string, port: number): boolean {
  return patterns.some((pattern) => {
    const [, named = "", onlyPort] = /^(\[.*\]|[^:]*)(?::(.*))?$/.exec(pattern.toLowerCase()) ?? [];
    const name = named.replaceAll(/[[\]]/g, "");
    const isPort = onlyPort === undefined ? webPorts.includes(port) : Number(onlyPort) === port;
    // The name itself is not below it.
    const isName = name.startsWith("*.") ? host.endsWith(name.slice(1)) && host.length >= name.length : host === name;
    return isPort && isName;
  });
}

/** The one host and port behind an address, as a pattern. */
export function patternOf(url: string): string {
  const { protocol, hostname, port } = new URL(url);
  return `${hostname.toLowerCase()}:${port || (protocol === "https:" ? 443 : 80)}`;
}
