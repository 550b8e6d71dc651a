import type { Client } from "../../../src/client/client.ts";
import { useWords } from "../words/words.ts";
import { useLoaded } from "./use-loaded.ts";

const readSkills = (client: Client) => client.call("listSkills", { query: {} });

/** The skills that were found, with what is wrong with each and how to mend it. */
export function SkillsSection() {
  const words = useWords().settings.skills;
  const { value, trouble } = useLoaded(readSkills);
  const { items = [] } = value ?? {};
  return (
    <>
      <p className="about">{words.about}</p>
      {trouble !== "" && <p className="trouble">{trouble}</p>}
      {value !== undefined && items.length === 0 && <p>{words.none}</p>}
      <ul className="entries">
        {items.map(({ id, description, state, place, kind, notes }) => (
          <li key={`${place}${id}`} className="entry">
            <h3>
              {id} <span className="chip">{words.state[state]}</span>
            </h3>
            <p>{description}</p>
            <p className="meta">
              {words.kind[kind]} · <code>{place}</code>
            </p>
            {notes.map(({ grade, line, what, instead }) => (
              <p key={`${line}${what}`} className={grade === "error" ? "trouble" : "meta"}>
                {line === null ? "" : `SKILL.md:${line} `}
                {what} {instead}
              </p>
            ))}
          </li>
        ))}
      </ul>
      <p className="meta">{words.where}</p>
    </>
  );
}
