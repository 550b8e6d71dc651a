import { useId, useState } from "react";
import { type FormField, readForm } from "../../../src/protocol/form.ts";
import type { Decision } from "../../../src/protocol/resources.ts";
import { Button } from "../parts/button.tsx";
import { useWords } from "../words/words.ts";
import { useDeciding } from "./use-decision.ts";

type Values = Readonly<Record<string, string | readonly string[]>>;

/** What a server of others wants to know: one field for each thing. It can be refused, too. */
export function FormAnswer({ decision }: { readonly decision: Decision }) {
  const words = useWords().decisions;
  const { decide, isSending, trouble } = useDeciding(decision);
  const fields = decision.fields ?? [];
  const [values, setValues] = useState<Values>(() =>
    Object.fromEntries(fields.map(({ name, default: usual = "" }) => [name, usual])),
  );
  const [fault, setFault] = useState("");
  const send = () => {
    const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value.length > 0));
    const answer = JSON.stringify(given);
    const read = readForm(fields, answer);
    const field = read.ok ? undefined : fields.find(({ name }) => name === read.failure.field);
    setFault(
      read.ok ? "" : words.unfit({ field: field?.title ?? read.failure.field, why: words.fault[read.failure.why] }),
    );
    if (read.ok) void decide({ verdict: "answer", answer });
  };
  return (
    <form
      className="decision-panel"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {fields.map((field) => (
        <Field
          key={field.name}
          field={field}
          value={values[field.name] ?? ""}
          onChange={(value) => setValues({ ...values, [field.name]: value })}
        />
      ))}
      {(fault || trouble) !== "" && (
        <p className="trouble" role="alert">
          {fault || trouble}
        </p>
      )}
      <div className="actions">
        <Button type="submit" kind="main" isDisabled={isSending}>
          {words.answer}
        </Button>
        <Button kind="danger" isDisabled={isSending} onClick={() => void decide({ verdict: "reject" })}>
          {words.decline}
        </Button>
      </div>
    </form>
  );
}

type FieldProps = {
  readonly field: FormField;
  readonly value: string | readonly string[];
  readonly onChange: (value: string | readonly string[]) => void;
};

function Field({ field, value, onChange }: FieldProps) {
  const words = useWords().decisions;
  const id = useId();
  const { name, title = name, description, kind, required, choices = [] } = field;
  const label = required ? words.requiredField({ title }) : title;
  const text = typeof value === "string" ? value : "";
  if (kind === "choices") return <Choices field={field} label={label} value={value} onChange={onChange} />;
  const options = kind === "boolean" ? words.yesNo : choices;
  return (
    <div className="form-field">
      <label htmlFor={id}>{label}</label>
      {kind === "choice" || kind === "boolean" ? (
        <select id={id} className="field" value={text} onChange={(event) => onChange(event.target.value)}>
          <option value="">{words.notSaid}</option>
          {options.map((one) => (
            <option key={one.value} value={one.value}>
              {one.title}
            </option>
          ))}
        </select>
      ) : (
        <input
          id={id}
          className="field"
          inputMode={kind === "text" ? "text" : "decimal"}
          value={text}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
      {description !== undefined && <p className="meta">{description}</p>}
    </div>
  );
}

function Choices({ field, label, value, onChange }: FieldProps & { readonly label: string }) {
  const chosen = new Set(typeof value === "string" ? value.split(",").filter((one) => one !== "") : value);
  const toggle = (one: string) => {
    if (!chosen.delete(one)) chosen.add(one);
    onChange([...chosen]);
  };
  return (
    <fieldset>
      <legend>{label}</legend>
      {(field.choices ?? []).map((one) => (
        <label key={one.value} className="choice">
          <input type="checkbox" checked={chosen.has(one.value)} onChange={() => toggle(one.value)} />
          {one.title}
        </label>
      ))}
    </fieldset>
  );
}
