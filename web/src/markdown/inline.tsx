import { type ReactNode, use } from "react";
import { Link } from "../app/link.tsx";
import { Icon } from "../parts/icon.tsx";
import { useWords } from "../words/words.ts";
import { FilesOf, previewAddress, targetOf } from "./files-of.ts";
import { MathText } from "./math-text.tsx";
import type { Token } from "./parse.ts";

type InlineProps = { readonly tokens: readonly Token[]; readonly isOpen: boolean; readonly depth?: number };

const depthMax = 24;
/** The few tags that people write into Markdown and that do nothing but change how a word looks. */
const harmless = /^<(br|wbr)\s*\/?>$/i;

/** What stands in a line, as elements. */
export function Inline({ tokens, isOpen, depth = 0 }: InlineProps) {
  return tokens.map((token, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts of a line have no names.
    <Part key={index} token={token} isOpen={isOpen} depth={depth} />
  ));
}

type PartProps = { readonly token: Token; readonly isOpen: boolean; readonly depth: number };

function Part({ token, isOpen, depth }: PartProps): ReactNode {
  if (depth > depthMax) return token.raw;
  const inner = () => <Inline tokens={("tokens" in token && token.tokens) || []} isOpen={isOpen} depth={depth + 1} />;
  switch (token.type) {
    case "text":
      return "tokens" in token && token.tokens !== undefined ? inner() : token.text;
    case "escape":
      return token.text;
    case "strong":
      return <strong>{inner()}</strong>;
    case "em":
      return <em>{inner()}</em>;
    case "del":
      return <del>{inner()}</del>;
    case "codespan":
      return <CodeSpan text={token.text} />;
    case "br":
      return <br />;
    case "link":
      return <TextLink address={token.href}>{inner()}</TextLink>;
    case "image":
      return <Picture address={token.href} text={token.text} />;
    case "math":
      return isOpen ? token.raw : <MathText tex={token.tex} isBlock={token.isBlock} />;
    case "html":
      return harmless.test(token.raw.trim()) ? <br /> : token.raw;
    default:
      return token.raw;
  }
}

/** A path of the conversation's own files leads to the file. */
function CodeSpan({ text }: { readonly text: string }) {
  const conversation = use(FilesOf);
  const target = targetOf(text);
  const code = <code>{text}</code>;
  if (target.kind !== "file" || conversation === undefined || target.path.endsWith("/")) return code;
  return <Link to={{ page: "chat", conversation, file: target.path, spot: target.spot }}>{code}</Link>;
}

function TextLink({ address, children }: { readonly address: string; readonly children: ReactNode }) {
  const conversation = use(FilesOf);
  const target = targetOf(address);
  if (target.kind === "file" && conversation !== undefined)
    return <Link to={{ page: "chat", conversation, file: target.path, spot: target.spot }}>{children}</Link>;
  if (target.kind !== "web") return <span>{children}</span>;
  return (
    <a href={target.address} rel="noopener noreferrer nofollow" target="_blank" title={target.address.slice(0, 500)}>
      {children}
    </a>
  );
}

/** Files of the conversation are shown. What lies elsewhere is not loaded: whoever wants it goes there. */
function Picture({ address, text }: { readonly address: string; readonly text: string }) {
  const words = useWords().markdown;
  const conversation = use(FilesOf);
  const target = targetOf(address);
  if (target.kind === "picture") return <img className="text-picture" alt={text} src={target.address} />;
  if (target.kind === "file" && conversation !== undefined)
    return (
      <Link to={{ page: "chat", conversation, file: target.path }} className="text-picture-link">
        <img
          className="text-picture"
          alt={text || target.path}
          loading="lazy"
          src={previewAddress(conversation, target.path)}
        />
      </Link>
    );
  if (target.kind !== "web") return <span>{text}</span>;
  return (
    <a className="picture-elsewhere" href={target.address} rel="noopener noreferrer nofollow" target="_blank">
      <Icon name="picture" size={16} />
      {words.pictureAt(target.host, text)}
    </a>
  );
}
