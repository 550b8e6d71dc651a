import { useId } from "react";

type TextFieldProps = {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly type?: "text" | "url" | "password" | "number" | undefined;
  readonly hint?: string | undefined;
  /** What could be meant. */
  readonly offers?: readonly string[] | undefined;
  readonly isRequired?: boolean | undefined;
};

/** A line to write in, with its name above and a hint below. Passwords are not for the browser to keep. */
export function TextField({ label, value, onChange, type = "text", hint, offers = [], isRequired }: TextFieldProps) {
  const id = useId();
  return (
    <div className="form-field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className="field"
        type={type}
        value={value}
        required={isRequired}
        spellCheck={false}
        autoComplete={type === "password" ? "new-password" : "off"}
        aria-describedby={hint === undefined ? undefined : `${id}h`}
        list={offers.length === 0 ? undefined : `${id}o`}
        onChange={(event) => onChange(event.target.value)}
      />
      {offers.length > 0 && (
        <datalist id={`${id}o`}>
          {offers.map((offer) => (
            <option key={offer} value={offer} />
          ))}
        </datalist>
      )}
      {hint !== undefined && (
        <p className="meta" id={`${id}h`}>
          {hint}
        </p>
      )}
    </div>
  );
}
