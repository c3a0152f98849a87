/**
 * The part of just-bash that is used, as types: just-bash itself is never imported. Tried with 3.4.2.
 *
 * @module
 */

/** The part of just-bash's file systems that is used. Its Errors have no code: the message begins with `ENOENT:`. */
export interface BashFileSystemLike {
  readFileBuffer(path: string): Promise<Uint8Array>;
  writeFile(path: string, content: Uint8Array): Promise<void>;
  stat(path: string): Promise<BashStatLike>;
  lstat(path: string): Promise<BashStatLike>;
  readdir(path: string): Promise<string[]>;
  readlink(path: string): Promise<string>;
  realpath(path: string): Promise<string>;
  mkdir(path: string, options?: { recursive?: boolean }): Promise<void>;
  appendFile(path: string, content: Uint8Array): Promise<void>;
  rm(path: string, options?: { recursive?: boolean }): Promise<void>;
  mv(from: string, to: string): Promise<void>;
}

/** What its `stat` tells. */
export interface BashStatLike {
  isFile: boolean;
  isDirectory: boolean;
  isSymbolicLink: boolean;
  size: number;
  mtime: Date;
}

/** The part of just-bash's `Bash` that is used. */
export interface BashLike {
  readonly fs: BashFileSystemLike;
  exec(
    command: string,
    options?: {
      cwd?: string;
      env?: Record<string, string>;
      replaceEnv?: boolean;
      rawScript?: boolean;
      signal?: AbortSignal;
    },
  ): Promise<{
    stdout: string;
    stderr: string;
    exitCode: number;
    stdoutKind?: "text" | "bytes";
    stdoutEncoding?: "binary";
  }>;
  getCwd(): string;
  getEnv(): Record<string, string>;
}
