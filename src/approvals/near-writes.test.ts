import { test } from "node:test";
import { compare, linesOf, rowsOf } from "../../test/world/judged-commands.ts";
import { commandFindings } from "./commands.ts";

function judged(title: string, rows: readonly (readonly [command: string, kinds: string])[]): void {
  test(title, () => compare(commandFindings, rows));
}

judged("a program that writes is told by its options, not by names that look like them [H1]", [
  ...linesOf(
    "",
    `vim my-c uploads/a
     vim -clean uploads/a
     exiftool uploads/my-a=1.jpg
     sed s/a/b-i/ uploads/a
     perl -e 'print a-i' uploads/a
     find temp/a-fls uploads -name x
     sqlite3 outputs/a.db 'update t set a = 1' uploads/b`,
  ),
  ...rowsOf("change_upload", "perl % -pe 1 uploads/a", "-Wi -i-m"),
  ...rowsOf("change_upload", "sed '% uploads/b' temp/a", "w 1w 1W s/a/b/gw s/a/b/pw /x/{p}w"),
  // Their `-o` is what they write: they only begin or end like programs in which it is something else.
  ...rowsOf("change_upload", "% -o uploads/a", "pytest shc setup"),
]);

judged("what tar does with an archive is read from its letters alone [H1]", [
  ...rowsOf("", "tar % uploads/a.tar", "tvzf tfv ztf Ztf tZf -vtf"),
  ...rowsOf("change_upload", "tar % uploads/a.tar x", "cZf Zcf cfz cfZ -cZf -Zcf"),
  ...rowsOf("change_upload", "tar % a.tar -C uploads", "zxf Zxf xZf -Zxf -xZf"),
  ...linesOf(
    "change_upload",
    `tar cf uploads/a-x.tar temp/b
     tar --exclude=x -cf uploads/a.tar b
     tar cf uploads/a.tar --format=ustar b
     tar cf uploads/a.tar test`,
  ),
  ...linesOf(
    "",
    `tar -v -tf uploads/a.tar
     tar cf temp/a.tar uploads/b
     tar -c stuff uploads/a
     tar --exclude=a-f uploads/x -cf temp/a.tar
     tar xf my-C uploads
     tar xf a--directory=uploads`,
  ),
]);

judged("unpacking writes where it is told to, and looking into an archive writes nothing [H1]", [
  ...linesOf("", "unzip my-d uploads\n cd uploads && 7z l a.7z\n cd uploads && 7z t a.7z"),
  ...rowsOf("", "cd uploads && unzip % ../a.zip", "-ql -Cl -qt"),
  ...rowsOf("change_upload", "cd uploads && unzip %", "my-l.zip ../a.zip"),
  ["cd uploads && 7z x a.7z", "change_upload"],
]);

judged("a link leads where it was made to lead, by its own name or by that of what it leads to [H1]", [
  ...linesOf(
    "",
    `ln -s temp/x .; rm x
     ln -s temp/d/x .; rm x
     ln -s temp/x; rm x
     ln -s x temp/o; rm temp/o
     ln --symbolic x temp/o; rm temp/o
     ln -s temp temp; rm temp/a
     cp outputs/a temp/b; rm temp/b
     cp my/bin/ls temp/b; rm temp/b
     cat /bin/rm temp/x; temp/x outputs/a
     cp
     cp a
     ln`,
  ),
  ...linesOf(
    "delete",
    `ln x temp/o; rm temp/o
     ln -s outputs/x temp/; rm temp/x
     ln -s /workspace/w1/outputs/x temp/d; rm temp/d
     touch temp/b; cd temp/b; rm a`,
  ),
]);

judged("a script that was copied is judged by its text, under whatever name it lies then [H1]", [
  ...linesOf(
    "delete",
    `mkdir temp/d; echo 'rm outputs/a' > temp/d/a; cp temp/d/a outputs; sh outputs/a
     echo 'rm outputs/a' > temp/a; cp temp/a outputs/b; sh outputs/b
     echo ls > outputs/b; echo 'rm outputs/a' > temp/a; cp temp/a outputs/b; sh outputs/b`,
  ),
  ...rowsOf("", "echo 'rm outputs/a' > temp/a; % temp/a temp/b; bash temp/b", "my-cp cpx"),
  ["echo 'rm outputs/a' > temp/b; echo ls > temp/a; cp temp/a temp/b; bash temp/b", ""],
]);
