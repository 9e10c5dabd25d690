import {
  type ExecutionResult,
  GraphQLError,
  type OperationDefinitionNode,
  type ValidatedExecutionArgs,
} from 'graphql';
import type { Caller } from '../../gateway/caller.ts';
import type { FairScheduler } from '../../lib/fair-scheduler.ts';
import { PullStream } from '../../lib/pull-stream.ts';
import { Context } from '../../schema/context.ts';
import type { Services } from '../../schema/services.ts';
import type { PreparedOperation } from '../documents/documents.ts';
import { Selections } from '../documents/selections.ts';
import { type JsonText, jsonText } from '../json-text.ts';
import { Meter } from '../limits/meter.ts';
import type { Publisher } from '../publisher.ts';
import { marksOf } from '../sharing-marks.ts';
import type { EventPace } from './event-pace.ts';
import { usesVariablesInEvents } from './event-variables.ts';
import { FollowedEvents } from './followed-events.ts';
import { type RecentResult, RecentResults, textOf } from './recent-results.ts';

/** A subscription, as it is executed for each of its events. */
export interface LiveOperation {
  readonly prepared: PreparedOperation;
  readonly args: ValidatedExecutionArgs;
  readonly cost: number;
  readonly caller: Caller;
  readonly requestId: string;
  /** The account's key in the pace and in the scheduler. */
  readonly key: string;
  /** The estimated fields of the next event, and the tokens reserved for the present one. */
  expected: number;
  reserved: number;
}

/** Ends what waits for an event's turn when the subscription has ended meanwhile. */
class SubscriptionEndedError extends Error {
  override readonly name = 'SubscriptionEndedError';
}

/** One event's result, with the meter that counted it. */
interface Made {
  readonly result: ExecutionResult;
  readonly meter: Meter;
  /** True when the result may be sent to other subscribers. */
  readonly isShared: boolean;
}

interface Making {
  readonly node: OperationDefinitionNode;
  readonly done: Promise<unknown>;
}

export interface EventResultsOptions {
  readonly services: Services;
  readonly publisher: Publisher;
  readonly scheduler: FairScheduler;
  readonly pace: EventPace;
  /** The budget of one event, in fields. */
  readonly maxCost: number;
}

export interface Following {
  /** True where the transport itself reports why a subscription ends; otherwise a last event does. */
  readonly reportsEnd: (error: unknown) => boolean;
  readonly ended: () => void;
}

type Eventually<T> = T | Promise<T>;

/**
 * Executes live events, and shares results in a fan-out. Subscribers at the same point of a stream
 * receive the same event object, so one result serves all who sent the same document. Sharing
 * requires that every field is marked as the account's, that no variables affect the event, and
 * that the run read nothing else.
 */
export class EventResults {
  readonly #options: EventResultsOptions;
  readonly #recent = new RecentResults();
  readonly #isShared = new WeakMap<OperationDefinitionNode, boolean>();
  /** Large events whose result is being computed: one single flight per event. */
  readonly #making = new WeakMap<object, Making>();

  constructor(options: EventResultsOptions) {
    this.#options = options;
  }

  follow(
    events: AsyncIterable<unknown>,
    live: LiveOperation,
    { reportsEnd, ended }: Following,
  ): FollowedEvents {
    const { signal } = live.caller;
    const stream = new FollowedEvents(events, {
      value: (event) => this.#resultOf(event as object, live, events),
      text: (event) => this.#textOf(event as object, live, events),
      failure: (error) =>
        error instanceof SubscriptionEndedError || reportsEnd(error)
          ? null
          : this.#finalResult(error, live),
      ended: () => {
        signal?.removeEventListener('abort', leave);
        ended();
      },
    });
    // Some transports propagate a disconnect only with the next event, so the AbortSignal ends the stream.
    const leave = () => void stream.return();
    if (signal?.aborted) leave();
    else signal?.addEventListener('abort', leave);
    return stream;
  }

  #finalResult(error: unknown, { caller, requestId }: LiveOperation): ExecutionResult {
    const { services, publisher } = this.#options;
    const context = new Context(services, caller, requestId);
    return publisher.publish({ errors: [asGraphQLError(error)] }, context);
  }

  #textOf(
    event: object,
    live: LiveOperation,
    events: AsyncIterable<unknown>,
  ): Eventually<JsonText> {
    return this.#paced(live, events, (waitedMs) => this.#text(event, live, waitedMs));
  }

  #text(event: object, live: LiveOperation, waitedMs: number): Eventually<JsonText> {
    const { node } = live.prepared;
    const known = this.#known(event, live);
    if (known) return this.#settled(live, known.fields, textOf(known));
    const other = this.#underWay(event, node);
    if (other) return other.then(() => this.#text(event, live, waitedMs));
    const made = this.#make(event, live, waitedMs, true);
    if (!(made instanceof Promise)) {
      // The text is memoized with the result where others may be sent it.
      return this.#keptText(event, live) ?? jsonText(made.result, made.meter);
    }
    const text = made.then((settled) => this.#written(settled, event, live));
    this.#share(event, live, text);
    return text;
  }

  async #written(
    { result, meter, isShared }: Made,
    event: object,
    { prepared: { node } }: LiveOperation,
  ): Promise<JsonText> {
    const text = await jsonText(result, meter);
    const { fields, writesEarly } = meter;
    const kept = { result: writesEarly ? null : result, fields, text };
    if (isShared) this.#recent.keep(event, node, kept);
    return text;
  }

  #resultOf(
    event: object,
    live: LiveOperation,
    events: AsyncIterable<unknown>,
  ): Eventually<ExecutionResult> {
    return this.#paced(live, events, (waitedMs) => this.#result(event, live, waitedMs));
  }

  #result(event: object, live: LiveOperation, waitedMs: number): Eventually<ExecutionResult> {
    const { node } = live.prepared;
    const known = this.#known(event, live);
    if (known?.result) return this.#settled(live, known.fields, known.result);
    const other = this.#underWay(event, node);
    if (other) return other.then(() => this.#result(event, live, waitedMs));
    const made = this.#make(event, live, waitedMs, false);
    if (!(made instanceof Promise)) return made.result;
    const result = made.then((settled) =>
      this.#written(settled, event, live).then(() => settled.result),
    );
    this.#share(event, live, result);
    return result;
  }

  /** Joins the single flight in which another subscriber's large event is being computed. */
  #underWay(event: object, node: OperationDefinitionNode): Promise<unknown> | null {
    const making = this.#making.get(event);
    return making?.node === node ? making.done : null;
  }

  #share(event: object, live: LiveOperation, made: Promise<unknown>): void {
    if (!this.#mayShare(live)) return;
    const { node } = live.prepared;
    const over = () => {
      if (this.#making.get(event)?.done === done) this.#making.delete(event);
    };
    const done = made.then(over, over);
    this.#making.set(event, { node, done });
  }

  #known(event: object, live: LiveOperation): RecentResult | null {
    return this.#mayShare(live) ? this.#recent.find(event, live.prepared.node) : null;
  }

  #keptText(event: object, live: LiveOperation): JsonText | null {
    const kept = this.#known(event, live);
    return kept && textOf(kept);
  }

  /** Runs synchronously, or once the account's token bucket allows it. */
  #paced<T>(
    live: LiveOperation,
    events: AsyncIterable<unknown>,
    make: (waitedMs: number) => Eventually<T>,
  ): Eventually<T> {
    live.reserved = live.expected;
    const stream = events instanceof PullStream ? events : null;
    const wait = this.#options.pace.admit(live.key, live.reserved, stream?.ending);
    if (wait === null) return make(0);
    // The wait can be long: whose token was refused meanwhile is sent nothing more of the account's.
    return wait.then((waitedMs) => (stream?.isEnded ? endOf(stream) : make(waitedMs)));
  }

  #settled<T>(live: LiveOperation, fields: number, value: T): T {
    this.#options.pace.settle(live.key, live.reserved, fields);
    live.expected = fields;
    return value;
  }

  #make(
    event: object,
    live: LiveOperation,
    waitedMs: number,
    isForText: boolean,
  ): Eventually<Made> {
    const { services, scheduler, maxCost } = this.#options;
    // Each event has its own context: reads must not be as old as the subscription.
    const context = new Context(services, live.caller, live.requestId);
    context.cost = live.cost;
    context.waitedMs = waitedMs;
    const estimate = Math.max(live.cost, live.expected);
    const client = live.key;
    const meter = new Meter({ maxFields: maxCost, scheduler, client, estimate, isForText });
    return meter.isCostly
      ? scheduler.run(live.key, () => this.#execute(event, live, context, meter))
      : this.#execute(event, live, context, meter);
  }

  #execute(event: object, live: LiveOperation, context: Context, meter: Meter): Eventually<Made> {
    const { prepared, args } = live;
    const run = { ...args, rootValue: event, contextValue: context };
    const result = prepared.compiled.execute(run, meter);
    if (result instanceof Promise) {
      return result.then((settled) => this.#made(settled, live, context, meter));
    }
    const made = this.#made(result, live, context, meter);
    const { fields } = meter;
    if (made.isShared) {
      this.#recent.keep(event, prepared.node, { result: made.result, fields, text: null });
    }
    return made;
  }

  #made(result: ExecutionResult, live: LiveOperation, context: Context, meter: Meter): Made {
    this.#settled(live, meter.fields, null);
    context.fields = meter.fields;
    // Subscribers to one account may have different catalogs, so reading the catalog makes a result
    // personal too. The record is checked before publishing, which itself reads values of one
    // request.
    if (context.isPersonal || context.readsCatalog) this.#isShared.set(live.prepared.node, false);
    // An event that exceeds its budget ends its subscription: the next would exceed it too.
    if (meter.isOver) throw meter.error();
    // The receipt's waiting time concerns one subscriber alone.
    const isShared = this.#mayShare(live) && !result.errors && context.waitedMs === 0;
    return { result: this.#options.publisher.publish(result, context), meter, isShared };
  }

  #mayShare({ prepared: { node }, args }: LiveOperation): boolean {
    let isShared = this.#isShared.get(node);
    if (isShared === undefined) {
      isShared = isOfAccount(args, node) && !usesVariablesInEvents(args.document, node);
      this.#isShared.set(node, isShared);
    }
    return isShared;
  }
}

/** Fails with what has ended the stream, if that is still to be said. */
async function endOf(stream: PullStream<unknown>): Promise<never> {
  await stream.next();
  throw new SubscriptionEndedError();
}

function isOfAccount(
  { schema, document }: ValidatedExecutionArgs,
  node: OperationDefinitionNode,
): boolean {
  const marks = marksOf(new Selections(schema, document), node);
  return marks !== null && [...marks].every((mark) => mark === 'account');
}

function asGraphQLError(error: unknown): GraphQLError {
  if (error instanceof GraphQLError) return error;
  const originalError = error instanceof Error ? error : new Error(String(error));
  return new GraphQLError(originalError.message, { originalError });
}
