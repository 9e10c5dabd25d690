import type { ExecutionResult } from 'graphql';
import type { MaybePromise } from '../../lib/maybe-promise.ts';
import { PullStream } from '../../lib/pull-stream.ts';
import type { JsonText } from '../operation/result-sink.ts';
import type { PartsFormat } from '../operation/transport-context.ts';
import { FollowedEvents } from './delivery.ts';

export interface AnswerPart {
  readonly label: string | null;
  /** A part that fails carries its errors. Where it rejects, the answer ends. */
  readonly result: Promise<ExecutionResult>;
}

interface DeferredAnswerOptions {
  readonly format: PartsFormat;
  readonly first: Promise<ExecutionResult>;
  readonly parts: readonly AnswerPart[];
  /** Writes one message; large ones in slices. */
  readonly write: (message: object) => MaybePromise<JsonText>;
  /** Called when all parts are made; returns what the last message has beside them. */
  readonly ended: () => object;
  readonly failure: (error: unknown) => ExecutionResult;
}

/** An answer in parts, the first without the deferred fragments. Those that are whole by then share a message. */
export function deferredAnswer(options: DeferredAnswerOptions): FollowedEvents {
  const { format, first, parts, write, ended, failure } = options;
  const { begin, next } = FORMATS[format];
  let initial: object | null = null;
  let isInitialSent = false;
  /** The data of the messages so far. */
  const shown: unknown[] = [];
  let whole: WholePart[] = [];
  let waiting = parts.length;

  const fail = (error: Error) => stream.end(error);
  const stream = new PullStream<object>({
    open() {
      first.then((result) => {
        shown.push(result.data);
        initial = { ...begin(result, parts), hasNext: true };
        stream.wake();
      }, fail);
      for (const [id, { label, result }] of parts.entries()) {
        result.then((made) => {
          whole.push({ id: String(id), label, result: made });
          stream.wake();
        }, fail);
      }
    },
    take() {
      if (isInitialSent) return nextMessage();
      isInitialSent = initial !== null;
      // Parts that were whole before are asked for again behind it.
      if (isInitialSent) queueMicrotask(() => stream.wake());
      return initial ?? undefined;
    },
    close() {},
  });

  function nextMessage(): object | undefined {
    if (whole.length === 0) return undefined;
    const taken = whole.map(notTakingAway);
    whole = [];
    waiting -= taken.length;
    const hasNext = waiting > 0;
    // The stream ends behind the message, which is not yet taken.
    if (!hasNext) queueMicrotask(() => stream.end());
    return { ...next(taken), ...(hasNext ? {} : ended()), hasNext };
  }

  /** A part fails as a whole where its errors would take away what was shown before. */
  function notTakingAway(part: WholePart): WholePart {
    const { data, errors } = part.result;
    if (errors && shown.some((before) => takesAway(data, before))) {
      return { ...part, result: { data: null, errors } };
    }
    shown.push(data);
    return part;
  }

  return new FollowedEvents(stream, {
    text: (taken) => write(taken as object),
    failure: (error) => ({ ...failure(error), hasNext: false }) as ExecutionResult,
    ended() {},
  });
}

function takesAway(later: unknown, before: unknown): boolean {
  if (before === null || before === undefined) return false;
  if (typeof later !== 'object' || typeof before !== 'object') return later === null;
  return (
    later === null ||
    Object.entries(later).some(
      ([key, value]) =>
        Object.hasOwn(before, key) && takesAway(value, (before as Record<string, unknown>)[key]),
    )
  );
}

interface WholePart {
  readonly id: string;
  readonly label: string | null;
  readonly result: ExecutionResult;
}

interface Messages {
  begin(result: ExecutionResult, parts: readonly AnswerPart[]): object;
  next(whole: readonly WholePart[]): object;
}

const path: readonly string[] = [];
const named = (label: string | null) => label !== null && { label };

const FORMATS: Readonly<Record<PartsFormat, Messages>> = {
  // The proposal of 2022, as Apollo's clients and the network layers for Relay read it.
  deferSpec: {
    begin: (result) => result,
    next: (whole) => ({
      incremental: whole.map(({ label, result }) => ({ ...result, path, ...named(label) })),
    }),
  },
  // The present proposal, as graphql 17 writes it.
  incrementalSpec: {
    begin: (result, parts) => ({
      ...result,
      pending: parts.map(({ label }, id) => ({ id: String(id), path, ...named(label) })),
    }),
    next(whole) {
      const incremental = whole
        .filter(({ result }) => result.data != null)
        .map(({ id, result }) => ({ id, ...result }));
      return {
        ...(incremental.length > 0 && { incremental }),
        completed: whole.map(({ id, result: { data, errors } }) =>
          data == null ? { id, errors } : { id },
        ),
      };
    },
  },
};
