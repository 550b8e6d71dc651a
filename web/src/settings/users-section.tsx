import { useState } from "react";
import type { Client } from "../../../src/client/client.ts";
import type { User } from "../../../src/protocol/user-routes.ts";
import { basePath } from "../app/router.ts";
import { useStore } from "../app/store.ts";
import { useYard } from "../app/yard.ts";
import { Button } from "../parts/button.tsx";
import { TextField } from "../parts/text-field.tsx";
import { Time } from "../parts/time.tsx";
import { useWords } from "../words/words.ts";
import { useDoing, useLoaded } from "./use-loaded.ts";

const readUsers = (client: Client) => client.call("listUsers");

/** Who may come in. Removing somebody is confirmed by typing their name. */
export function UsersSection() {
  const words = useWords().settings.users;
  const { value, trouble, reload } = useLoaded(readUsers);
  const { items = [] } = value ?? {};
  return (
    <>
      <p className="about">{words.about}</p>
      {trouble !== "" && <p className="trouble">{trouble}</p>}
      {value !== undefined && items.length === 0 && <p>{words.none}</p>}
      <ul className="entries">
        {items.map((user) => (
          <Entry key={user.id} user={user} onChanged={reload} />
        ))}
      </ul>
      <NewUser onAdded={reload} hasNone={value !== undefined && items.length === 0} />
    </>
  );
}

function Entry({ user, onChanged }: { readonly user: User; readonly onChanged: () => void }) {
  const words = useWords().settings.users;
  const { me } = useYard();
  const isOwn = useStore(me)?.user?.id === user.id;
  const doing = useDoing(onChanged);
  const [link, setLink] = useState("");
  const [typed, setTyped] = useState<string>();
  const params = { user: user.id };
  const makeLink = async () => {
    const made = await doing((client) => client.call("makeSignInLink", { params }));
    if (made !== undefined) setLink(`${location.origin}${basePath}${made.path}`);
  };
  return (
    <li className="entry">
      <div className="entry-head">
        <div>
          <p>
            <strong>{user.name || user.id}</strong> <code>{user.id}</code>
            {user.isAdmin && <span className="chip">{words.admin}</span>}
            {isOwn && <span className="chip">{words.yourself}</span>}
          </p>
          <p className="meta">
            {user.hasPassword ? words.password : user.hasService ? words.service : words.byLink} ·{" "}
            <Time at={user.createdAt} />
          </p>
        </div>
        <div className="actions">
          <Button onClick={() => void makeLink()}>{words.link}</Button>
          {!isOwn && (
            <Button kind="danger" onClick={() => setTyped(typed === undefined ? "" : undefined)}>
              {words.remove}
            </Button>
          )}
        </div>
      </div>
      {link !== "" && (
        <p role="status">
          {words.linkMade} <code className="secret">{link}</code>
        </p>
      )}
      {typed !== undefined && (
        <form
          className="model-form"
          onSubmit={(event) => {
            event.preventDefault();
            void doing((client) => client.call("removeUser", { params }));
          }}
        >
          <TextField label={words.typeToRemove({ id: user.id })} value={typed} onChange={setTyped} />
          <Button type="submit" kind="danger" isDisabled={typed !== user.id}>
            {words.removeNow}
          </Button>
        </form>
      )}
    </li>
  );
}

type NewUserProps = { readonly onAdded: () => void; readonly hasNone: boolean };

function NewUser({ onAdded, hasNone }: NewUserProps) {
  const words = useWords().settings.users;
  const doing = useDoing(onAdded);
  const [id, setId] = useState("");
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [isAdmin, setAdmin] = useState(false);
  const add = async () => {
    const body = {
      id: id.trim(),
      ...(name.trim() !== "" && { name: name.trim() }),
      ...(password !== "" && { password }),
      ...(!hasNone && { isAdmin }),
    };
    const added = await doing((client) => client.call("addUser", { body }));
    if (added === undefined) return;
    setId("");
    setName("");
    setPassword("");
  };
  return (
    <form
      className="model-form"
      onSubmit={(event) => {
        event.preventDefault();
        void add();
      }}
    >
      <h3>{words.newUser}</h3>
      {hasNone && <p className="about">{words.firstIsAdmin}</p>}
      <TextField label={words.id} value={id} onChange={setId} isRequired />
      <TextField label={words.name} value={name} onChange={setName} />
      <TextField
        label={words.passwordLabel}
        value={password}
        onChange={setPassword}
        type="password"
        hint={words.hint}
      />
      {!hasNone && (
        <label className="choice">
          <input type="checkbox" checked={isAdmin} onChange={(event) => setAdmin(event.target.checked)} />
          {words.makeAdmin}
        </label>
      )}
      <Button type="submit" isDisabled={id.trim() === ""}>
        {words.add}
      </Button>
    </form>
  );
}
