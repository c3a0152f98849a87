/**
 * Files in memory that grow.
 *
 * @module
 */

/** The bytes of a file, which may be the beginning of more room. */
export interface Growing {
  bytes: Uint8Array;
  /** What `bytes` is the beginning of, where it was made here with room to grow. */
  room?: Uint8Array;
}

/** Adds bytes at the end. What was read before does not change. */
export function append(file: Growing, added: Uint8Array): void {
  const { length } = file.bytes;
  const needed = length + added.length;
  if (!file.room || file.room.length < needed) {
    file.room = new Uint8Array(needed * 2);
    file.room.set(file.bytes);
  }
  file.room.set(added, length);
  file.bytes = file.room.subarray(0, needed);
}
