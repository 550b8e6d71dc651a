type FieldLine = {
  readonly name: string;
  readonly kind: string;
  readonly required: boolean;
  readonly about: string;
  readonly choices: string | undefined;
  readonly default: string | undefined;
};

/** What models read about the tools of MCP servers. */
export const mcpForModels = {
  toolOf: (server: string, description: string) => `${description} (MCP server ${server})`,
  destructive: "its server says that it may destroy something",
  failedSilently: "The tool failed and did not say why.",
  picture: (number: number, mime: string, size: string) => `[picture ${number}: ${mime}, ${size}]`,
  link: (name: string, uri: string, more: string) => `[resource ${name}: ${uri}${more === "" ? "" : ` (${more})`}]`,
  resource: (uri: string) => `[resource ${uri}]`,
  notShown: (name: string, mime: string, size: string, why: string) => `[${name}: ${mime}, ${size}, not shown: ${why}]`,
  noPicture: "neither text nor a picture",
  tooLarge: (max: string) => `larger than ${max}`,
  tooMany: (max: number) => `only ${max} pictures of a result are shown`,
  broken: "the picture is broken",
  /** What a person reads of what a server asks; the words of the server are in its own language. */
  asks: (server: string, message: string) => `[${server}] ${message}`,
  openLink: (url: string) => `→ ${url}`,
  field: (p: FieldLine) =>
    `${p.name}${p.required ? " *" : ""} (${p.kind}${p.default === undefined ? "" : `, = ${p.default}`})${p.about === "" ? "" : `: ${p.about}`}${p.choices === undefined ? "" : ` [${p.choices}]`}`,
};
