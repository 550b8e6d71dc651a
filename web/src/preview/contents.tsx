import { useState } from "react";
import type { FileDetails } from "../../../src/protocol/resources.ts";
import { shownName } from "../files/file-names.ts";
import { previewAddress } from "../markdown/files-of.ts";
import { Button } from "../parts/button.tsx";
import { useWords } from "../words/words.ts";
import { DocumentView } from "./document-view.tsx";
import { LinesView } from "./lines-view.tsx";
import { MarkdownView } from "./markdown-view.tsx";
import type { Spot } from "./spot.ts";
import { TableView } from "./table-view.tsx";

/** How a file can be looked at. */
export type Look = "shown" | "text" | "source";

const binary = new Set(["archive", "pickle", "data", "database", "program", "unknown", "mail"]);
const withSource = new Set(["html", "svg", "markdown", "csv"]);

/** The first is how it is opened. A small screen has no viewer for PDF, but can show its text. */
export function looksOf(type: string): readonly Look[] {
  if (type === "pdf") return matchMedia("(max-width: 719px)").matches ? ["text", "shown"] : ["shown", "text"];
  return withSource.has(type) ? ["shown", "source"] : ["shown"];
}

type ContentsProps = {
  readonly conversation: string;
  readonly path: string;
  readonly look: Look;
  readonly details: FileDetails;
  readonly spot: Spot;
  readonly changes: number;
};

/** What is in a file, in the way that suits its content. */
export function Contents({ conversation, path, look, details: { type }, spot, changes }: ContentsProps) {
  const words = useWords().preview;
  const parts = { conversation, path, spot, changes };
  const address = `${previewAddress(conversation, path)}&at=${changes}`;
  if (look === "source") return <LinesView {...parts} language={type === "csv" ? "" : type} />;
  if (look === "text") return <DocumentView {...parts} />;
  switch (type) {
    case "image":
    case "svg":
      return <PictureView address={address} name={shownName(path)} />;
    case "pdf":
      // Its viewer stands still in a frame with `sandbox`; what is shown there is no page of ours. Small pictures of all pages
      // would take half of the pane.
      return (
        <iframe
          className="frame"
          title={shownName(path)}
          src={`${address}#${spot.page === undefined ? "" : `page=${spot.page}&`}navpanes=0`}
        />
      );
    case "html":
      return <PageView key={path} address={address} name={shownName(path)} />;
    case "csv":
    case "spreadsheet":
      return <TableView {...parts} />;
    case "markdown":
      return <MarkdownView {...parts} />;
    case "document":
    case "presentation":
    case "ebook":
      return <DocumentView {...parts} />;
    case "audio":
      // biome-ignore lint/a11y/useMediaCaption: it is a file of the user, and has none.
      return <audio className="media" controls src={address} />;
    case "video":
      // biome-ignore lint/a11y/useMediaCaption: it is a file of the user, and has none.
      return <video className="media" controls src={address} />;
    default:
      return binary.has(type) ? <p className="about">{words.nothing}</p> : <LinesView {...parts} language={type} />;
  }
}

/** A page stands still until somebody wants its scripts: no browser keeps those from telling others what is in it. */
function PageView({ address, name }: { readonly address: string; readonly name: string }) {
  const words = useWords().preview;
  const [runs, setRuns] = useState(false);
  return (
    <>
      <iframe
        // Its rights are those that it was made with.
        key={String(runs)}
        className="frame"
        title={words.frame({ name })}
        sandbox={runs ? "allow-scripts" : ""}
        src={runs ? `${address}&scripts=true` : address}
      />
      <p className="preview-foot">
        <Button onClick={() => setRuns(!runs)}>{runs ? words.stopScripts : words.runScripts}</Button>{" "}
        {words.aboutScripts}
      </p>
    </>
  );
}

function PictureView({ address, name }: { readonly address: string; readonly name: string }) {
  const words = useWords().preview;
  const [isFull, setFull] = useState(false);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by keys. */}
      <section className="picture-box" data-full={isFull || undefined} tabIndex={0} aria-label={name}>
        <img src={address} alt={name} />
      </section>
      <p className="preview-foot">
        <Button onClick={() => setFull(!isFull)}>{isFull ? words.fit : words.fullSize}</Button>
      </p>
    </>
  );
}
