import { hash, randomBytes } from 'node:crypto';

const SEAL_LENGTH = 16;

/**
 * Cursors of one feed's versions in one of its views. The signature uses a secret of this view, so that a cursor
 * of another feed or view, or a forged one, reads as unknown, and none reveals whose feed it is from or whether
 * that one still runs.
 */
export class Cursors {
  readonly #secret = randomBytes(16).toString('hex');
  #last: { readonly version: number; readonly text: string } | null = null;

  write(version: number): string {
    if (this.#last?.version !== version) {
      const name = version.toString(36);
      this.#last = { version, text: `${name}.${this.#seal(name)}` };
    }
    return this.#last.text;
  }

  /** Null where the cursor is not one of this feed's. */
  read(cursor: string): number | null {
    const [name, seal, ...rest] = cursor.split('.', 3);
    if (!name || seal === undefined || rest.length > 0) return null;
    // A signature fits one spelling only, which is therefore one that was written here.
    return seal === this.#seal(name) ? Number.parseInt(name, 36) : null;
  }

  #seal(name: string): string {
    return hash('sha256', `${this.#secret}.${name}`, 'base64url').slice(0, SEAL_LENGTH);
  }
}
