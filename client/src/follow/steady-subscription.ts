import type { OwnSink } from '../core.ts';
import type { Environment } from '../environment.ts';
import { networkError, serverError } from '../request/failures.ts';
import type {
  FollowedObservable,
  FollowRequest,
  FollowSink,
  SubscribeClient,
} from './subscribe-function.ts';

interface SteadyOptions<Data> {
  readonly client: SubscribeClient;
  /** Called for each attempt, because the cursor moves on. Two attempts in a row have different `heartbeatSeconds`. */
  readonly request: (attempts: number) => FollowRequest;
  readonly sink: OwnSink<Data>;
  readonly environment: Pick<Environment, 'random' | 'after' | 'uptime'>;
}

/** Ends a subscription. */
type Leave = () => void;

const BASE_MS = 1_000;
/** The longest pause after a lost connection, and the time for the first answer of an attempt. */
const SOON_MS = 4_000;
/** The shortest silence after which the connection is tried. */
const SILENCE_MS = 5_000;
/** The longest: a heartbeat, and five seconds more. */
const MAX_SILENCE_MS = 20_000;
/** After this time since the start or the last answer pauses and waits are longer, for a slow network. */
const PATIENT_AFTER_MS = 60_000;
const STRETCH = 5;

/**
 * A subscription by another client, which is opened again whenever it is lost, ends, or falls silent. A platform may never
 * report a dead connection, and not every client can send a ping. So after a silence of four times the last pause a second
 * subscription is opened: the server answers it at once, and it takes the place of the first.
 */
export class SteadySubscription<Data> {
  readonly #options: SteadyOptions<Data>;
  /** The open subscriptions: one, or two while a silent connection is tried. Answers of others are ignored. */
  readonly #attempts = new Map<object, Leave>();
  /** The attempt that has answered last. */
  #answering: object = {};
  /** Cancels the present timer. */
  #cancel: () => void = () => {};
  #opened = 0;
  #failures = 0;
  #answeredAt: number;

  constructor(options: SteadyOptions<Data>) {
    this.#options = options;
    this.#answeredAt = options.environment.uptime();
    this.#open();
  }

  end(): void {
    this.#cancel();
    this.#leaveOthers(null);
  }

  #open(): void {
    const { client, request } = this.#options;
    const attempt = {};
    this.#attempts.set(attempt, () => {});
    this.#wait(this.#soonMs, () => this.#dead());
    const ifPresent = (task: () => void) => {
      if (this.#attempts.has(attempt)) task();
    };
    const failed = (error: unknown) => ifPresent(() => this.#failed(error));
    const sink: FollowSink = {
      next: (result) => {
        const { data, errors, error = errors } = Object(result);
        if (data) ifPresent(() => this.#answered(attempt, data, errors));
        else failed(error);
      },
      error: failed,
      complete: () => failed(undefined),
    };
    try {
      this.#opened += 1;
      const subscribed = client.subscribe(request(this.#opened), sink);
      const leave = typeof subscribed === 'function' ? subscribed : leaveOf(subscribed, sink);
      // The attempt may have ended before it returned.
      if (this.#attempts.has(attempt)) this.#attempts.set(attempt, leave);
      else leave();
    } catch (thrown) {
      failed(thrown);
    }
  }

  #answered(attempt: object, data: unknown, errors: unknown): void {
    const { sink, environment } = this.#options;
    if (attempt !== this.#answering) {
      this.#answering = attempt;
      this.#leaveOthers(attempt);
      sink.connected?.();
    }
    this.#failures = 0;
    const now = environment.uptime();
    const silenceMs = Math.max(SILENCE_MS, 4 * (now - this.#answeredAt));
    this.#answeredAt = now;
    this.#wait(Math.min(MAX_SILENCE_MS, silenceMs), () => this.#open());
    sink.next({ data: data as Data, errors: graphqlErrors(errors) });
  }

  /** The server has refused the subscription, or the connection was lost. */
  #failed(thrown: unknown): void {
    const { sink, environment } = this.#options;
    this.end();
    const [refusal] = graphqlErrors(thrown);
    if (refusal) sink.ended(refusal);
    else {
      const maxMs = Math.min(this.#soonMs, BASE_MS * 2 ** this.#failures);
      this.#failures += 1;
      this.#wait(environment.random() * maxMs, () => this.#open());
      sink.disconnected?.(networkError('The connection was lost.', thrown));
    }
  }

  #dead(): void {
    const { client, sink } = this.#options;
    this.end();
    client.terminate?.();
    this.#open();
    sink.disconnected?.(networkError('The connection was silent.'));
  }

  get #soonMs(): number {
    const silentMs = this.#options.environment.uptime() - this.#answeredAt;
    return silentMs < PATIENT_AFTER_MS ? SOON_MS : STRETCH * SOON_MS;
  }

  #wait(ms: number, task: () => void): void {
    this.#cancel();
    this.#cancel = this.#options.environment.after(ms, task);
  }

  #leaveOthers(present: object | null): void {
    for (const [attempt, leave] of this.#attempts) {
      if (attempt === present) continue;
      this.#attempts.delete(attempt);
      leave();
    }
  }
}

function leaveOf(observable: FollowedObservable, sink: FollowSink): Leave {
  const subscription = observable.subscribe(sink);
  return () => subscription.unsubscribe();
}

/** The GraphQL errors in a list, or in an error of Apollo Client or urql. */
function graphqlErrors(thrown: unknown) {
  const { errors, graphQLErrors = errors }: { errors?: unknown; graphQLErrors?: unknown } =
    Object(thrown);
  const list = Array.isArray(thrown) ? thrown : graphQLErrors;
  return Array.isArray(list) ? list.map((error) => serverError(error, null)) : [];
}
