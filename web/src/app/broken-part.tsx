import { Component, type ReactNode } from "react";

type BrokenPartProps = { readonly children: ReactNode; readonly instead: (reset: () => void) => ReactNode };

/** A mistake of ours in one part of the page leaves the others standing. The browser's console has it. */
export class BrokenPart extends Component<BrokenPartProps, { readonly isBroken: boolean }> {
  override state = { isBroken: false };

  static getDerivedStateFromError(): { readonly isBroken: boolean } {
    return { isBroken: true };
  }

  override render(): ReactNode {
    if (!this.state.isBroken) return this.props.children;
    return this.props.instead(() => this.setState({ isBroken: false }));
  }
}
