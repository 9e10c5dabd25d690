import { hash, randomBytes } from 'node:crypto';

const SEAL_LENGTH = 16;

/**
 * Names for the versions of one feed. The seal is made with a secret that only this feed has, so a
 * cursor of another feed, or a made-up one, reads as unknown, and none tells whose feed it is of or
 * whether that one still runs.
 */
export class Cursors {
  readonly #secret = randomBytes(16).toString('hex');

  write(version: number): string {
    const name = version.toString(36);
    return `${name}.${this.#seal(name)}`;
  }

  /** Null where the cursor is not one of this feed's. */
  read(cursor: string): number | null {
    const [name, seal, ...rest] = cursor.split('.', 3);
    if (!name || seal === undefined || rest.length > 0) return null;
    // A seal fits one spelling only, which is therefore one that was written here.
    return seal === this.#seal(name) ? Number.parseInt(name, 36) : null;
  }

  #seal(name: string): string {
    return hash('sha256', `${this.#secret}.${name}`, 'base64url').slice(0, SEAL_LENGTH);
  }
}
