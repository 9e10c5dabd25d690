import type { Viewer } from '../../src/domain/auth/viewer.ts';
import type { ViewerGateway } from '../../src/domain/auth/viewer-gateway.ts';
import type { Caller } from '../../src/gateway/caller.ts';
import type { GatewayClient } from '../../src/gateway/client.ts';
import type { ReadOperation, WriteOperation } from '../../src/gateway/define-operation.ts';
import type { Acknowledgement } from '../../src/gateway/judge.ts';
import type { Proves } from '../../src/gateway/operation.ts';
import type { OPERATIONS, OperationName, ReadName } from '../../src/gateway/operations.ts';
import { type Reading, readingIn, type TimeUnit } from '../../src/gateway/wire/scalars.ts';

/** What the suites know of an operation: each repeats what the interface says, so that a wrong row of the table fails. */
export interface OperationCase {
  /** A well-formed call, as the user 700001 of the sandbox would make it. */
  readonly call: (client: GatewayClient, caller: Caller) => Promise<unknown>;
  /** The same call on a viewer's behalf; null where it needs none. */
  readonly ask: ((gateway: ViewerGateway, viewer: Viewer) => Promise<unknown>) | null;
  /** The root field that leads to the call. */
  readonly field: string;
  /**
   * Makes this call and no other once the token is proved. The same text serves each time, so that it is compiled;
   * only `$key`, an order's, differs.
   */
  readonly document: string;
  /** The user by whom the document is sent. */
  readonly email: string;
  /** The verb and the path on the wire. */
  readonly sends: string;
  /** The body on the wire; null without one. */
  readonly body: unknown;
  /** A body that is a success; that of a read has every field of the interface. */
  readonly answer: unknown;
  readonly proves: Proves;
  readonly errors: (typeof OPERATIONS)[OperationName]['errors'];
  /** The sandbox's status for a call without a token, and for one of its users with an empty body. */
  readonly statuses: readonly [number, number];
}

export interface ReadCase extends OperationCase {
  /** Returns everything that the gateway's reader keeps of a body, or null. */
  readonly read: (body: unknown, unit: TimeUnit) => unknown;
  /** How many times of the past are in the sandbox's answer. */
  readonly times: number;
  /** Bodies beside the whole one, with what is read in them. */
  readonly odd: readonly (readonly [unknown, unknown])[];
  /** A part of what the document shows; undefined where another suite looks at it. */
  readonly shows?: unknown;
}

const EMAIL = 'demo@example.com';
export const READ = {
  email: EMAIL,
  body: null,
  proves: 'token',
  errors: 'details',
  statuses: [401, 200],
  times: 0,
  odd: [],
} as const;
const WRITE = {
  email: EMAIL,
  answer: { success: true },
  proves: 'nothing',
  errors: 'details',
  statuses: [401, 400],
} as const;
export const ORDER = { ...WRITE, errors: 'submit' } as const;
export const SIGN_IN = { ...WRITE, ask: null, errors: 'sign-in', statuses: [400, 400] } as const;

type Given<Case, Made extends keyof Case, Usual extends keyof Case> = Omit<Case, Made | Usual> &
  Partial<Pick<Case, Usual>>;

/** A read that needs nothing but its viewer. */
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
  {
    fields,
    ...given
  }: Pick<OperationCase, 'sends'> & Partial<OperationCase> & { readonly fields: string },
): OperationCase {
  return {
    ...WRITE,
    call: (client, caller) => client.write(caller, operation, input),
    ask: (gateway, viewer) => gateway.write(viewer, operation, input),
    field: operation.name,
    document: mutation(operation.name, fields),
    body: input,
    ...given,
  };
}

export function mutation(field: string, fields: string): string {
  const variables = fields.includes('$key') ? ' ($key: String!)' : '';
  return `mutation${variables} { ${field}(input: { ${fields} }) { __typename } }`;
}
