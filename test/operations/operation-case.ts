import type { Viewer } from '../../src/domain/auth/viewer.ts';
import type { ViewerGateway } from '../../src/domain/auth/viewer-gateway.ts';
import type { GatewayClient } from '../../src/gateway/client.ts';
import type { ReadOperation, WriteOperation } from '../../src/gateway/define-operation.ts';
import type { Caller } from '../../src/gateway/exchange.ts';
import type { Acknowledgement } from '../../src/gateway/judge.ts';
import type { Proves } from '../../src/gateway/operation-traits.ts';
import { ACKNOWLEDGED } from '../../src/gateway/operations/acknowledged.ts';
import type { OPERATIONS, OperationName, ReadName } from '../../src/gateway/operations.ts';
import { type Reading, readingIn, type TimeUnit } from '../../src/gateway/scalars.ts';

/** What tests know of an operation. `requests.ts` has its requests on the wire. */
export interface OperationCase {
  /** Makes a well-formed call for the sandbox's user 700001. */
  readonly call: (client: GatewayClient, caller: Caller) => Promise<unknown>;
  /** Makes the same call on a viewer's behalf; null if the operation needs no viewer. */
  readonly ask: ((gateway: ViewerGateway, viewer: Viewer) => Promise<unknown>) | null;
  /** The root field that leads to the call. */
  readonly field: string;
  /** A document that makes only this call, once the token is proved. An order's key is the variable `$key`. */
  readonly document: string;
  /** The body of a successful answer. For a read it has every field of the gateway's interface. */
  readonly answer: unknown;
  readonly proves: Proves;
  readonly errors: (typeof OPERATIONS)[OperationName]['errors'];
  /** The sandbox's statuses for a call without a token, and for a user's call with an empty body. */
  readonly statuses: readonly [number, number];
}

export interface ReadCase extends OperationCase {
  /** Returns the result of the gateway's reader for a body, or null. */
  readonly read: (body: unknown, unit: TimeUnit) => unknown;
  /** The number of past times in the sandbox's answer. */
  readonly times: number;
  /** Unusual bodies, each with the result that is read from it. */
  readonly odd: readonly (readonly [unknown, unknown])[];
  /** An expected part of the document's result; undefined if another suite checks it. */
  readonly shows?: unknown;
}

export const READ = {
  proves: 'token',
  errors: 'details',
  statuses: [401, 200],
  times: 0,
  odd: [],
} as const;
const WRITE = {
  answer: ACKNOWLEDGED.toWire({ success: true }),
  proves: 'nothing',
  errors: 'details',
  statuses: [401, 400],
} as const;
export const ORDER = { ...WRITE, errors: 'submit' } as const;
export const SIGN_IN = { ...WRITE, ask: null, errors: 'sign-in', statuses: [400, 400] } as const;

/** A case without the properties that a function makes. Properties with a default are optional. */
type Given<Case, Made extends keyof Case, Default extends keyof Case> = Omit<Case, Made | Default> &
  Partial<Pick<Case, Default>>;

/** A read that needs only its viewer. */
export function plainRead<T>(
  read: ReadOperation<undefined, T> & { readonly name: ReadName },
  valueIn: (body: unknown, reading: Reading) => T | null,
  given: Given<ReadCase, 'call' | 'ask' | 'read', keyof typeof READ>,
): ReadCase {
  return {
    ...READ,
    call: (client, caller) => client.read(caller, read),
    ask: (gateway, viewer) => gateway.read(viewer, read),
    read: (body, unit) => valueIn(body, readingIn(unit)),
    ...given,
  };
}

/** A write with a token, whose GraphQL input is `fields`. */
export function write<Input>(
  operation: WriteOperation<Input, Acknowledgement> & { readonly name: OperationName },
  input: Input,
  { fields, ...given }: Partial<OperationCase> & { readonly fields: string },
): OperationCase {
  return {
    ...WRITE,
    call: (client, caller) => client.write(caller, operation, input),
    ask: (gateway, viewer) => gateway.write(viewer, operation, input),
    field: operation.name,
    document: mutation(operation.name, fields),
    ...given,
  };
}

export function mutation(field: string, fields: string): string {
  const variables = fields.includes('$key') ? ' ($key: String!)' : '';
  return `mutation${variables} { ${field}(input: { ${fields} }) { __typename } }`;
}
