import type { Client } from "../../../src/client/client.ts";
import { ToolTier } from "../../../src/protocol/tool.ts";
import { useWords } from "../words/words.ts";
import { useLoaded } from "./use-loaded.ts";

const readTools = (client: Client) => client.call("listTools", { query: {} });

/** The tools there are, by tier; files that hold none say why. */
export function ToolsSection() {
  const words = useWords().settings.tools;
  const { value, trouble } = useLoaded(readTools);
  const { items = [], broken = [] } = value ?? {};
  return (
    <>
      <p className="about">{words.about}</p>
      {trouble !== "" && <p className="trouble">{trouble}</p>}
      {broken.map(({ file, line, why }) => (
        <p key={file} className="trouble">
          {line === undefined ? file : `${file}:${line}`}: {why}
        </p>
      ))}
      {ToolTier.options.map((tier) => {
        const tools = items.filter((tool) => tool.tier === tier);
        if (tools.length === 0) return null;
        return (
          <details key={tier} open={tier === "loaded"} className="tier">
            <summary>{words.tier[tier]({ count: tools.length })}</summary>
            <dl className="tool-list">
              {tools.map(({ name, description, origin, why }) => (
                <div key={`${origin}${name}`}>
                  <dt>
                    <code>{name}</code>
                    {origin !== "builtin" && <span className="chip">{words.origin[origin]}</span>}
                    {why !== undefined && <span className="chip">{words.why[why]}</span>}
                  </dt>
                  <dd className="meta">{description.split("\n")[0]}</dd>
                </div>
              ))}
            </dl>
          </details>
        );
      })}
      <p className="meta">{words.where}</p>
    </>
  );
}
