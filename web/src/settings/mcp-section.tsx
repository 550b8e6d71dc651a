import { useEffect, useState } from "react";
import type { Client } from "../../../src/client/client.ts";
import type { McpServerInfo } from "../../../src/protocol/mcp-routes.ts";
import { useStore } from "../app/store.ts";
import { useYard } from "../app/yard.ts";
import { Button } from "../parts/button.tsx";
import { TextField } from "../parts/text-field.tsx";
import { useWords } from "../words/words.ts";
import { useDoing, useLoaded } from "./use-loaded.ts";

const readServers = (client: Client) => client.call("listMcpServers");

/** The MCP servers of the settings: how each stands for this person, and what it brings. */
export function McpSection() {
  const words = useWords().settings.mcp;
  const { value, trouble, reload } = useLoaded(readServers);
  const { items = [] } = value ?? {};
  return (
    <>
      <p className="about">{words.about}</p>
      {trouble !== "" && <p className="trouble">{trouble}</p>}
      {value !== undefined && items.length === 0 && <p>{words.none}</p>}
      <ul className="entries">
        {items.map((server) => (
          <Server key={server.id} server={server} onChanged={reload} />
        ))}
      </ul>
      <p className="meta">{words.where}</p>
    </>
  );
}

function Server({ server, onChanged }: { readonly server: McpServerInfo; readonly onChanged: () => void }) {
  const words = useWords().settings.mcp;
  const { me } = useYard();
  const isAdmin = useStore(me)?.scopes.includes("admin") ?? false;
  const doing = useDoing(onChanged);
  const [link, setLink] = useState<string>();
  const { id, state, reason, tools, reachedBy } = server;
  const params = { server: id };
  const signIn = async () => {
    const answer = await doing((client) => client.call("signInToMcpServer", { params }));
    if (answer !== undefined && /^https?:/.test(answer.url)) setLink(answer.url);
  };
  return (
    <li className="entry">
      <div className="entry-head">
        <div>
          <h3>{id}</h3>
          <p>
            {words.state[state]} <span className="meta">· {words.tools({ count: tools.length })}</span>
          </p>
          {reason !== null && <p className="trouble">{reason}</p>}
        </div>
        <div className="actions">
          {state === "sign_in_needed" && (
            <Button kind="main" onClick={() => void signIn()}>
              {words.signIn}
            </Button>
          )}
          {reachedBy === "address" && state === "ready" && (
            <Button onClick={() => void doing((client) => client.call("signOutOfMcpServer", { params }))}>
              {words.signOut}
            </Button>
          )}
          {isAdmin && state !== "off" && (
            <Button onClick={() => void doing((client) => client.call("restartMcpServer", { params }))}>
              {words.restart}
            </Button>
          )}
        </div>
      </div>
      {link !== undefined && state === "sign_in_needed" && <SignInLink link={link} onChanged={onChanged} />}
      {tools.length > 0 && (
        <details>
          <summary>{words.showTools}</summary>
          <dl className="tool-list">
            {tools.map(({ name, description, left }) => (
              <div key={name}>
                <dt>
                  <code>{name}</code>
                  {left !== null && <span className="chip">{words.left[left]}</span>}
                </dt>
                <dd className="meta">{description.split("\n")[0]}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </li>
  );
}

/** Opened by a click of the person; where the way back does not reach us, its address is typed in. */
function SignInLink({ link, onChanged }: { readonly link: string; readonly onChanged: () => void }) {
  const words = useWords().settings.mcp;
  const doing = useDoing(onChanged);
  const [address, setAddress] = useState("");
  // Whoever comes back to this page may have signed in meanwhile.
  useEffect(() => {
    addEventListener("focus", onChanged);
    return () => removeEventListener("focus", onChanged);
  }, [onChanged]);
  return (
    <form
      className="model-form"
      onSubmit={(event) => {
        event.preventDefault();
        void doing((client) => client.call("finishMcpSignIn", { body: { address } }));
      }}
    >
      <p>
        <a href={link} target="_blank" rel="noopener noreferrer">
          {words.openSignIn}
        </a>
      </p>
      <TextField label={words.address} value={address} onChange={setAddress} hint={words.addressHint} />
      <div className="actions">
        <Button type="submit" isDisabled={address.trim() === ""}>
          {words.finish}
        </Button>
        <Button onClick={onChanged}>{words.lookAgain}</Button>
      </div>
    </form>
  );
}
