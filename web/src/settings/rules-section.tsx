import type { Client } from "../../../src/client/client.ts";
import { Link } from "../app/link.tsx";
import { matchText } from "../decisions/reasons.ts";
import { Button } from "../parts/button.tsx";
import { Time } from "../parts/time.tsx";
import { useWords } from "../words/words.ts";
import { useDoing, useLoaded } from "./use-loaded.ts";

const readRules = (client: Client) => client.call("listRules", { query: {} });

/** What was allowed always: in words, with the rule as it is stored. */
export function RulesSection() {
  const { settings, decisions } = useWords();
  const words = settings.rules;
  const { value, trouble, reload } = useLoaded(readRules);
  const doing = useDoing(reload);
  const { items = [] } = value ?? {};
  return (
    <>
      <p className="about">{words.about}</p>
      {trouble !== "" && <p className="trouble">{trouble}</p>}
      {value !== undefined && items.length === 0 && <p>{words.none}</p>}
      <ul className="entries">
        {items.map((rule) => (
          <li key={rule.id} className="entry">
            <div className="entry-head">
              <div>
                <p>
                  <strong>{decisions.tools(rule.tool)}</strong>: {matchText(rule.match, decisions)}
                </p>
                <p className="meta">
                  {decisions.scope[rule.scope]}
                  {rule.conversation !== undefined && (
                    <>
                      {" · "}
                      <Link to={{ page: "chat", conversation: rule.conversation }}>{words.toConversation}</Link>
                    </>
                  )}
                  {" · "}
                  <Time at={rule.at} />
                </p>
                <details>
                  <summary>{words.raw}</summary>
                  {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
                  <pre tabIndex={0}>{JSON.stringify(rule.match, null, 2)}</pre>
                </details>
              </div>
              <Button
                kind="danger"
                onClick={() => void doing((client) => client.call("revokeRule", { params: { rule: rule.id } }))}
              >
                {words.revoke}
              </Button>
            </div>
          </li>
        ))}
      </ul>
      <p className="meta">{words.where}</p>
    </>
  );
}
