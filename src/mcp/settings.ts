/** One entry of `mcp_servers.yaml`, checked: a program that is started here, or a server that is reached by its address. */
export type McpServerSettings = {
  readonly id: string;
  readonly isOn: boolean;
  readonly reached: McpReached;
  /** How long discovery, sign-in and the list of tools may take together. */
  readonly startTimeoutMs: number;
  /** How long one call may take; undefined: as long as other tools. */
  readonly callTimeoutMs: number | undefined;
  /** What is said about single tools, by the server's own names. */
  readonly tools: ReadonlyMap<string, McpToolSettings>;
};

export type McpReached =
  | {
      readonly by: "program";
      readonly command: string;
      readonly args: readonly string[];
      /** All that the program is given: nothing of ours but what is named there. */
      readonly env: Readonly<Record<string, string>>;
      readonly cwd: string;
    }
  | {
      readonly by: "address";
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      /** Of an app that was registered by hand; undefined: the server is asked to register us. */
      readonly client: { readonly id: string; readonly secret: string | undefined } | undefined;
      /** The only sign-in service that is told who we are; undefined: whichever the server names. */
      readonly issuer: string | undefined;
      readonly scope: string | undefined;
    };

export type McpToolSettings = {
  readonly isOn: boolean;
  readonly alias: string | undefined;
  readonly description: string | undefined;
};
