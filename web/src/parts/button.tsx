import type { ReactNode } from "react";
import { Icon, type IconName } from "./icon.tsx";

type IconButtonProps = {
  readonly icon: IconName;
  readonly label: string;
  readonly onClick: () => void;
  readonly isPressed?: boolean | undefined;
  readonly isDisabled?: boolean | undefined;
};

/** A button that only has an icon: its label is read aloud and shown when one waits over it. */
export function IconButton({ icon, label, onClick, isPressed, isDisabled }: IconButtonProps) {
  return (
    <button
      type="button"
      className="icon-button"
      title={label}
      aria-label={label}
      aria-pressed={isPressed}
      disabled={isDisabled}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}

type ButtonProps = {
  readonly children: ReactNode;
  readonly onClick?: (() => void) | undefined;
  readonly kind?: "main" | "danger" | undefined;
  readonly type?: "button" | "submit";
  readonly isDisabled?: boolean | undefined;
};

export function Button({ children, onClick, kind, type = "button", isDisabled }: ButtonProps) {
  return (
    <button type={type} className="button" data-kind={kind} disabled={isDisabled} onClick={onClick}>
      {children}
    </button>
  );
}
