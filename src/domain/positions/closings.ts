/** A position that was in the list from one version until another. */
interface Closing {
  readonly id: string;
  readonly openedAt: number;
  readonly closedAt: number;
}

/** A bounded list of the latest closings, for the delta of a reader that was disconnected. */
export class Closings {
  readonly #kept: Closing[] = [];
  readonly #capacity: number;
  #forgottenAt = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  add(closing: Closing): void {
    this.#kept.push(closing);
    if (this.#kept.length <= this.#capacity) return;
    this.#forgottenAt = this.#kept.shift()?.closedAt ?? this.#forgottenAt;
  }

  /** Whether every closing after that version is still known. */
  reachesBackTo(version: number): boolean {
    return version >= this.#forgottenAt;
  }

  /** The ids that were in the list at that version and were closed since; some may be open again. */
  leftSince(version: number): Set<string> {
    const ids = new Set<string>();
    for (const { id, openedAt, closedAt } of this.#kept) {
      if (openedAt <= version && closedAt > version) ids.add(id);
    }
    return ids;
  }
}
