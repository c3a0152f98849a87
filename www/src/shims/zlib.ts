/**
 * The part of node:zlib that just-bash's browser build imports. Browsers have no synchronous gzip, so gzip,
 * gunzip, zcat and tar -z fail with these words; every other command works.
 */

export const constants = {};

export function gzipSync(): never {
  throw new Error("gzip is not available in this page");
}

export function gunzipSync(): never {
  throw new Error("gunzip is not available in this page");
}
