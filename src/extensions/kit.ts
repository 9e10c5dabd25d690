import type { InputFieldMap, InputShapeFromFields, ObjectRef } from '@pothos/core';

/**
 * The public types of extensions: a team's own types and fields beside the contract's. This file imports nothing of the
 * service, so it can be read, and published, alone. A minor version may add to it; it takes nothing away.
 */

/** The default export of a file that `EXTENSIONS` names. It is called once, at the start. */
export type Extension = (kit: Kit) => void | Promise<void>;

/** Where the file exports `kitVersion` as well, the start stops unless it is this one. */
export interface Kit {
  readonly version: 1;
  /** Pothos' builder of the schema, with the scalars `DateTime` and `JSON`. A resolver gets an ExtensionContext. */
  readonly builder: Builder;
  /** The contract's types, to be returned by fields and to be given more of them. */
  readonly refs: Refs;
  /** Declares another service, which gets a pool, breakers, retries, metrics and spans of its own. */
  backend<const Read extends Paths, const Write extends Writes = Record<never, string>>(
    options: BackendOptions<Read, Write>,
  ): Backend<keyof Read & string, keyof Write & string>;
  /**
   * Options of a field that is a list of objects, or a page that holds one: the entries by which its cost is estimated. They
   * are 50 without it (in a page with an argument `first`, as many as that says), and with `argument` as many as that
   * argument says, `most` where it says more or nothing. The resolver has to keep to it.
   */
  listSize(most: number | { readonly argument: string; readonly most: number }): FieldOptions;
  /**
   * Options of a field of `Query` or `Instrument` whose value is the same for everybody: it is resolved once in this time
   * for its arguments and its instrument. Its resolver may read nothing of the viewer.
   */
  shared(options: { readonly seconds: number }): FieldOptions;
  /**
   * Options of a field that must answer sooner than EXTENSION_TIMEOUT_MS. Past its deadline a field is null, with
   * GATEWAY_TIMEOUT, or OUTCOME_UNKNOWN for one of `Mutation`, and what settles later is dropped.
   */
  deadline(options: { readonly ms: number }): FieldOptions;
  /**
   * Options of a field that reads nothing but its object and arguments: it is computed at once, and a subscription may select
   * it; one of `refs.Position` is a field of its ticks too. A field that exposes a property of a type of your own needs them not.
   */
  computed(): FieldOptions;
  /** Adds `Query.<name>` and `Subscription.<name>Changes` of a list that is polled once however many follow it. */
  live<Row extends object, const Args extends InputFieldMap = Record<never, never>>(
    options: LiveList<Row, Args>,
  ): void;
  /** Registers a code, with what a client makes of it, and returns what makes its errors. */
  error(code: string, traits: ErrorTraits): (message: string) => Error;
}

export interface ExtensionTypes {
  Context: ExtensionContext;
  Scalars: Pick<ExtensionScalars, keyof ExtensionScalars>;
}

/**
 * The types that resolvers take and return for a scalar. Declare yours, and `builder.scalarType('Money', …)` has its types:
 * `declare module 'trading-graph/extension' { interface ExtensionScalars { Money: { Input: number; Output: number } } }`
 */
export interface ExtensionScalars {
  ID: { Input: string; Output: string };
  /** As an input it is in milliseconds since 1970. As an output a text is ISO 8601 with its offset, as JSON has it. */
  DateTime: { Input: number; Output: Date | string };
  JSON: { Input: unknown; Output: unknown };
}

type AllTypes = PothosSchemaTypes.ExtendDefaultTypes<ExtensionTypes>;
export type Builder = PothosSchemaTypes.SchemaBuilder<AllTypes>;
type Ref<Source> = ObjectRef<AllTypes, Source>;

export interface Refs {
  readonly Instrument: Ref<InstrumentSource>;
  readonly Position: Ref<PositionSource>;
  readonly Order: Ref<HoldingSource>;
  readonly Session: Ref<SessionSource>;
}

/** The properties of an instrument that a resolver of its fields is given. */
export interface InstrumentSource {
  /** The symbol, such as `EURUSD`. */
  readonly id: string;
  readonly name: string;
}

/** The properties of a position or an order that a resolver of its fields is given. */
export interface HoldingSource {
  readonly id: string;
  readonly symbol: string;
  readonly side: 'BUY' | 'SELL' | null;
  readonly units: number | null;
}

/** The properties of a position that a resolver of its fields is given; the figures that move are in `ticks` as well. */
export interface PositionSource extends HoldingSource {
  readonly invested: number | null;
  readonly priceOpen: number | null;
  readonly priceCurrent: number | null;
  readonly profit: number | null;
}

/** The properties of a session that a resolver of its fields is given. */
export interface SessionSource {
  readonly session: { readonly login: string; readonly group: string | null };
}

/** The context of a resolver's reads. It is the request's own, and must not be kept. */
export interface ExtensionContext {
  /** Id of the request, which the log has too. */
  readonly requestId: string;
  /** Aborts when nobody waits for the answer any more, or the deadline of the field has passed. */
  readonly signal: AbortSignal;
  /**
   * A header of the request, over a socket one of `headers` in its `connectionParams`; null where it has none, and for those
   * that carry a token.
   */
  header(name: string): string | null;
  /**
   * Resolves with the account once the gateway has accepted this very token for it, and rejects where it does not. There is
   * no way to a login that the token merely claims.
   */
  proved(): Promise<{ readonly login: string }>;
  /** Null where the viewer's catalog has none of that id. */
  instrument(id: string): Promise<InstrumentSource | null>;
  /** The viewer's open positions, read once for the request. */
  positions(): Promise<readonly PositionSource[]>;
}

export type FieldOptions = Readonly<Record<never, never>>;

/** Names of operations and their paths. A segment `{name}` is filled in for each call. */
export type Paths = Readonly<Record<string, string>>;

/** Names of writes, with their paths where they are sent by POST. */
export type Writes = Readonly<Record<string, string | Write>>;

export interface Write {
  /** Default: POST. */
  readonly method?: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** Names of live lists that are polled at once after it: the account's own, and those of everybody. */
  readonly refreshes?: readonly string[];
}

export interface LiveList<Row extends object, Args extends InputFieldMap> {
  /** The field of `Query`; with `Changes` behind it the subscription's. */
  readonly name: string;
  /** Another name of the subscription. */
  readonly changes?: string;
  readonly description?: string;
  /** Its events may have the fields that expose a property, and those that are `computed()`. */
  readonly type: Ref<Row>;
  /** The key of a row, which tells it apart in the list: a text that stays the same as long as the row is in it. */
  key(row: Row): string;
  /** Reads the whole list, for a proved account. Its rows are passed on as JSON. A poll has no request, so no headers. */
  read(context: ExtensionContext, args: InputShapeFromFields<Args>): Promise<readonly Row[]>;
  /** The time between two polls while anybody follows the list, from 100. */
  readonly everyMs: number;
  /** The backend whose `pollsPerSecond` counts. Needed where the file declares several. */
  readonly backend?: Backend<never, never>;
  /** `everybody`: the list is public, and its read may read nothing of the viewer. Default: `account`. */
  readonly of?: 'account' | 'everybody';
  /** The arguments of a list of everybody: one list for each set of their values. */
  readonly args?: Args;
  /** Properties that change often: a row of which nothing else has changed is in `ticks`, where they are selected. */
  readonly moving?: readonly (keyof Row & string)[];
  /** The entries by which its cost is estimated. Default: 50. */
  readonly listSize?: number;
}

export interface BackendOptions<Read extends Paths, Write extends Writes> {
  /** In lower case. Its operations are called `name.operation` in metrics, spans, logs and errors. */
  readonly name: string;
  readonly url: string;
  /** The deadline of a call, retries included. Default: 5 s. */
  readonly timeoutMs?: number;
  /** The most connections at a time. Default: 32. */
  readonly connections?: number;
  /** The largest answer that is accepted. Default: 8 MB. */
  readonly maxBytes?: number;
  /** The most polls of live lists in a second. Default: 100. */
  readonly pollsPerSecond?: number;
  /** Whether a read that may succeed a moment later is sent again, twice at most. Default: true. */
  readonly retries?: boolean;
  /** Sent with each call; may be secret. Neither GATEWAY_HEADERS nor the user's token goes there. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The header that names the proved account's login: then every call is for a proved account. */
  readonly loginHeader?: string;
  /** Sends the user's token as `authorization`: then every call is for a proved account. Default: false. */
  readonly forwardToken?: boolean;
  /** Names of headers that are sent on, as the request has them. */
  readonly forward?: readonly string[];
  /** Reads are sent by GET. */
  readonly reads: Read;
  /** Writes go by POST unless they say otherwise; each is sent once, with an `Idempotency-Key`. */
  readonly writes?: Write;
  /**
   * Makes the result of an answer below 500 (but 429, and 414 and 431 of a read), or throws. Without it a 2xx is its JSON, a
   * 4xx an error. For a write anything thrown is OUTCOME_UNKNOWN, but errors of `error()` and, at a 4xx but 408, a
   * GraphQLError with a code of the caller's, such as BAD_USER_INPUT. It gets no body that is no JSON but a read's 4xx, as
   * undefined.
   */
  readonly judge?: (answer: BackendAnswer) => unknown;
}

export interface BackendAnswer {
  readonly operation: string;
  readonly status: number;
  /** The JSON of the body; undefined where there is none. */
  readonly body: unknown;
}

export interface BackendRequest {
  /** The values of the path's segments. */
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
}

export interface WriteRequest extends BackendRequest {
  /** Sent as JSON. Default: `{}`, and none for a DELETE. */
  readonly body?: unknown;
  /**
   * The same for each attempt at one write, so that the service can tell a repeat. Default: the request's own where
   * `forward` names the header, with the name of its field behind it for each write but the first, else a new one.
   */
  readonly idempotencyKey?: string;
}

export interface Backend<Read extends string, Write extends string> {
  /** Sent once for a request of a client, however often it is asked for, and anew after a write. */
  read<Body = unknown>(
    context: ExtensionContext,
    operation: Read,
    request?: BackendRequest,
  ): Promise<Body>;
  /** Loads many keys by one read: what it returns is called once for each key. */
  loader<Value, Body = unknown>(
    operation: Read,
    batch: Batch<Value, Body>,
  ): (context: ExtensionContext, key: string) => Promise<Value>;
  /**
   * Sent for a proved account, whatever becomes of its client, at most 60 times in a minute for an account and 30 for a token.
   * A call that was surely never sent is GATEWAY_UNAVAILABLE, one that may have been is OUTCOME_UNKNOWN.
   */
  write<Body = unknown>(
    context: ExtensionContext,
    operation: Write,
    request?: WriteRequest,
  ): Promise<Body>;
}

export interface Batch<Value, Body> {
  /** Keys of one read. Default: 100. */
  readonly most?: number;
  readonly request: (keys: readonly string[]) => BackendRequest;
  readonly pick: (body: Body, key: string) => Value;
}

export interface ErrorTraits {
  /** Whether the same request may succeed if it is repeated, and repeating it does no harm. */
  readonly retryable: boolean;
  /** Tells operators whose the failure is: a fault is counted against the service. */
  readonly outcome: 'caller' | 'refused' | 'fault';
  /** Tells a client's developer what to do; the log of the start lists the codes with it. */
  readonly advice: string;
}
