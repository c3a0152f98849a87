/// <reference lib="esnext.disposable" preserve="true" />
/**
 * The public shapes of Tackroom. One face, written by hand: the compiler refuses a misspelt tool name,
 * argument or detail (tests/js/types.test-d.ts proves it).
 *
 * @module
 */

import type { StandardTool } from "./standard.js";

/** A value, or a promise of it: every environment method may answer either way. */
export type MaybePromise<T> = T | Promise<T>;

/**
 * An outcome as a value instead of a throw. An object counts as one only if its `ok` is a boolean.
 * `code` is an error code of Tackroom (`not_found`), of Node (`ENOENT`) or a DOMException name.
 */
export type Result<T> = { ok: true; value: T } | { ok: false; error: { code: string; message: string } };

/** What every environment method gets last. */
export interface Options {
  /** Aborts with the call. */
  signal?: AbortSignal;
}

/** One entry of a file system, as lstat sees it: a link is `"symlink"`. */
export interface FileInfo {
  name: string;
  /** Absolute path. */
  path: string;
  kind: "file" | "directory" | "symlink";
  /** In bytes. */
  size: number;
  /** Milliseconds since the epoch. */
  mtimeMs: number;
}

/** How a command is to be run. */
export interface ExecOptions {
  shell: "bash" | "powershell";
  /** Absolute path of the directory to run in. */
  cwd: string;
  /** Variables to set, over the ones the environment has. */
  env: Record<string, string>;
  /** Variables to remove before `env` is applied. */
  unsetEnv: string[];
  /** Seconds, for information: the core aborts `signal` when they are over. */
  timeout?: number;
  /** Takes output as it comes. A returned promise asks the environment to wait (backpressure). */
  onStdout(chunk: Uint8Array | string): MaybePromise<void>;
  /** The same for standard error. */
  onStderr(chunk: Uint8Array | string): MaybePromise<void>;
  signal: AbortSignal;
}

/** How a command ended. `stdout` and `stderr` count only if no chunk came. */
export interface ExecResult {
  /** `null` where the command was ended without one, by a signal say. */
  exitCode: number | null;
  stdout?: Uint8Array | string;
  stderr?: Uint8Array | string;
}

/**
 * The place where the tools work: the only door from the core to the outside. Methods may return a value or a
 * promise, and may fail by throwing (an Error with a `code`, a DOMException) or by returning a {@link Result}.
 * Paths given to it are absolute POSIX paths.
 *
 * @example
 * ```ts
 * const env: ExecutionEnv = {
 *   cwd: "/",
 *   readBinaryFile: (path) => store.get(path) ?? { ok: false, error: { code: "not_found", message: path } },
 *   writeFile: (path, content) => void store.set(path, content),
 *   fileInfo: (path) => stat(path),
 *   listDir: (path) => list(path),
 * };
 * ```
 */
export interface ExecutionEnv {
  /** Absolute path that relative paths are resolved against. */
  readonly cwd: string;
  /** Absolute path of the home directory. Without it, a path that begins with `~` is an error. */
  readonly home?: string;
  /** For the model: what kind of place this is, such as `"simulated bash, no network, no git"`. */
  readonly description?: string;
  /** Default `["bash"]` where `exec` exists. */
  readonly shells?: readonly ("bash" | "powershell")[];
  /** The whole file. Must fail with `is_directory` for a directory. */
  readBinaryFile(path: string, options?: Options): MaybePromise<Uint8Array | Result<Uint8Array>>;
  /** Replaces the whole file, or creates it; must not create its parent where `createDir` exists. */
  writeFile(path: string, content: Uint8Array, options?: Options): MaybePromise<void | Result<void>>;
  /** lstat: does not follow a link at the end of the path. */
  fileInfo(path: string, options?: Options): MaybePromise<FileInfo | Result<FileInfo>>;
  /** The entries of a directory, in any order. */
  listDir(path: string, options?: Options): MaybePromise<FileInfo[] | Result<FileInfo[]>>;
  /**
   * The bytes of a file from `start` to before `end`, both counted from 0: fewer where the file ends before that, or
   * where more is not at hand (the rest is asked for then), none at all beyond its end. With it `read` takes large
   * files in parts, of which none is kept. Without it, whole files are read.
   */
  readRange?(
    path: string,
    start: number,
    end: number,
    options?: Options,
  ): MaybePromise<Uint8Array | Result<Uint8Array>>;
  /**
   * Whole files, one answer each in the order of the paths. With it `grep` reads some thirty at a time by one call;
   * without it by as many calls of `readBinaryFile` at once.
   */
  readFiles?(
    paths: string[],
    options?: Options,
  ): MaybePromise<Result<Uint8Array>[] | Result<Result<Uint8Array>[]>>;
  /**
   * The files and links below a directory as ripgrep would search them: hidden ones too, `.git` never, without those
   * that `.gitignore` and `.ignore` files exclude (those of the directories above it included), in the order of
   * `rg --sort path`. With it `grep` and `find` do not list directories one by one.
   */
  walk?(request: WalkRequest, options?: Options): MaybePromise<WalkEntry[] | Result<WalkEntry[]>>;
  /** The lines that `grep` would find, searched where the files are: a remote machine answers with matches alone. */
  search?(request: SearchRequest, options?: Options): MaybePromise<SearchAnswer | Result<SearchAnswer>>;
  /** The path with every link resolved. Without it, paths are taken as they are. */
  canonicalPath?(path: string, options?: Options): MaybePromise<string | Result<string>>;
  /** The path made absolute, against `cwd`, without `.` and `..`; it need not exist. Without it, POSIX rules apply. */
  absolutePath?(path: string, options?: Options): MaybePromise<string | Result<string>>;
  /** Creates a directory and its parents; one that exists is no failure. */
  createDir?(path: string, options?: Options): MaybePromise<void | Result<void>>;
  /**
   * Removes a file, a link (not what it leads to) or an empty directory; with `recursive` a directory with all that
   * is in it. Fails with `already_exists` for a directory that is not empty. Without it, nothing can be removed.
   */
  remove?(path: string, options?: Options & { recursive?: boolean }): MaybePromise<void | Result<void>>;
  /** Moves a file, a link or a directory to another path; a file that is there is replaced, in one step. */
  renameFile?(from: string, to: string, options?: Options): MaybePromise<void | Result<void>>;
  /** Adds bytes to the end of a file, or creates it. Without it, a file is written whole. */
  appendFile?(path: string, content: Uint8Array, options?: Options): MaybePromise<void | Result<void>>;
  /**
   * Creates an empty file and returns its absolute path. Its name is new, with this beginning and end; it lies outside
   * of what the tools work on, or, where that is the whole store, in `/.tackroom/`. With it and `appendFile`, command
   * output that is too long to be shown is kept whole in such a file.
   */
  createTempFile?(
    options?: Options & { prefix?: string; suffix?: string },
  ): MaybePromise<string | Result<string>>;
  /**
   * Runs `fn` while nobody else who uses the same lock changes what `key`, an absolute path, names: another tab, say
   * (Web Locks). It is held around each change of a file, within the toolset's own queue. Without it, others than
   * this page are not waited for. Must run `fn` once, and settle as it does.
   */
  lock?<T>(key: string, fn: () => Promise<T>): Promise<T>;
  /** Runs a command in a shell. Without it there are no shell tools. */
  exec?(command: string, options: ExecOptions): MaybePromise<ExecResult | Result<ExecResult>>;
}

/** What {@link ExecutionEnv.walk} is asked for. */
export interface WalkRequest {
  /** Absolute path of a directory. */
  path: string;
  /** As `find` takes it: only what it matches. */
  glob?: string;
  /** How many at most. */
  limit?: number;
}

/** A file or a link that a walk came by. */
export interface WalkEntry {
  /** Relative to the directory that was asked for. */
  path: string;
  kind: "file" | "symlink";
  /** Bytes. */
  size: number;
}

/** What {@link ExecutionEnv.search} is asked for: the arguments of `grep`, all of them. */
export interface SearchRequest {
  /** Absolute path of a directory or a file. */
  path: string;
  /** A regular expression in the syntax of Rust's `regex`, or, if `literal`, a text. */
  pattern: string;
  /** Only files that it matches, as ripgrep's `--glob`. */
  glob?: string;
  ignoreCase: boolean;
  literal: boolean;
  /** Lines to show before and after each match. */
  context: number;
  /** Lines that match, at most. */
  limit: number;
}

/** What a search found. */
export interface SearchAnswer {
  /** By path, each file's by their numbers, none twice. `text` is the line without its end, `line` counts from 1. */
  matches: { path: string; line: number; text: Uint8Array; isContext: boolean }[];
  /** Whether there is at least one more. */
  limitReached: boolean;
  /** Files that could not be read. */
  unreadable: number;
}

/** What went wrong: contract for programs. The texts are for models and may grow. */
export type ToolErrorCode =
  | "not_found"
  | "permission_denied"
  | "not_directory"
  | "is_directory"
  | "already_exists"
  | "busy"
  | "no_space"
  | "not_supported"
  | "aborted"
  | "timeout"
  | "invalid_path"
  | "outside_root"
  | "invalid_arguments"
  | "cut_off"
  | "no_such_tool"
  | "blocked"
  | "no_match"
  | "ambiguous"
  | "overlap"
  | "no_change"
  | "stale"
  | "disposed"
  | "outcome_unknown"
  | "exit_code"
  | "no_shell"
  | "spawn_failed"
  | "invalid_pattern"
  | "trapped"
  | "unknown";

/** A replacement of one place in a file. */
export interface Edit {
  /** Text that is in the file, once. */
  oldText: string;
  /** What stands there afterwards, taken literally. */
  newText: string;
  /** Replace every occurrence, from left to right, instead of demanding that there is one. */
  replaceAll?: boolean;
}

/** What a write or an edit did to a file. */
export interface FileChange {
  /** Absolute and canonical. */
  path: string;
  kind: "create" | "modify" | "delete";
  /** Numbered lines for people, with four lines of context. */
  diff: string;
  /** A unified diff that `git apply` takes; `null` where a hunk is no UTF-8, with the reason beside it. */
  patch: string | null;
  patchOmitted?: string;
  /** 1-indexed, in the new file. */
  firstChangedLine?: number;
  linesAdded: number;
  linesRemoved: number;
}

/** What was cut from an output. Bytes are UTF-8 bytes of the decoded text; a final LF opens no further line. */
export interface TruncationDetails {
  truncated: boolean;
  truncatedBy: "lines" | "bytes" | null;
  totalLines: number;
  totalBytes: number;
  outputLines: number;
  outputBytes: number;
  lastLinePartial: boolean;
  firstLineExceedsLimit: boolean;
  maxLines: number;
  maxBytes: number;
  lastLineBytes?: number;
}

/** What is left of a text that was cut, and what was cut. */
export interface TruncationResult extends TruncationDetails {
  content: string;
}

/** What `detectFileKind` tells. What is not known is absent. */
export interface FileKind {
  /**
   * `"image"`: also one that `read` does not show, such as HEIC, TIFF or an animated PNG. `"binary"`: bytes with a NUL
   * or many control characters among the first 8 KB, and known formats. `"text"`: everything else.
   */
  kind: "text" | "image" | "binary";
  /** Of images, and of other files that are known: `"application/zip"`. Not of text. */
  mimeType?: string;
  /** Of text, by its BOM. */
  encoding?: ReadDetails["encoding"];
  /** Pixels, as the image is shown: with its EXIF orientation. Of PNG, JPEG, GIF, WebP and BMP. */
  width?: number;
  height?: number;
  /** Whether there is more than one frame, as far as the bytes tell. Of the same formats. */
  animated?: boolean;
}

/** `details` of `read`. Of a file that is no text, `lineEnding` and `encoding` are those of an empty one. */
export interface ReadDetails {
  lineEnding: "lf" | "crlf" | "cr" | "mixed";
  encoding: "utf-8" | "utf-8-bom" | "utf-16le" | "utf-16be";
  truncation?: TruncationDetails;
}

/** `details` of `bash` and `powershell`. */
export interface BashDetails {
  /** `null` where the command ended without one: by a signal, an abort or a timeout. */
  exitCode: number | null;
  durationMs: number;
  /** What was cut, if anything was. It counts lines and bytes of the output as it is shown, that is rendered. */
  truncation?: TruncationDetails;
  /** Of output that was cut: the file of the environment that has all of it, as it came. */
  fullOutputPath?: string;
}

/** `details` of `grep`. */
export interface GrepDetails {
  /** Lines that match, of those shown. */
  matches: number;
  /** The limit, where there are more matches than that. */
  matchLimitReached?: number;
  /** Whether a long line is shown as a window of 500 characters around its match. */
  linesTruncated?: boolean;
  /** Files that were skipped: they cannot be read, or are too large. */
  unreadable: number;
  truncation?: TruncationDetails;
}

/** `details` of `find`. */
export interface FindDetails {
  /** The limit, where there are more files than that. */
  resultLimitReached?: number;
  truncation?: TruncationDetails;
}

/** `details` of `ls`. */
export interface LsDetails {
  /** The limit, where there are more entries than that. */
  entryLimitReached?: number;
  truncation?: TruncationDetails;
}

/** The arguments of the built-in tools, as their schemas say. */
export interface ToolArguments {
  read: { path: string; offset?: number; limit?: number; column?: number };
  write: { path: string; content: string };
  edit: { path: string; edits: Edit[] };
  bash: { command: string; timeout?: number };
  powershell: { command: string; timeout?: number };
  grep: {
    pattern: string;
    path?: string;
    glob?: string;
    ignoreCase?: boolean;
    literal?: boolean;
    context?: number;
    limit?: number;
  };
  find: { pattern: string; path?: string; limit?: number };
  ls: { path?: string; limit?: number };
}

/** Tool name → `details` of its results. */
export interface ToolDetails {
  read: ReadDetails;
  bash: BashDetails;
  powershell: BashDetails;
  grep: GrepDetails;
  find: FindDetails;
  ls: LsDetails;
  edit: FileChange;
  write: FileChange;
}

/** The tools there are. */
export type ToolName = keyof ToolDetails;

/** {@link ToolDetails}, of these tools alone: what the results of a toolset narrow to. */
export type DetailsMap<N extends ToolName = ToolName> = { [K in N]: ToolDetails[K] };

/** Tool name → details, of tools that are not known to the compiler. */
// biome-ignore lint/suspicious/noExplicitAny: what is not known can be looked at, as JSON can
type AnyDetails = Record<string, any>;

/** A part of a result, for the model. */
export type Content =
  | { type: "text"; text: string }
  /** `data` is base64. */
  | { type: "image"; data: string; mimeType: string };

type Success<M, K extends keyof M> = K extends string
  ? {
      toolCallId: string;
      toolName: K;
      content: Content[];
      terminate?: boolean;
      usage?: unknown;
      isError: false;
      details: M[K];
    }
  : never;
type Failure<M, K extends keyof M> = K extends string
  ? {
      toolCallId: string;
      toolName: K;
      content: Content[];
      terminate?: boolean;
      usage?: unknown;
      isError: true;
      details: { code: ToolErrorCode; path?: string } & Partial<M[K]>;
    }
  : never;

/**
 * The details of the tools there are, as those that an unknown tool's result has not. Narrowing by `toolName` leaves
 * that form in the union; thanks to these a program can read `details.exitCode` of a failed `bash` all the same.
 */
type Absent = { [D in Exclude<KeyOfEach<ToolDetails[ToolName]>, "code" | "path">]?: never };
type KeyOfEach<T> = T extends unknown ? keyof T : never;

/**
 * What a call answers: `content` for the model, `details` for programs and people. It narrows by `isError` and
 * `toolName`, in either order; the last form is a call of a tool that there is not.
 *
 * @typeParam M tool name → `details`. Default: any tools.
 *
 * @example
 * ```ts
 * const result = await toolset.call(call);
 * if (result.isError) report(result.details.code, result.details.path);
 * else if (result.toolName === "bash") console.log(result.details.exitCode, result.details.durationMs);
 * ```
 */
export type ToolResult<M = AnyDetails> =
  | { [K in keyof M]: Success<M, K> | Failure<M, K> }[keyof M]
  | {
      toolCallId: string;
      // Not `string & {}`: with it in the union TypeScript does not narrow by the name.
      toolName: string;
      content: Content[];
      terminate?: boolean;
      usage?: unknown;
      isError: true;
      details: { code: ToolErrorCode; path?: string } & Absent;
    };

/** A model's request to run a tool. */
export interface ToolCall {
  id: string;
  name: string;
  /** The model's JSON text as it came, or the object a client library made of it. */
  arguments: string | object;
  /** The response ended at its token limit while this call was being written: it is refused, never run. */
  incomplete?: boolean;
}

/** Per-call options. */
export interface CallOptions {
  /** Aborts the call: it answers at once with code `aborted`. */
  signal?: AbortSignal;
  /** Gets snapshots of the output so far while the tool runs; each replaces the one before. */
  onUpdate?(partial: PartialResult): void;
  /** Handed to the hooks; overrides the toolset's. */
  context?: unknown;
}

/** Output so far. */
export interface PartialResult {
  content: Content[];
  details: unknown;
}

/** What a call would touch, with canonical paths, so that a rule on paths can't be walked around. */
export interface Access {
  operation: "read" | "write" | "list" | "exec";
  path: string;
}

/** What `beforeToolCall` gets. `args` are validated and may be changed in place; changed ones are validated again. */
export interface BeforeToolCall {
  toolCallId: string;
  name: string;
  args: Record<string, unknown>;
  access: Access[];
  context: unknown;
  signal: AbortSignal;
}

/** What `afterToolCall` gets. */
export interface AfterToolCall<M = ToolDetails> extends Omit<BeforeToolCall, "access"> {
  result: ToolResult<M>;
}

/** The cuts: an output ends at whichever limit is reached first. Both at least 1. */
export interface Limits {
  /** Default 2000. */
  maxLines?: number;
  /** UTF-8 bytes. Default 51,200. */
  maxBytes?: number;
  /** Per tool, over the two above. */
  perTool?: {
    [K in ToolName]?: {
      maxLines?: number;
      maxBytes?: number;
      /** How many results `grep`, `find` and `ls` show where the model does not say. Defaults 100, 1000 and 500. */
      limit?: number;
    };
  };
}

/**
 * Makes images fit for a model: the option `images.processor`. It is asked for every PNG, JPEG, GIF, WebP and BMP that
 * `read` is to show, whatever its size.
 *
 * @param bytes the whole file; the array is the processor's own.
 * @param mimeType `"image/png"`, `"image/jpeg"`, `"image/gif"`, `"image/webp"` or `"image/bmp"`.
 * @param options the limits of the option `images`, and a signal that aborts with the call.
 * @returns the image as base64, of at most `maxBytes` characters, with lines for the model in `hints`; or why there is
 *   none, which the model reads. A processor that throws, rejects or answers something else costs no more than the
 *   image: the result says so.
 *
 * @example
 * ```ts
 * const processor: ImageProcessor = async (bytes, mimeType, { maxWidth }) => {
 *   const small = await resize(bytes, maxWidth); // WebP, say
 *   return { ok: true, data: small.toBase64(), mimeType: "image/webp", hints: [] };
 * };
 * ```
 */
export type ImageProcessor = (
  bytes: Uint8Array<ArrayBuffer>,
  mimeType: string,
  options: {
    autoResize: boolean;
    maxWidth: number;
    maxHeight: number;
    maxBytes: number;
    signal: AbortSignal;
  },
) => Promise<{ ok: true; data: string; mimeType: string; hints: string[] } | { ok: false; message: string }>;

/** Which images `read` shows, and how. */
export interface ImageOptions {
  /**
   * Default: in a page or a worker (where there are `createImageBitmap` and `OffscreenCanvas`) the platform's own
   * codecs. They are asked where an image is over a limit, is a BMP, or is turned by EXIF. It becomes the smaller of
   * PNG and JPEG in the largest size that fits, and the text says by how much coordinates are to be multiplied.
   * Elsewhere, and with `null`, images within the limits are shown as they are, and of others a line says how large
   * they are.
   */
  processor?: ImageProcessor | null;
  /** `false`: what is over a limit is not made smaller, and not shown. Default `true`. */
  autoResize?: boolean;
  /** Whether the model takes images; a function is asked before each call. `false`: a line says so. Default `true`. */
  supported?: boolean | (() => boolean);
  /** Pixels, at least 1. Default 2000. */
  maxWidth?: number;
  /** Pixels, at least 1. Default 2000. */
  maxHeight?: number;
  /** Bytes of base64, at least 1. Default 4,718,592 (4.5 MB). */
  maxBytes?: number;
}

/** How the shell tools run commands: prefix, then the session's variables, then the hook. */
export interface ShellOptions {
  /** What every bash command begins with, in a line of its own, such as `set -e` or `source ~/.profile`. */
  commandPrefix?: string;
  /**
   * The last look at a command before it is run: change it in place, or return what is to be changed. A throw makes
   * the call an error, and nothing runs. It decides nothing for the model: to block a call there is `beforeToolCall`.
   */
  spawnHook?(spawn: ShellSpawn): MaybePromise<void | Partial<ShellSpawn>>;
}

/** A command as it is about to be run. */
export interface ShellSpawn {
  /** With the prefix. */
  command: string;
  /** The working directory; a relative one is taken from the environment's. */
  cwd: string;
  /** Variables to set, the session's among them. Inherited ones stay as they are. */
  env: Record<string, string>;
}

/** Facts about the session; each that is there is set for commands as an environment variable. */
export interface Session {
  /** `PI_SESSION_ID` */
  id?: string;
  /** `PI_SESSION_FILE` */
  file?: string;
  /** `PI_PROVIDER` */
  provider?: string;
  /** `PI_MODEL` */
  model?: string;
  /** `PI_REASONING_LEVEL` */
  reasoningLevel?: string;
}

/**
 * Options of `createToolset`. An option that is not listed here is refused, not ignored.
 *
 * @typeParam N the tools in `tools`, which the results are then narrowed to.
 */
export interface ToolsetOptions<N extends ToolName = ToolName> {
  /** Register exactly these, all active. */
  tools?: readonly N[];
  /** Neither registered nor active. */
  excludeTools?: readonly ToolName[];
  /**
   * Active at the start. Default read, bash, edit, write (powershell where there is no bash); without a shell read, edit,
   * write, grep, find, ls.
   */
  defaultTools?: readonly ToolName[];
  /**
   * The directory that the file tools are confined to: absolute, or relative to the environment's `cwd`, which has
   * to be inside. A path that leads outside, by `..`, by a tolerant reading or by a link, is an error with code
   * `outside_root`; so is one through a link that does not resolve, and any link where the environment has no
   * `canonicalPath`. It is checked per operation: another process that swaps a directory for a link in between is
   * not held.
   *
   * It does not confine a shell. With a root, `bash` is therefore registered only where `tools` or `defaultTools`
   * name it.
   */
  root?: string;
  /** `write`, `edit` and the shell are not registered. */
  readOnly?: boolean;
  /**
   * With `preserveEncoding`, `write` gives a file that it overwrites the BOM, the encoding (UTF-8, UTF-16) and the
   * line endings that it has; mixed endings are no form to keep. Default `false`: the content is stored as it is, in
   * UTF-8, and the result's text says what that changed.
   */
  write?: { preserveEncoding?: boolean };
  limits?: Limits | (() => Limits);
  /** How often `onUpdate` is called while a command runs. Default 100 ms. */
  updates?: { intervalMs?: number };
  /**
   * How far arguments of a wrong type are brought to the schema's. Default `"safe"`: obvious slips only (`"5"` for 5,
   * an array as JSON text, a lone item for a list of one), and null never becomes a value.
   *
   * `"ajv"` does what AJV 8 does with `coerceTypes: true`, for hosts whose tools have relied on that: scalars among
   * each other, also `"0x10"` to 16, `true` to 1, and a required null to `0`, `""` or `false`; never to or from an
   * array. Text that reads as an infinity is an error. `"none"` changes nothing. In every mode an optional property
   * that is null where null does not fit is dropped.
   */
  coercion?: "safe" | "ajv" | "none";
  images?: ImageOptions;
  /** Handed to the hooks. */
  context?: unknown | (() => unknown);
  session?: Session | (() => Session);
  /** `false` keeps the session's facts from commands. Inherited ones are removed all the same. */
  exposeSessionEnvironment?: boolean;
  /** How commands are run. */
  shell?: ShellOptions;
  /**
   * What neither the model nor a log is to see, such as the tokens that commands get: each occurrence becomes
   * `[redacted]`, the longest first, in content, details, updates, events and the files that output is kept in, also
   * where it comes in pieces. Hooks and tools get everything; files that `write` and `edit` produce are as they were
   * asked for, and a patch with a secret in it is null. An encoded secret (base64, say) is another text.
   *
   * A function gets whole lines, each with its line feed (of a longer one 64 KB at a time), and returns what is shown.
   * One that throws hides the line.
   */
  secrets?: readonly string[] | ((text: string) => string);
  /** Runs after validation: block the call, or change its arguments. A throw makes the call an error. */
  beforeToolCall?(
    call: BeforeToolCall,
  ): MaybePromise<void | { block?: boolean; reason?: string; terminate?: boolean } | { args: unknown }>;
  /** Runs after execution: replaces `content`, `details`, `isError`, `usage` or `terminate`, field by field. */
  afterToolCall?(call: AfterToolCall<DetailsMap<N>>): MaybePromise<void | {
    content?: Content[];
    details?: unknown;
    isError?: boolean;
    usage?: unknown;
    terminate?: boolean;
  }>;
}

/** Something that is wrong at a place. */
export interface SchemaIssue {
  /**
   * Of a value, keys and indices with dots between them, such as `edits.0.newText`; of a schema, a JSON Pointer, such as
   * `/properties/a/type`. Empty for the whole.
   */
  path: string;
  /** What was expected, and what was found. */
  message: string;
}

/** What checking a value comes to: it as it was repaired, or what is wrong with it, sorted by path, at most 1000. */
export type CheckedValue = { ok: true; value: unknown } | { ok: false; errors: SchemaIssue[] };

/** Options of `compileSchema`. An option that is not listed here is refused, not ignored. */
export interface CompileOptions {
  /** How far values of a wrong type are brought to the schema's, as in a toolset. Default `"safe"`. */
  coercion?: "safe" | "ajv" | "none";
  /** Whether an optional property that is null, where null does not fit, is dropped. Default `true`. */
  dropOptionalNulls?: boolean;
  /** Whether `format` is checked. Default `false`: it says what a text is for. Unknown formats always fit. */
  formats?: boolean;
  /** The draft of a schema whose `$schema` names none. Default 2020-12. */
  draft?: "4" | "6" | "7" | "2019-09" | "2020-12" | "draft-04" | "draft-06" | "draft-07";
  /** Documents that references lead to, by URI, relative to the schema's `$id` or not. None is ever fetched. */
  resources?: Record<string, object | boolean>;
}

/**
 * A schema that values are checked against.
 *
 * @example
 * ```ts
 * using schema = compileSchema({ type: "object", properties: { n: { type: "integer" } } }); // disposed at the end
 * ```
 */
export interface CompiledSchema {
  /**
   * Repairs and checks a value, which is not changed. Unlike argument text, a string is a string here.
   *
   * @returns the value as it should be used, always one of its own, or what is wrong with it; also where it is no JSON.
   * @throws {ToolError} `disposed`; `trapped` where a wasm module failed: it is restarted, and the next check works.
   */
  check(value: unknown): CheckedValue;
  /** What had to be mended in the schema, which works all the same; a {@link SchemaIssue} each. */
  readonly warnings: readonly SchemaIssue[];
  /** Frees what it takes in the wasm module. What is forgotten is freed too, some time. */
  dispose(): void;
  [Symbol.dispose](): void;
}

/**
 * How a provider is asked to sample a tool's arguments: `false` for not at all; `json_schema` for the strict form of its
 * schema, either where there is one (`prefer`) or else as an error (`require`); `grammar` for one of OpenAI's grammars,
 * where the tool has exactly one required property, of type string, which the grammar is of. Other providers get a tool
 * with a grammar as any other.
 */
export type ConstrainedSampling =
  | false
  | { type: "json_schema"; strict: "prefer" | "require" }
  | { type: "grammar"; variants: { openai_lark?: string; openai_regex?: string } };

/** A tool's JSON Schema. What is absent is the schema of a tool without arguments. */
export type ToolSchema = object | true | null | undefined;

/** JSON Schema of an object, as it stands in a declaration. */
export interface ObjectSchema {
  type: "object";
  properties: Record<string, unknown>;
  required?: string[];
  [keyword: string]: unknown;
}

/** A text that a grammar describes, in OpenAI's Responses. In Chat Completions both are in a `grammar`. */
export interface GrammarFormat {
  type: "grammar";
  syntax: "lark" | "regex";
  definition: string;
}

/** Format → a tool as that provider's API lists it. */
export interface Declared {
  "json-schema": { name: string; description: string; parameters: ObjectSchema };
  /** Messages. `strict` is there where it is true. */
  anthropic: { name: string; description: string; input_schema: ObjectSchema; strict?: true };
  /** Chat Completions; `custom` for a tool with a grammar. */
  "openai-chat":
    | {
        type: "function";
        function: { name: string; description: string; parameters: ObjectSchema; strict: boolean };
      }
    | {
        type: "custom";
        custom: {
          name: string;
          description: string;
          format: { type: "grammar"; grammar: Omit<GrammarFormat, "type"> };
        };
      };
  /** Responses; `custom` for a tool with a grammar. */
  "openai-responses":
    | { type: "function"; name: string; description: string; parameters: ObjectSchema; strict: boolean }
    | { type: "custom"; name: string; description: string; format: GrammarFormat };
  /**
   * A function declaration. Its schema is Gemini's own, with the names of types in small letters, which the API takes
   * as well as the constants of its SDK.
   */
  gemini: { name: string; description: string; parameters: ObjectSchema };
  /** What `tools/list` answers. */
  mcp: {
    name: string;
    title?: string;
    description: string;
    inputSchema: ObjectSchema;
    annotations: { readOnlyHint: boolean; destructiveHint: boolean; openWorldHint: boolean };
  };
}

/** Whose API a declaration is for. */
export type DeclarationFormat = keyof Declared;

/** A tool as a model sees it, and as an agent loop runs it. */
export interface AgentTool {
  name: string;
  label: string;
  description: string;
  /** JSON Schema. */
  parameters: Record<string, unknown>;
  /** How a provider is asked to sample them. Absent: it is not. */
  constrainedSampling?: ConstrainedSampling;
  /** One line for a system prompt. */
  promptSnippet: string;
  /** Rules for a system prompt. */
  promptGuidelines: readonly string[];
  /** Goes through the whole pipeline; throws a `ToolError` where `call` answers an error result. */
  execute(
    toolCallId: string,
    params: unknown,
    signal?: AbortSignal,
    onUpdate?: (partial: PartialResult) => void,
  ): Promise<{ content: Content[]; details: unknown; terminate?: boolean }>;
}

/**
 * What happens in a toolset, per call in this order. A listener that throws is ignored. Names and arguments are as
 * the model sent them.
 */
export type ToolEvent<M = AnyDetails> = { toolCallId: string; toolName: string } & (
  | { type: "tool_execution_start"; args: string | object }
  | { type: "tool_execution_update"; partial: PartialResult }
  | { type: "mutation"; change: FileChange }
  | { type: "tool_execution_end"; result: ToolResult<M>; isError: boolean; durationMs: number }
);

/** What `setActive` changed, for the next message to the model. */
export interface ToolChanges {
  toolsAdded: {
    name: string;
    description: string;
    parameters: Record<string, unknown>;
    constrainedSampling?: ConstrainedSampling;
  }[];
  toolsRemoved: string[];
}

/**
 * The tools over one environment.
 *
 * @typeParam M tool name → `details` of its results. `createToolset` knows them; a function that takes any toolset
 *   leaves it out.
 *
 * @example
 * ```ts
 * using toolset = await createToolset(env); // disposed at the end of the block
 * ```
 */
export interface Toolset<M = AnyDetails> {
  /** Every tool there is, whether or not the model sees it. */
  readonly registered: string[];
  /** What the model sees, in order. */
  readonly active: string[];
  /** The active tools, for an agent loop or a request. Each is a Standard Schema of its arguments, too. */
  readonly tools: (AgentTool & StandardTool)[];
  /**
   * The active tools as a provider's API lists them, for a request. A tool is strict where its `constrainedSampling`
   * asks for it and its schema has a strict form; for Anthropic, up to 20 tools and 16 unions in all are.
   *
   * @param format whose API. Default `"json-schema"`.
   * @throws {ToolError} `not_supported` for a tool that requires to be strict and cannot be: `Tool "NAME" requires
   *   JSON-schema constrained sampling, but …`; `invalid_arguments` for a format that there is not; `disposed`.
   *
   * @example
   * ```ts
   * await anthropic.messages.create({ model, max_tokens, messages, tools: toolset.declarations("anthropic") });
   * ```
   */
  declarations<F extends DeclarationFormat = "json-schema">(format?: F): Declared[F][];
  /** Runs one call, from the model's text to the result. Never rejects. */
  call(call: ToolCall, options?: CallOptions): Promise<ToolResult<M>>;
  /** Hears of every call. Returns the way to stop. */
  subscribe(listener: (event: ToolEvent<M>) => void): () => void;
  /** Which tools the model sees. Unknown names are ignored; tools that stay keep their order. */
  setActive(names: readonly string[]): ToolChanges;
  /** Running calls finish; later ones are errors with code `disposed`. */
  dispose(): void;
  [Symbol.dispose](): void;
}

/** Where a wasm module comes from. */
export type WasmSource =
  | WebAssembly.Module
  | BufferSource
  | Response
  | URL
  | string
  | Promise<WebAssembly.Module | BufferSource | Response | URL | string>;
