import { Link } from "../app/link.tsx";
import { previewAddress } from "../markdown/files-of.ts";

type MadePicturesProps = {
  readonly conversation: string;
  readonly files: readonly { readonly path: string; readonly change: string; readonly bytes: number }[];
};

const isPicture = /\.(png|jpe?g|gif|webp|svg)$/i;
const shownMax = 6;

/** Plots and other pictures that a call made, where it made them. What was changed since has another size. */
export function MadePictures({ conversation, files }: MadePicturesProps) {
  const pictures = files.filter(({ path, change }) => change !== "removed" && isPicture.test(path)).slice(0, shownMax);
  return pictures.map(({ path, bytes }) => (
    <Link key={path} to={{ page: "chat", conversation, file: path }} className="text-picture-link">
      <img className="text-picture" alt={path} src={`${previewAddress(conversation, path)}&size=${bytes}`} />
    </Link>
  ));
}
