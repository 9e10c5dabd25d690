import type { Core } from '../core.ts';

/** The age of a list, by the server's clock and this device's uptime. Its wall clock counts only without a connection. */
export class Age {
  readonly #core: Pick<Core, 'environment' | 'serverClock'>;
  #confirmed: { readonly ageMs: number; readonly up: number; readonly wall: number } | null = null;

  constructor(core: Pick<Core, 'environment' | 'serverClock'>) {
    this.#core = core;
  }

  /** Notes the time at which the server last confirmed the list; null if there is no list any more. */
  confirm(asOf: Date | null): void {
    this.#confirmed = null;
    if (asOf === null) return;
    const { environment, serverClock } = this.#core;
    const serverMs = serverClock.now() ?? asOf.getTime();
    this.#confirmed = {
      ageMs: Math.max(0, serverMs - asOf.getTime()),
      up: environment.uptime(),
      wall: environment.now(),
    };
  }

  /** Null before the first list. Without a connection the device may have slept, which only its wall clock shows. */
  ms(isFollowing: boolean): number | null {
    const { environment } = this.#core;
    const [up, wall] = [environment.uptime(), environment.now()];
    if (this.#confirmed === null) return null;
    const { ageMs, ...then } = this.#confirmed;
    return ageMs + Math.max(up - then.up, isFollowing ? 0 : wall - then.wall);
  }
}
