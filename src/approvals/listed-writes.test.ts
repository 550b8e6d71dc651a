import { test } from "node:test";
import { compare, linesOf, rowsOf } from "../../test/world/judged-commands.ts";
import { commandFindings } from "./commands.ts";

function judged(title: string, rows: readonly (readonly [command: string, kinds: string])[]): void {
  test(title, () => compare(commandFindings, rows));
}

judged("each program that writes over the files it is given asks for what the user brought [H1]", [
  ...rowsOf(
    "change_upload",
    "% uploads/a",
    `tee sponge patch dos2unix unix2dos mogrify ed ex autopep8 isort black jpegoptim optipng fallocate history ffmpeg convert
       magick sox zip truncate mv rename gzip gunzip bzip2 bunzip2 xz unxz lzma compress uncompress`,
  ),
  ...rowsOf(
    "",
    "% uploads/a",
    "cat head file vim vi nvim exiftool sed perl awk yq prettier eslint ruff dd pip tar split",
  ),
  ...rowsOf("change_upload", "% -c wq uploads/a", "vim vi nvim"),
  ...rowsOf("change_upload", "vim % uploads/a", "-c -s -es -E +wq"),
  ...rowsOf("change_upload", "exiftool % uploads/a", "-Title=x -Title+=x -Title-=x"),
  ...rowsOf("change_upload", "sed -% s/a/b/ uploads/a", "i ni Ei ri si ui zi i.bak"),
  ...rowsOf("change_upload", "sed % s/a/b/ uploads/a", "--in-place --in-place=.bak"),
  ...rowsOf("", "sed -% s/a/b/ uploads/a", "n E r s u z e"),
  ...rowsOf("change_upload", "% -i -pe 's/a/b/' uploads/a", "perl ruby"),
  ...rowsOf("change_upload", "perl % -e 's/a/b/' uploads/a", "-i -pi -i.bak -p0i"),
  ...rowsOf("", "perl % -e 1 uploads/a", "-Ilib -MList::Util -mList::Util -p"),
  ...rowsOf("change_upload", "% -i inplace '{print $1}' uploads/a", "awk gawk"),
  ...rowsOf("change_upload", "awk '{print %\"uploads/b\"}' temp/a", "> >>"),
  ...rowsOf("change_upload", "yq % .a uploads/a", "-i --inplace"),
  ...rowsOf("change_upload", "% --write uploads/a", "prettier eslint ruff"),
  ...rowsOf("change_upload", "ruff % uploads/a", "--fix format --write"),
  ...rowsOf(
    "change_upload packages",
    "pip install % uploads x",
    "-t --target --prefix --root -d --dest -w --wheel-dir --src",
  ),
  ...rowsOf("change_upload packages", "% install -t uploads x", "pip pip3"),
  ...rowsOf("", "truncate % uploads/x outputs/a", "-s --size -r"),
  ...rowsOf("change_upload", "find . % uploads/a", "-fprint -fprint0 -fprintf -fls"),
  ["ffmpeg -i uploads/a", ""],
  ...linesOf(
    "",
    "magick identify uploads/a\n dd if=uploads/a of=temp/a\n ffmpeg -y -i uploads/a temp/b\n zip temp/a.zip uploads/a",
  ),
  ...linesOf(
    "change_upload",
    "dd if=temp/a of=uploads/a\n sed -n 'p;w uploads/b' temp/a\n sed -n '/x/w uploads/b' temp/a",
  ),
]);

judged("each program that copies, packs and unpacks asks when it writes into uploads/ [H1]", [
  ...rowsOf("change_upload", "% temp/a uploads/b", "cp install ln mv rename rsync"),
  ["scp temp/a uploads/b", "change_upload network"],
  ...rowsOf("", "% uploads/b temp/a", "cp install ln rsync"),
  ...rowsOf("change_upload", "cp outputs/a uploads/ % x", "-S --suffix -m --mode -o --owner -g --group"),
  ...rowsOf("change_upload", "cp outputs/a % uploads", "-t --target-directory"),
  ...rowsOf(
    "change_upload",
    "rsync -a outputs/ uploads/ % x",
    "-e --rsh --exclude --exclude-from --include --include-from -f --filter --files-from",
  ),
  ...rowsOf("change_upload", "% uploads/a", "gzip bzip2 xz"),
  ...rowsOf("", "gzip % uploads/a", "-k -c --keep --stdout --to-stdout -l -t --list --test"),
  ["gzip -S uploads/x temp/a", ""],
  ...rowsOf("change_upload", "% xf a.tar -C uploads", "tar bsdtar"),
  ...rowsOf("change_upload", "tar % a.tar -C uploads", "xf -xf -zxf xzf --extract --get"),
  ["tar xf a.tar --directory=uploads", "change_upload"],
  ...linesOf(
    "change_upload",
    "tar xf a.tar --directory uploads\n cd uploads && tar xf ../a.tar\n cd uploads && unzip ../a.zip",
  ),
  ...rowsOf("change_upload", "tar % uploads/a.tar x", "cf -cf czf -czf rf"),
  ...rowsOf("", "tar % uploads/a.tar", "tf -tf tvf -tvf"),
  ...linesOf("change_upload", "unzip a.zip -d uploads\n unzip a.zip -duploads"),
  ...rowsOf("", "cd uploads && unzip % a.zip", "-l -v -t -p -z -Z -lq"),
  ...rowsOf("change_upload", "% x a.7z -ouploads", "7z 7za unrar"),
  ...rowsOf("change_upload", "cd uploads && % x ../a.7z", "7z 7za unrar"),
  ...rowsOf("change_upload", "cd uploads && 7z % ../a.7z", "x e"),
  ...rowsOf("change_upload", "7z % a.7z -ouploads", "x e"),
  ...rowsOf("", "7z % uploads/a.7z", "l t"),
  ...rowsOf("change_upload", "% temp/a uploads/x", "split csplit"),
  ...rowsOf("", "split % 5 uploads/a temp/x", "-l -b -n -a"),
]);

judged("an option that names what is written asks, but for programs in which it is something else [H1]", [
  ...rowsOf(
    "change_upload",
    "run % uploads/a",
    "-o --output --out --outfile --output-document --output-file --outdir --output=uploads/a",
  ),
  ...rowsOf("change_upload network", "wget % uploads/a x.example", "-O -P --output-document"),
  ...rowsOf("", "run % uploads/a", "-O -P -x --input"),
  ...rowsOf(
    "",
    "% -o uploads/a",
    "grep egrep fgrep rg ps ls find bash sh set install stat pgrep od unzip tar bsdtar less awk test [",
  ),
  ...linesOf("network", "ssh -o uploads/a host"),
  ...linesOf("privilege", "mount -o uploads/a\n useradd -o uploads/a"),
]);

judged("what a command makes itself is known from then on: folders, links and texts [H1]", [
  ...rowsOf(
    "delete",
    "cp %/rm temp/x; temp/x outputs/a",
    "/bin /usr/bin /usr/local/bin /sbin /usr/sbin /usr/local/sbin",
  ),
  ...rowsOf("delete", "echo 'rm outputs/a' > temp/a; % temp/a temp/b; bash temp/b", "cp mv install"),
  ...rowsOf("delete", "echo 'rm outputs/a' > temp/a; install % x temp/a temp/b; bash temp/b", "-m -o -g"),
  ["echo 'rm ../outputs/a' > a; cp a temp; cd temp && bash a", "delete"],
  ...rowsOf("delete", "echo 'rm outputs/a' | % temp/b; bash temp/b", "tee sponge"),
  ...linesOf(
    "delete",
    `echo 'rm outputs/a' | tee temp/b; echo ls | tee -a temp/b; bash temp/b
       ln -s ../outputs temp/o; rm temp/o/a
       ln -s ../outputs temp; rm temp/outputs/a
       ln --symbolic ../outputs temp/o; rm temp/o/a
       ln outputs/a temp/o; rm temp/o
       ln -s /bin/rm temp/o; ln -s o temp/p; temp/p outputs/a`,
  ),
  ...linesOf(
    "",
    `echo 'rm outputs/a' | tee temp/b; echo ls | tee temp/b; bash temp/b
       mkdir temp/b; cd temp/b; rm a
       mkdir -m 700 temp/b; cd temp/b; rm a
       mkdir --mode 700 temp/b; cd temp/b; rm a`,
  ),
]);
