import { hash, randomBytes } from 'node:crypto';

interface EventViewOptions<Event> {
  /** The changes since a version, where wanted with ticks apart; null where the version is too old. */
  readonly compute: (version: number, cursor: string, ticks: boolean) => Event | null;
  /** Whether an event of what has changed since a version has nothing to say. */
  readonly isEmpty: (event: Event, version: number) => boolean;
}

/** The version before all others, from which everything is a change. */
export const SNAPSHOT = 0;
const SEAL_LENGTH = 16;

/**
 * One kind of event over a list's state. All readers at the same version get the very same event object, so
 * that the fan-out computes and serialises it once.
 *
 * Its cursors are signed with a secret of this view, so that a cursor of another list or view, or a forged one,
 * reads as unknown, and none reveals whose list it is from or whether that one still runs.
 */
export class EventView<Event extends { readonly snapshot: boolean }> {
  readonly #options: EventViewOptions<Event>;
  readonly #secret = randomBytes(16).toString('hex');
  /** The events of the present state by the version each starts from, the same for nearly all readers, and by its ticks. */
  readonly #events = new Map<number, Event>();
  /** The version of the present state; its own methods alone change it. */
  version = 0;
  #cursor: string | null = null;

  constructor(options: EventViewOptions<Event>) {
    this.#options = options;
  }

  /** The version a client's cursor stands for; null where it is not one of this view's. */
  versionOf(cursor: string | null): number | null {
    const [name = ''] = cursor?.split('.', 1) ?? [];
    // A signature fits one spelling only, which is therefore one that was written here.
    return cursor === this.#cursorOf(name) ? Number.parseInt(name, 36) : null;
  }

  /** The changes since a version; everything where the version is too old. */
  since(version: number, ticks: boolean): Event {
    const key = 2 * version + Number(ticks);
    const known = this.#events.get(key);
    if (known !== undefined) return known;
    this.#cursor ??= this.#cursorOf(this.version.toString(36));
    const { compute } = this.#options;
    const event = compute(version, this.#cursor, ticks) ?? this.since(SNAPSHOT, ticks);
    this.#events.set(key, event);
    return event;
  }

  isEmpty(event: Event, version: number): boolean {
    return !event.snapshot && this.#options.isEmpty(event, version);
  }

  /** Called whenever the state has changed. */
  changed(version: number): void {
    if (version !== this.version) this.#cursor = null;
    this.version = version;
    // Clearing an empty map would allocate a new table each time.
    if (this.#events.size > 0) this.#events.clear();
  }

  #cursorOf(name: string): string {
    const seal = hash('sha256', `${this.#secret}.${name}`, 'base64url').slice(0, SEAL_LENGTH);
    return `${name}.${seal}`;
  }
}
