/** Stories that are about one process, or about files of SQLite, by their nature: what they promise is promised of that. */
export type OneProcessStory = {
  readonly file: string;
  /** The beginning of the test's name; all of the file where none is named. */
  readonly test?: string;
  readonly why: string;
};

const keyFile = "the file `key` of one data directory; several servers have AGENTYARD_KEY";
const counted = "what is refused at the door is counted by each process for itself: decision 0103, Price";
const cutOff =
  "a reader behind a process that hands the stream on is cut off when that one ends, and reads on elsewhere";
const torn = "tears a record in the file of SQLite";

export const oneProcessStories: readonly OneProcessStory[] = [
  {
    file: "backup",
    test: "the key is left out unless it is asked for",
    why: keyFile,
  },
  {
    file: "first-steps",
    test: "a mistyped --data is refused",
    why: "a folder without a database in it; with AGENTYARD_DATABASE_URL no folder is mistyped",
  },
  {
    file: "first-steps",
    test: "without the rights for it",
    why: "runs as another user, who reaches files and not the database of the suite",
  },
  {
    file: "storage-faults",
    test: "on a full disk a message is refused",
    why: "the disk that the file of SQLite lies on",
  },
  {
    file: "http-stream",
    test: "a record that cannot be read is passed over",
    why: torn,
  },
  {
    file: "http-stream-slow",
    why: "measures the memory of one process, and says 6 MB in the time in which SQLite, and no server, has read an event",
  },
  {
    file: "http-socket",
    test: "closing ends streams",
    why: cutOff,
  },
  { file: "mcp-server-door", test: "a user listens on only so many streams", why: counted },
  {
    file: "metrics",
    test: "a probe of a server whose database was taken away",
    why: "the file of SQLite is removed under it; tables that were taken away: test/contracts/postgres-faults.test.ts",
  },
  {
    file: "openai-streams",
    test: "a server that closes says so to its readers",
    why: cutOff,
  },
  { file: "balanced", why: "starts two servers of its own behind a balancer, with or without the suite" },
  { file: "postgres", why: "databases, keys and moves of its own, with one process, whatever the suite has" },
  {
    file: "sandbox-command",
    test: "beside a server it is refused with the server's address",
    why: "the address is the one at which that process listens, not the balancer's",
  },
  { file: "secrets", test: "a secret is stored sealed under a key that is made", why: keyFile },
  { file: "secrets", test: "the operator's own key counts before the file", why: keyFile },
  { file: "secrets", test: "a key file that holds no key", why: keyFile },
  {
    file: "serve",
    test: "a second server on the same data names the first",
    why: "the address and the number of one process, not the balancer's",
  },
  {
    file: "serve",
    test: "a turn that runs when the server is told to end",
    why: "with two, both end at once, and who reads through the other one is cut off and reads on: restarts.test.ts",
  },
  { file: "serve", test: "whoever tells it twice to end", why: "the signals are those of one process" },
  { file: "serve", test: "what is no request is refused", why: "bytes that are no HTTP end at the balancer" },
  { file: "storage-faults", test: "a record of the log that cannot be read", why: torn },
  {
    file: "user-command",
    test: "a link leads to the running server",
    why: "the address is the one at which that process listens, not the balancer's",
  },
  { file: "users-taken", test: "a user has only so many streams open", why: counted },
  { file: "users-limits", test: "one caller too often is told when to come back", why: counted },
  { file: "users-limits", test: "a try to sign in counts before anything of it is read", why: counted },
  { file: "users-limits", test: "what a proxy says counts only when the settings name it", why: counted },
];
