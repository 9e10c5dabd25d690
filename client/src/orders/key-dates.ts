import { networkError } from '../request/failures.ts';
import {
  ageOf,
  type Clocks,
  datedStamp,
  ERROR_MS,
  elapsedMs,
  type KeyAge,
  type KeyStamp,
  MAX_LIFE_MS,
  momentOf,
  stampNow,
} from './key-age.ts';

const UNUSED: KeyStamp = { at: null, up: 0, made: null };
const UNDATED =
  'The order was not sent, because no answer of the server tells its time: the headers `Date` and `X-Request-Id` are missing.';

/** When an order's key was first used, and the dates that the server is sent of it. */
export class KeyDates {
  readonly #clocks: Clocks;
  #stamp = UNUSED;
  /** Null before the first request with the key. */
  #sent: { readonly keyMade: string | undefined } | null = null;

  constructor(clocks: Clocks) {
    this.#clocks = clocks;
  }

  /** Takes over the dates of an earlier run of the app. */
  adopt(stamp: KeyStamp, keyMade: string | undefined): void {
    this.#stamp = stamp;
    this.#sent = { keyMade };
  }

  /** Starts the key's clock with the tap, because the user waits from then on, whether or not the order can be sent yet. */
  begin(): void {
    if (this.#stamp === UNUSED) this.#stamp = stampNow(this.#clocks);
  }

  /** Forgets the first use, in which nothing was sent. */
  reset(): void {
    this.#stamp = UNUSED;
  }

  /** Dates the key by the server's clock, before the first request with it. Throws where no answer has told the server's time. */
  fix(): void {
    this.#stamp = datedStamp(this.#stamp, this.#clocks);
    if (this.#stamp.made === null) throw networkError(UNDATED);
    this.#sent ??= { keyMade: momentOf(this.#stamp, 0) };
  }

  get age(): KeyAge {
    return ageOf(this.#stamp, this.#clocks);
  }

  /** By the clock on the wall; null where nobody knows it. */
  get at(): number | null {
    return this.#stamp.at;
  }

  /** By the server's clock; null where that was not known. */
  get made(): number | null {
    return this.#stamp.made;
  }

  /** How long the order may still be sent, where it may for so long at most. */
  leftMs(maxWaitMs: number): number {
    const usedForMs = elapsedMs(this.#stamp, this.#clocks);
    return Math.max(0, Math.min(maxWaitMs, MAX_LIFE_MS) - usedForMs);
  }

  /** Since when the server would have to know of an order with the key; undefined where the server's time was not known. */
  get since(): string | undefined {
    return momentOf(this.#stamp, -ERROR_MS);
  }

  /** Until when the order may be sent, by the server's clock; undefined where that is not known. */
  sendBefore(maxWaitMs: number): string | undefined {
    return this.#stamp.isEarly
      ? undefined
      : momentOf(this.#stamp, Math.min(maxWaitMs, MAX_LIFE_MS));
  }

  /**
   * When the key was made, by the server's clock; undefined where that was not known. A key counts as made at the tap whose
   * request is the first with it, since until then it exists in this app alone. So an order that was sent at T has a `keyMade` of
   * T at the latest:
   * - The value is fixed before the first request, and no later tap or better known clock changes it. A key that was sent without
   *   one never gets one.
   * - It is the server's time at the earliest, less the time since the tap by the clock that says more. Where both of the
   *   device's clocks lost time in between, it is still no later than the server's time at this moment, before the request.
   * - It is never the device's own time: where no answer has told the server's, nothing is sent.
   */
  get keyMade(): string | undefined {
    return this.#sent?.keyMade;
  }

  /** A server that refuses `keyMade` takes the order without it, as from an earlier client, but not after a loss of records. */
  leaveOutKeyMade(): void {
    this.#sent = { keyMade: undefined };
  }
}
